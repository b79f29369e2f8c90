"""One execution as a test sees it: what became of it, and what can be done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.suggest import did_you_mean
from layover.runtime.errors import ExecutionCancelled, ExecutionFailed
from layover.runtime.queries.node_executions import node_executions
from layover.runtime.queries.why import Why
from layover.testing.errors import NoSuchPoint, NotFinished

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from layover.core.engine.events import Error
    from layover.core.engine.state import Point
    from layover.core.plan import Plan
    from layover.ports.records import Head
    from layover.runtime.engine import Engine
    from layover.runtime.operations.executions import HistoryEntry
    from layover.runtime.queries.node_executions import NodeExecution
    from layover.runtime.queries.views import Execution as View
    from layover.testing.kit import Layover
    from layover.testing.life import MortalEngine

_EVERYTHING = 1_000_000


class ExecutionInTest:
    """An execution; it tells how things were when the last thing that the test did had led to all that it leads to."""

    def __init__(self, kit: Layover, execution_id: str, workflow: str) -> None:
        self.id = execution_id
        self.workflow = workflow
        self.view: View | None = None
        self.points: dict[str, Point] = {}  # the open ones, by context id
        self.history: Sequence[HistoryEntry] = ()
        self.why: Why = Why(summary="", reasons=())
        self._kit = kit
        self._head: Head | None = None
        self._plan: Plan | None = None
        self._nodes: dict[str, NodeExecution] | None = None

    # What became of it

    @property
    def status(self) -> str:
        """Its status, such as `waiting` or `completed`."""
        return self.view.status if self.view is not None else "unknown"

    @property
    def outcome(self) -> str:
        """The outcome of a completed one: `executed`, or what an `end` node says."""
        return self.view.outcome if self.view is not None else ""

    @property
    def output(self) -> Any:
        """What it gave."""
        return self.view.output if self.view is not None else None

    @property
    def error(self) -> Error | None:
        """What it failed with."""
        return self.view.error if self.view is not None else None

    @property
    def variables(self) -> dict[str, object]:
        """Its variables."""
        return self.view.variables if self.view is not None else {}

    @property
    def closed(self) -> bool:
        """Whether it has come to its end."""
        return self.view is not None and self.view.closed

    def __repr__(self) -> str:
        waiting = f", at {', '.join(self.points)}" if self.points else ""
        return f"<execution of {self.workflow}: {self.status}{waiting}>"

    @property
    def nodes(self) -> dict[str, NodeExecution]:
        """What became of each node that was reached, by context id."""
        if self._nodes is None and self._plan is not None:
            events = [(one.at, one.event) for one in self.history]
            self._nodes = {node.context_id: node for node in node_executions(self._plan, events)}
        return self._nodes or {}

    async def refresh(self, engine: Engine) -> None:
        """Read anew what became of it, if it has moved or waits for one that may have."""
        row = await engine.instance.store.get(self.id)
        if row is not None and row.head == self._head and not any(one.child for one in self.points.values()):
            return
        self._head = row.head if row is not None else None
        self.view = await engine.get(self.id)
        self._plan = await engine.instance.plans.of(self.view.hash)
        self.points = {one.point.node: one.point for one in await engine.points(self.id)}
        self.history = await engine.history(self.id, 0, _EVERYTHING)
        self._nodes = None
        self.why = await engine.why(self.id)

    async def finished(self) -> Any:
        """Let time pass until it has ended, and return its output; raise what it failed with.

        One that waits for a person, or for anything else that time does not bring, fails the test with the reason.
        """
        while not self.closed:
            if self.status == "paused" or not await self._kit.step():
                raise NotFinished(f"The execution of `{self.workflow}` has not ended: {self.why.summary}")
        if self.status == "failed" and self.error is not None:
            raise ExecutionFailed(self.id, self.error)
        if self.status == "cancelled":
            reason = self.view.outcome_reason if self.view is not None else ""
            raise ExecutionCancelled(f"The execution {self.id} was cancelled: {reason}")
        return self.output

    # What people do

    async def answer(
        self, context_id: str, data: object = None, *, by: str = "tester", roles: Sequence[str] = (), comment: str = ""
    ) -> None:
        """Answer what is asked at a context id."""
        await self._answer(context_id, data, by, roles, comment=comment)

    async def approve(
        self,
        context_id: str | None = None,
        *,
        by: str = "tester",
        roles: Sequence[str] = (),
        comment: str = "",
        data: object = None,
    ) -> None:
        """Approve; without a context id, the one approval that is open."""
        await self._answer(context_id or self._approval(), data, by, roles, comment=comment, approved=True)

    async def reject(
        self,
        context_id: str | None = None,
        *,
        by: str = "tester",
        roles: Sequence[str] = (),
        comment: str = "",
        data: object = None,
    ) -> None:
        """Reject; without a context id, the one approval that is open."""
        await self._answer(context_id or self._approval(), data, by, roles, comment=comment, approved=False)

    async def _answer(
        self,
        context_id: str,
        data: object,
        by: str,
        roles: Sequence[str],
        *,
        comment: str,
        approved: bool | None = None,
    ) -> None:
        point = self._point(context_id).id
        await self._do(
            lambda engine: engine.answer(point, data, by=by, roles=tuple(roles), approved=approved, comment=comment)
        )

    # What operators and systems do

    async def pause(self, reason: str = "", *, by: str | None = None) -> None:
        """Hold it."""
        await self._do(lambda engine: engine.pause(self.id, reason, by=by))

    async def resume(self, data: dict[str, object] | None = None, reason: str = "", *, by: str | None = None) -> None:
        """Let it go on."""
        await self._do(lambda engine: engine.resume(self.id, data, reason, by=by))

    async def cancel(self, reason: str = "", *, by: str | None = None) -> None:
        """End it."""
        await self._do(lambda engine: engine.cancel(self.id, reason, by=by))

    async def retry(self, *, by: str | None = None) -> None:
        """Go on from what failed."""
        await self._do(lambda engine: engine.retry(self.id, by=by))

    async def rewind(self, to: str, reason: str = "", *, by: str | None = None) -> None:
        """Drop the results of a node and of all after it, and go on from there."""
        await self._do(lambda engine: engine.rewind(self.id, to, reason, by=by))

    async def call_back(self, context_id: str, output: object = None) -> None:
        """Give the reply that a callback node waits for."""
        point = self._point(context_id).id
        await self._do(lambda engine: engine.call_back(point=point, output=output))

    async def fail_callback(self, context_id: str, message: str = "", *, retryable: bool = True) -> None:
        """Say that what a callback node waits for has failed."""
        point = self._point(context_id).id
        await self._do(lambda engine: engine.fail_callback(point=point, message=message, retryable=retryable))

    async def _do(self, act: Callable[[MortalEngine], Coroutine[Any, Any, object]]) -> None:
        await self._kit.act(act, self.id)

    # Where it waits

    def _point(self, context_id: str) -> Point:
        found = self.points.get(context_id)
        if found is None:
            where = ", ".join(f"`{one}`" for one in self.points) or "nothing"
            hint = did_you_mean(context_id, self.points)
            status = f"The execution is {self.status}, and open is {where}"
            raise NoSuchPoint(f"Nothing waits for an answer at `{context_id}`. {status}.{hint}")
        return found

    def _approval(self) -> str:
        found = [name for name, point in self.points.items() if point.kind == "approval"]
        if len(found) != 1:
            which = ", ".join(f"`{one}`" for one in found)
            if found:
                raise NoSuchPoint(f"Several approvals are open ({which}); say which.")
            raise NoSuchPoint(f"No approval is open: the execution is {self.status}.")
        return found[0]
