"""Workflows: definitions, versions, and whether they may be started."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from layover.client.requests import ClientRequest, delete, get, json_of, new_key, path_of, post
from layover.core.definitions.check import check
from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.core.payloads import plain
from layover.errors import InvalidInput
from layover.interface.requests import ResumeTime
from layover.model.deploy_plans import DeployPlan
from layover.model.executions import Graph
from layover.model.pause_ends import signal_body
from layover.model.shared import EmptyBody, Page, ReasonBody
from layover.model.workflows import (
    Bundle,
    BundleBody,
    Differences,
    DryRun,
    DryRunBody,
    Imported,
    NodeType,
    PauseWorkflowBody,
    Resting,
    ResumeWorkflowBody,
    TextDryRunBody,
    WorkflowChange,
    WorkflowSource,
    WorkflowVersion,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from layover.client.transport import Transport

_YAML = "application/yaml"
_JSON = "application/json"


class _Checked(msgspec.Struct, frozen=True):
    """What is wrong with a definition."""

    problems: tuple[Problem, ...]


class HttpWorkflows:
    """Workflows of a server. A definition is a mapping, or text in YAML (which JSON is, too)."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def register(self, definition: str | Mapping[str, object], *, allow_unknown: bool) -> WorkflowVersion:
        """Store a definition as the newest version of its workflow, unless it is that already."""
        is_text = isinstance(definition, str)
        path = path_of("workflows", allow_unknown=allow_unknown or None, keep_text=None if is_text else False)
        if problems := await asyncio.to_thread(_unsendable, definition):
            raise InvalidDefinition(problems)
        with _as_given(definition):
            return await self._transport.ask(_definition(path, definition), WorkflowVersion)

    async def check(self, definition: str | Mapping[str, object], *, allow_unknown: bool) -> tuple[Problem, ...]:
        """Return everything that is wrong with a definition."""
        path = path_of("workflows", "check", allow_unknown=allow_unknown or None)
        if unsendable := await asyncio.to_thread(_unsendable, definition):
            return unsendable
        problems = (await self._transport.ask(_definition(path, definition), _Checked)).problems
        return problems if isinstance(definition, str) else _without_lines(problems)

    async def node_types(self) -> tuple[NodeType, ...]:
        """Return the types that a node may have."""
        return (await self._transport.ask(get(path_of("node-types")), Page[NodeType])).items

    async def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of definitions."""
        return await self._transport.ask(get(path_of("schema")), dict[str, Any])

    async def plan(
        self, definition: str | Mapping[str, object], map_: Mapping[str, str], *, allow_unknown: bool
    ) -> DeployPlan:
        """Return what a definition would mean to the open executions of its workflow."""
        if problems := await asyncio.to_thread(_unsendable, definition):
            raise InvalidDefinition(problems)
        names = [f"{old}={new}" for old, new in map_.items()]
        path = path_of("workflows", "plan", allow_unknown=allow_unknown or None, map=names)
        with _as_given(definition):
            return await self._transport.ask(_definition(path, definition), DeployPlan)

    async def get(self, name: str, version: int | None) -> WorkflowVersion:
        """Return a version of a workflow with its definition."""
        return await self._transport.ask(get(path_of("workflows", name, version=version)), WorkflowVersion)

    async def source(self, name: str, version: int | None) -> WorkflowSource:
        """Return the text of a version, as it was written."""
        return await self._transport.ask(get(path_of("workflows", name, "source", version=version)), WorkflowSource)

    async def list(self, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of workflows by name, each with its newest version."""
        return await self._transport.ask(get(path_of("workflows", limit=limit, cursor=cursor)), Page[WorkflowVersion])

    async def versions(self, name: str, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of the versions of a workflow, the newest first."""
        path = path_of("workflows", name, "versions", limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[WorkflowVersion])

    async def graph(self, name: str, version: int | None) -> Graph:
        """Return the graph of a version."""
        return await self._transport.ask(get(path_of("workflows", name, "graph", version=version)), Graph)

    async def diff(self, name: str, before: int | None, after: int | None) -> Differences:
        """Return what is different between two versions."""
        return await self._transport.ask(get(path_of("workflows", name, "diff", from_=before, to=after)), Differences)

    async def compare(self, name: str, definition: str | Mapping[str, object]) -> Differences:
        """Return how a definition differs from the newest version."""
        if problems := await asyncio.to_thread(_unsendable, definition):
            raise InvalidDefinition(problems)
        with _as_given(definition):
            request = _definition(path_of("workflows", name, "diff"), definition)
            return await self._transport.ask(request, Differences)

    async def resting(self, name: str) -> Resting:
        """Return where the executions of a workflow rest that have not ended."""
        return await self._transport.ask(get(path_of("workflows", name, "resting")), Resting)

    async def dry_run_of(
        self,
        definition: str | Mapping[str, object],
        input: object,  # noqa: A002 - as the interface
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a definition that is stored nowhere."""
        if problems := await asyncio.to_thread(_unsendable, definition):
            raise InvalidDefinition(problems)
        body = TextDryRunBody(
            definition=definition if isinstance(definition, str) else json_of(dict(definition)).decode(),
            input=plain(input),
            outputs={name: plain(output) for name, output in outputs.items()},
            answers={name: plain(answer) for name, answer in answers.items()},
        )
        with _as_given(definition):
            return await self._transport.ask(post(path_of("workflows", "dry-run"), body), DryRun)

    async def dry_run(
        self,
        name: str,
        version: int | None,
        input: object,  # noqa: A002 - as the interface
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a workflow in which nothing is called."""
        body = DryRunBody(
            input=plain(input),
            version=version,
            outputs={name: plain(output) for name, output in outputs.items()},
            answers={name: plain(answer) for name, answer in answers.items()},
        )
        return await self._transport.ask(post(path_of("workflows", name, "dry-run"), body), DryRun)

    async def export(self, names: Sequence[str]) -> Bundle:
        """Return the newest definitions of some workflows, or of all."""
        return await self._transport.ask(get(path_of("workflows", "export", name=[*names])), Bundle)

    async def import_(self, bundle: Bundle, *, allow_unknown: bool) -> tuple[WorkflowVersion, ...]:
        """Store all definitions of a bundle, or none."""
        at = bundle.exported_at
        body = BundleBody(
            format=bundle.format,
            workflows=[*bundle.workflows],
            triggers=[*bundle.triggers],
            sources=bundle.sources,
            exported_at=None if at is None else str(at),
        )
        path = path_of("workflows", "import", allow_unknown=allow_unknown or None)
        return tuple((await self._transport.ask(post(path, body), Imported)).workflows)

    async def pause(self, name: str, reason: str, *, running: bool, until: ResumeTime | None = None) -> WorkflowChange:
        """Hold what starts from now on; with `running`, what has begun, too; perhaps until a time or a signal."""
        end = until or ResumeTime()
        body = PauseWorkflowBody(
            reason=reason or None,
            running=running,
            until=end.at,
            until_cron=end.cron,
            zone=end.zone,
            resume_on=signal_body(end.on),
        )
        return await self._transport.ask(post(path_of("workflows", name, "pause"), body), WorkflowChange)

    async def resume(self, name: str) -> WorkflowChange:
        """Let a workflow go on, and what was held with it."""
        return await self._transport.ask(post(path_of("workflows", name, "resume"), EmptyBody()), WorkflowChange)

    async def set_breakpoint(self, name: str, node: str, reason: str) -> WorkflowChange:
        """Pause each execution of a workflow before a node, whenever it comes there."""
        body = PauseWorkflowBody(reason=reason or None, before=node)
        return await self._transport.ask(post(path_of("workflows", name, "pause"), body), WorkflowChange)

    async def clear_breakpoint(self, name: str, node: str | None) -> WorkflowChange:
        """Let executions of a workflow no longer pause before a node, or before any."""
        return await self._transport.ask(delete(path_of("workflows", name, "breakpoints", node=node)), WorkflowChange)

    async def schedule_resume(self, name: str, when: ResumeTime | None) -> WorkflowChange:
        """Set when a paused workflow goes on by itself; None: it no longer does."""
        path = path_of("workflows", name, "resume")
        if when is None:
            return await self._transport.ask(delete(path), WorkflowChange)
        body = ResumeWorkflowBody(at=when.at, cron=when.cron, zone=when.zone, on=signal_body(when.on))
        return await self._transport.ask(post(path, body), WorkflowChange)

    async def activate(self, name: str) -> WorkflowChange:
        """Let a workflow be started again."""
        return await self._transport.ask(post(path_of("workflows", name, "activate"), EmptyBody()), WorkflowChange)

    async def deactivate(self, name: str, reason: str) -> WorkflowChange:
        """Refuse to start a workflow from now on."""
        body = ReasonBody(reason=reason or None)
        return await self._transport.ask(post(path_of("workflows", name, "deactivate"), body), WorkflowChange)

    async def delete(self, name: str) -> None:
        """Delete a workflow; its open executions go on."""
        await self._transport.send(delete(path_of("workflows", name)))


def _definition(path: str, definition: str | Mapping[str, object]) -> ClientRequest:
    text = isinstance(definition, str)
    return ClientRequest(
        method="POST",
        path=path,
        body=definition.encode() if isinstance(definition, str) else json_of(dict(definition)),
        media_type=_YAML if text else _JSON,
        key=new_key(),
    )


def _unsendable(definition: str | Mapping[str, object]) -> tuple[Problem, ...]:
    """Return what is wrong with a definition that cannot be written down, as a server would if it could see it."""
    try:
        if isinstance(definition, str):
            definition.encode()
        else:
            json_of(dict(definition))
    except (UnicodeEncodeError, InvalidInput):
        return tuple(check(definition).problems)
    return ()


@contextmanager
def _as_given(definition: str | Mapping[str, object]) -> Iterator[None]:
    """Leave out the lines of JSON that the caller has never seen: they gave a mapping."""
    try:
        yield
    except InvalidDefinition as error:
        if isinstance(definition, str):
            raise
        found = InvalidDefinition(_without_lines(error.problems))
        found.request_id = error.request_id
        raise found from None


def _without_lines(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(msgspec.structs.replace(one, line=None, column=None) for one in problems)
