"""The whole database as one user sees it: instances, timers, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment
from layover.model.monitoring import DueTimer, RunningInstance
from layover.model.shared import Page
from layover.runtime.results.waiting import waiting_of
from layover.service.actor import READ
from layover.service.cursors import cursor_of, parsed_uuid
from layover.service.pages import MOST

if TYPE_CHECKING:
    from layover.model.diagnosis import Diagnosis
    from layover.model.monitoring import Stats, StatsSpan
    from layover.service.actor import Actor

_MOST_LEASES: Final = 10_000
_LONGEST_LEASE: Final = 3_600_000  # ahead: a lease of another instance may be longer than ours


class MonitoringService:
    """Instances, timers, figures."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def instances(self) -> tuple[RunningInstance, ...]:
        """Return the instances that are alive, and those that have left leases behind, by name."""
        self._actor.require(*READ)
        here = self._actor.runtime.instance
        store, now = here.store, here.clock.now()
        leases = await store.monitoring.count_leases(now + _LONGEST_LEASE, _MOST_LEASES)
        others = set(await store.instances.list_others())
        found = []
        itself = {here.id} if here.opened_at is not None else set()  # one that only reads drives nothing
        for name in sorted({*leases, *others, *itself}):
            own = name in itself
            liveness = None if own else await store.instances.check_liveness(name)
            found.append(
                RunningInstance(
                    name=name,
                    alive=own or name in others or (liveness is not None and liveness.alive),
                    here=own,
                    since=Moment.maybe(here.opened_at) if own else None,
                    seen_at=Moment.of(now) if own else Moment.maybe(liveness.seen_at if liveness else None),
                    executions=leases.get(name, 0),
                )
            )
        return tuple(found)

    async def timers(self, limit: int, cursor: str | None) -> Page[DueTimer]:
        """Return a page of what is due at a moment, the earliest first."""
        self._actor.require(*READ)
        runtime, most = self._actor.runtime, min(limit, MOST)
        after = parsed_uuid(cursor) if cursor is not None else None
        heads = await runtime.instance.store.monitoring.list_timers(after, most + 1)
        ids = [head.execution_id for head in heads[:most]]
        standings = await runtime.instance.store.queries.read_standings(ids) if ids else []
        now = runtime.instance.clock.now()
        items = tuple(
            DueTimer(
                execution_id=head.execution_id,
                workflow=head.workflow,
                status=head.status,
                due_at=Moment.of(head.wake_at or 0),
                overdue=(head.wake_at or 0) <= now,
                waiting_summary=waiting_of(head.status, head.wake_at, standing) if standing is not None else None,
            )
            for head, standing in zip(heads, standings, strict=False)  # there may be one head more than are shown
        )
        if len(heads) <= most:
            return Page(items=items)
        return Page(items=items, next=cursor_of(max(heads[most - 1].wake_at or 0, 0), heads[most - 1].execution_id))

    async def doctor(self) -> Diagnosis:
        """Return what keeps the engine, its database or the executions from working."""
        self._actor.require("admin")
        return await self._actor.runtime.operations.examiner.examine()

    async def stats(self, span: StatsSpan) -> Stats:
        """Return figures over a stretch of time, and how much waits now."""
        self._actor.require(*READ)
        return await self._actor.runtime.instance.activity.stats(span)
