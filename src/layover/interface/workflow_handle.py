"""One workflow, to act on and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from layover.interface.bounds import CONTEXT_ID, check_act, check_number, check_text
from layover.interface.handle import Handle
from layover.interface.listing import Listing
from layover.interface.resume_times import OF_PAUSE, OF_RESUME, check_before, resume_time
from layover.interface.sources import Definition, source_of
from layover.model.workflows import WorkflowVersion

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from layover.core.moments import Moment
    from layover.model.executions import Graph
    from layover.model.pause_ends import ResumeSignal
    from layover.model.workflows import Differences, DryRun, Resting, WorkflowChange, WorkflowSource


class WorkflowHandle(Handle[WorkflowVersion]):
    """A workflow at one of its versions: `info` is that version, whose fields are readable here, too."""

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        name: str
        version: int
        hash: str
        state: str  # no Literal: a type checker would not believe that it changes
        state_reason: str
        resume_at: Moment | None
        resume_on: ResumeSignal | None
        breakpoints: dict[str, str]
        description: str
        tags: tuple[str, ...]
        created_at: Moment
        definition: dict[str, Any] | None
        addresses: dict[str, str]

    def __repr__(self) -> str:
        return f"<workflow {self.info.name}, version {self.info.version}: {self.info.state}>"

    async def refresh(self) -> Self:
        """Read this version anew, with its definition."""
        self.info = await self._backend.workflows.get(self.info.name, self.info.version)
        return self

    async def pause(  # noqa: PLR0913 - each is named where it is given
        self,
        reason: str = "",
        *,
        before: str | None = None,
        running: bool = False,
        until: datetime | None = None,
        until_cron: str | None = None,
        zone: str | None = None,
        resume_on: ResumeSignal | Mapping[str, object] | None = None,
    ) -> WorkflowChange:
        """Hold what starts from now on; with `running`, pause what has begun, too.

        With `until`, at the next time of a cron line in a time zone, or when the signal `resume_on` arrives, it goes on
        by itself; one that is paused already gets that end of its pause.

        With `before` the workflow itself goes on, and each of its executions pauses before that node, whenever it comes
        there and until the breakpoint is cleared: an id of the graph, or in a scope a context id.
        """
        check_act(reason, None)
        end = resume_time(OF_PAUSE, until, until_cron, zone, resume_on)
        if before is not None:
            check_text("before", before, CONTEXT_ID, 1)
            check_before(end, running=running)
            return await self._backend.workflows.set_breakpoint(self.info.name, before, reason)
        return await self._backend.workflows.pause(self.info.name, reason, running=running, until=end)

    async def clear_breakpoint(self, node: str | None = None) -> WorkflowChange:
        """Let executions no longer pause before a node, or (without one) before any; those that are paused stay so."""
        check_text("node", node, CONTEXT_ID, 1)
        return await self._backend.workflows.clear_breakpoint(self.info.name, node)

    async def resume(
        self,
        *,
        at: datetime | None = None,
        cron: str | None = None,
        zone: str | None = None,
        on: ResumeSignal | Mapping[str, object] | None = None,
    ) -> WorkflowChange:
        """Let it go on, and what was held with it: now, or by itself as for `pause`, at a time or with a signal."""
        when = resume_time(OF_RESUME, at, cron, zone, on)
        if when is None:
            return await self._backend.workflows.resume(self.info.name)
        return await self._backend.workflows.schedule_resume(self.info.name, when)

    async def clear_resume(self) -> WorkflowChange:
        """Let a pause that was set to end by itself last until it is resumed."""
        return await self._backend.workflows.schedule_resume(self.info.name, None)

    async def activate(self) -> WorkflowChange:
        """Let it be started again."""
        return await self._backend.workflows.activate(self.info.name)

    async def deactivate(self, reason: str = "") -> WorkflowChange:
        """Refuse to start it from now on; what has begun goes on."""
        check_act(reason, None)
        return await self._backend.workflows.deactivate(self.info.name, reason)

    async def delete(self) -> None:
        """Delete it: its name is unknown from then on, and its open executions go on."""
        await self._backend.workflows.delete(self.info.name)

    def versions(self) -> Listing[WorkflowVersion]:
        """Return its versions, the newest first."""
        workflows, name = self._backend.workflows, self.info.name
        return Listing(lambda limit, cursor: workflows.versions(name, limit, cursor))

    async def graph(self) -> Graph:
        """Return the graph of this version."""
        return await self._backend.workflows.graph(self.info.name, self.info.version)

    async def source(self) -> WorkflowSource:
        """Return the newest text that was given for this version, with its comments; else it is written as YAML."""
        return await self._backend.workflows.source(self.info.name, self.info.version)

    async def diff(self, before: int | None = None, after: int | None = None) -> Differences:
        """Return what is different between two versions: by default the newest and the one before it."""
        check_number("before", before, 1)
        check_number("after", after, 1)
        return await self._backend.workflows.diff(self.info.name, before, after)

    async def compare(self, definition: Definition) -> Differences:
        """Return how a definition differs from the newest version; `after` is the number that it would get."""
        return await self._backend.workflows.compare(self.info.name, source_of(definition))

    async def resting(self) -> Resting:
        """Return where its executions rest that have not ended: how many by status, and at which nodes they wait."""
        return await self._backend.workflows.resting(self.info.name)

    async def dry_run(
        self,
        input: object = None,  # noqa: A002 - as everywhere
        *,
        outputs: Mapping[str, object] | None = None,
        answers: Mapping[str, object] | None = None,
    ) -> DryRun:
        """Play this version with given outputs and answers: nothing is called, stored or waited for."""
        workflows, info = self._backend.workflows, self.info
        return await workflows.dry_run(info.name, info.version, input, outputs or {}, answers or {})
