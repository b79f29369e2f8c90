"""Executions in a database, as commands ask for them. What somebody does is in its audit log, as it is over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from layover.api.cursors import cursor_of, parsed_uuid
from layover.api.resources.shared import Page
from layover.api.resources.signals_and_callbacks import Delivered
from layover.api.serializers.executions import event_of, execution_of, leg_of, node_of, summary_of, why_of
from layover.api.serializers.graphs import graph_of
from layover.api.serializers.points import point_of
from layover.bootstrap import inspectable_store
from layover.cli.client import MOST_SHOWN
from layover.cli.passive_engine import PassiveEngine
from layover.core.approval_rules import ApprovalRules, Person, may_decide
from layover.ports.records import AuditEntry
from layover.runtime.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from layover.api.resources.executions import (
        Event,
        Execution,
        ExecutionSummary,
        Graph,
        Leg,
        NodeExecution,
        Why,
    )
    from layover.api.resources.points import PausePoint
    from layover.cli.options import Who
    from layover.ports.records import PointRow

CREDENTIAL = "command line"
_PAGE = 1_000
_FOR_PEOPLE = ("approval", "form")


class Local:
    """A database, open from `async with` to its end."""

    def __init__(self, db: str, who: Who, *, acts: bool) -> None:
        self._engine = PassiveEngine(inspectable_store(db), acts=acts)
        self._who = who

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._engine.__aexit__(kind, error, trace)

    # Looking

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""
        return execution_of(await self._engine.get(execution_id))

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[ExecutionSummary]:
        """Return executions, newest first; `where` is what their input contains."""
        after = parsed_uuid(cursor) if cursor is not None else None
        rows = await self._engine.list(workflow=workflow, status=status, tag=tag, where=where, after=after, limit=limit)
        last = rows[-1] if len(rows) == limit else None
        following = cursor_of(last.info.created_at, last.head.execution_id) if last is not None else None
        return Page(items=[summary_of(row) for row in rows], next=following)

    async def history(self, execution_id: str, since: int = 0) -> Sequence[Event]:
        """Return the log of an execution from a number on."""
        found: list[Event] = []
        page = await self._engine.history(execution_id, since, _PAGE)
        while page:
            found += map(event_of, page)
            page = await self._engine.history(execution_id, page[-1].seq + 1, _PAGE)
        return found

    async def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached first."""
        return [node_of(node) for node in await self._engine.nodes(execution_id, limit=MOST_SHOWN)]

    async def legs(self, execution_id: str) -> Sequence[Leg]:
        """Return the stretches of work of an execution."""
        return [leg_of(leg) for leg in await self._engine.legs(execution_id, limit=MOST_SHOWN)]

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution goes through."""
        return graph_of(await self._engine.graph(execution_id))

    async def points(self, execution_id: str) -> Sequence[PausePoint]:
        """Return all pause points of an execution, the oldest first."""
        rows = await self._engine.points(execution_id, status=())
        places = await self._engine.queue(execution_id)
        return [point_of(row, places.get(row.point.id)) for row in rows]

    async def inbox(self, who: Who | None) -> Sequence[PausePoint]:
        """Return what waits for people, the oldest first; with a person, what they may answer."""
        rows = [row for row in await self._engine.open_points() if row.point.kind in _FOR_PEOPLE]
        return [point_of(row) for row in rows if who is None or _may_answer(row, who)]

    async def point(self, point_id: str) -> PausePoint | None:
        """Find a pause point, be it closed."""
        row = await self._engine.point(point_id)
        return point_of(row) if row is not None else None

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for."""
        return why_of(await self._engine.why(execution_id))

    async def now(self) -> int:
        """Return the time of the database."""
        return await self._engine.now()

    # Acting

    @property
    def is_applied(self) -> bool:
        """Whether a running instance has applied what was asked last."""
        return self._engine.is_applied

    async def answer(
        self, point_id: str, data: object, *, approved: bool | None = None, comment: str = ""
    ) -> PausePoint:
        """Answer a pause point."""
        act = {None: "point.answer", True: "approval.approve", False: "approval.reject"}[approved]
        row = await self._engine.point(point_id)
        entry = self._entry(act, point_id, row.execution_id if row is not None else "")
        by, roles = self._who
        await self._engine.answer(point_id, data, by=by, roles=roles, approved=approved, comment=comment, audit=entry)
        row = await self._engine.point(point_id)
        assert row is not None, "a point that was answered is there"  # noqa: S101 - the store keeps it
        return point_of(row)

    async def delegate(self, point_id: str, to: str) -> PausePoint:
        """Let somebody else decide at an approval."""
        row = await self._engine.point(point_id)
        entry = self._entry("approval.delegate", point_id, row.execution_id if row is not None else "", to=to)
        by, roles = self._who
        await self._engine.delegate(point_id, to, by=by, roles=roles, audit=entry)
        row = await self._engine.point(point_id)
        assert row is not None, "a point that was there stays there"  # noqa: S101 - the store keeps it
        return point_of(row)

    async def pause(self, execution_id: str, reason: str = "") -> Execution:
        """Hold an execution."""
        entry = self._entry("execution.pause", execution_id, execution_id, reason=reason or None)
        return execution_of(await self._engine.pause(execution_id, reason, by=self._who.by, audit=entry))

    async def resume(self, execution_id: str, data: dict[str, object] | None = None, reason: str = "") -> Execution:
        """Let an execution go on."""
        entry = self._entry("execution.resume", execution_id, execution_id, reason=reason or None)
        return execution_of(await self._engine.resume(execution_id, data, reason, by=self._who.by, audit=entry))

    async def cancel(self, execution_id: str, reason: str = "") -> Execution:
        """End an execution."""
        entry = self._entry("execution.cancel", execution_id, execution_id, reason=reason or None)
        return execution_of(await self._engine.cancel(execution_id, reason, by=self._who.by, audit=entry))

    async def retry(self, execution_id: str) -> Execution:
        """Go on from what failed."""
        entry = self._entry("execution.retry", execution_id, execution_id)
        return execution_of(await self._engine.retry(execution_id, by=self._who.by, audit=entry))

    async def rewind(self, execution_id: str, to: str, reason: str = "") -> Execution:
        """Go back to a node."""
        entry = self._entry("execution.rewind", execution_id, execution_id, to=to, reason=reason or None)
        return execution_of(await self._engine.rewind(execution_id, to, reason, by=self._who.by, audit=entry))

    async def deliver(self, name: str, key: str, data: object, signal_id: str | None) -> Delivered:
        """Bring a signal."""
        known = signal_id if signal_id is not None else new_id(self._engine.instance.clock.now())
        entry = self._entry("signal.send", name, signal=known)
        delivered = await self._engine.deliver(name, key, data, id=known, audit=entry)
        return Delivered(id=delivered.id, matched=[*delivered.matched], repeated=delivered.repeated)

    def _entry(self, act: str, target: str, execution_id: str = "", **details: object) -> AuditEntry:
        now = self._engine.instance.clock.now()
        told = {name: value for name, value in details.items() if value is not None}
        return AuditEntry(
            id=new_id(now),
            at=now,
            user=self._who.by,
            act=act,
            target=target,
            execution_id=execution_id,
            credential=CREDENTIAL,
            details=msgspec.json.encode(told),
        )


def _may_answer(row: PointRow, who: Who) -> bool:
    return may_decide(row.point.rules or ApprovalRules(), Person(who.by, who.roles), row.point.decisions) is None
