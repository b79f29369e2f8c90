"""The active executions of this instance: how they are created, driven and released."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.codec import CorruptSnapshot, UnknownSnapshot
from layover.core.engine.state import ExecutionState
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.hints import Hint
from layover.ports.records import LeaseRow, QueuedCommand
from layover.runtime.dispatch.asked_by import AskedBy
from layover.runtime.dispatch.lease_renewer import RENEWALS
from layover.runtime.dispatch.releases import lease_of
from layover.runtime.execution.active_execution import ActiveExecution
from layover.runtime.execution.append_builder import NOTHING_FIRST, First
from layover.runtime.execution.leg_start import first_inputs
from layover.runtime.execution.leg_tracing import begin_leg
from layover.runtime.execution.replay import state_from
from layover.runtime.execution.state_cache import CachedState, StateCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.plan import Plan
    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Claimed, Enqueue, Enqueued, Head, Refusal, Rest
    from layover.ports.store import Store
    from layover.ports.view_records import Loaded
    from layover.runtime.dispatch.active_executions import ActiveExecutions
    from layover.runtime.dispatch.claim_schedule import ClaimSchedule
    from layover.runtime.dispatch.listeners import Listeners
    from layover.runtime.dispatch.new_messages import NewMessages
    from layover.runtime.dispatch.quarantine import Quarantine
    from layover.runtime.dispatch.releases import Others, Releases
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.host import HostedExecution
    from layover.runtime.execution.waiters import Confirmed
    from layover.runtime.plans import Plans

_log = logging.getLogger("layover.driver")


class Driver:
    """Drives executions; it is the host of each of them."""

    def __init__(  # noqa: PLR0913 - the parts of an instance, put together in one place
        self,
        environment: Environment,
        *,
        store: Store,
        plans: Plans,
        active: ActiveExecutions,
        quarantine: Quarantine,
        releases: Releases,
        listeners: Listeners,
        schedule: ClaimSchedule,
        messages: NewMessages,
        others: Others,
    ) -> None:
        self._environment = environment
        self.instance = environment.instance
        self.loop = environment.loop
        self.clock = environment.clock
        self.settings = environment.settings
        self.node_runner = environment.node_runner
        self.active = active
        self.freed = active.freed
        self.quarantine = quarantine
        self.cache = StateCache(self.settings.cache_bytes)
        self.ended = StateCache(self.settings.ended_bytes)
        self.hint = schedule.hint  # that an execution comes due at a moment
        self.post = messages.post  # durable messages, to be delivered
        self.tell_others = others.tell
        self.on_rest: Callable[[], None] = _nothing  # an execution came to rest or to its end
        self._store = store
        self._plans = plans
        self._releases = releases
        self._listeners = listeners
        self._asked_by = AskedBy(self.clock.running)
        self.tracer = environment.tracer
        self.breakpoints = environment.breakpoints

    # Beginning

    def create(
        self,
        plan: Plan,
        create: cmd.Create,
        first: First,
        on_confirmed: Callable[[Confirmed], None] | None = None,
    ) -> ActiveExecution:
        """Create an execution and drive it; its `created` is done when the creation is durable."""
        execution_id = create.id
        active = ActiveExecution(
            self._environment,
            self,
            CachedState(ExecutionState(plan), -1, 1, -1, 0),
            LeaseRow(execution_id=execution_id, epoch=1),
            lease_until=self.clock.now() + self.settings.lease_ttl,
            first=first,
            priority=first.new.priority if first.new is not None else 0,
            parked=self.room <= 0,
            on_confirmed=on_confirmed,
        )
        if execution_id not in self.active:
            self.active.add(active)
        active.feed(*self._traced(active, [create]))
        return active

    def go_on(
        self,
        claimed: Claimed,
        cached: CachedState,
        lease_until: int,
        *inputs: cmd.AnyCommand,
        first: First = NOTHING_FIRST,
    ) -> ActiveExecution:
        """Begin a leg of an execution that is ours, with what it is asked, and what it writes first, if anything."""
        head = claimed.head
        active = ActiveExecution(
            self._environment,
            self,
            cached,
            LeaseRow(execution_id=head.execution_id, epoch=head.epoch),
            lease_until=lease_until,
            claimed=head,
            first=first,
            priority=head.priority,
        )
        if self._asked_by and not active.request_id:
            active.request_id = self._asked_by.take(head.execution_id)
        before = self.active.pop(head.execution_id, None)
        if before is not None:
            before.drop()
        self.active.add(active)
        if active.log_level:
            _log.info("resume_claimed execution=%s workflow=%s epoch=%d", head.execution_id, head.workflow, head.epoch)
        commands = active.command_cursor.read(claimed.commands)
        own = first_inputs(cached.state, claimed, commands, self.instance, self.settings.max_takeovers)
        # A closed one without commands is given back at once.
        active.begin(head, *self._traced(active, [*inputs, *own] or [cmd.Wake()]))
        return active

    def _traced(self, active: ActiveExecution, inputs: list[cmd.AnyCommand]) -> list[cmd.AnyCommand]:
        """Return what a leg begins with, together with its span."""
        if self.tracer is None:
            return inputs
        return begin_leg(self.tracer, active, inputs, self.instance, self.clock.now())

    async def is_begun(self, execution_id: str) -> bool:
        """Return whether an execution is active here; a creation in flight is waited for."""
        while (active := self.active.get(execution_id)) is not None:
            if active.new is None:
                return True
            await asyncio.wait([active.created])
        return False

    @property
    def room(self) -> int:
        """How many more executions this instance can drive."""
        return 0 if self.quarantine.is_closed else self.settings.executions - len(self.active)

    # Leases

    def is_over(self, lease_until: int) -> bool:
        """Return whether a lease may have run out before anything was begun under it, because replies came late.

        What it is for is not driven then: a claim of our own that is on its way may take it over.
        """
        return lease_until <= self.clock.latest()

    def is_short(self, lease_until: int) -> bool:
        """Return whether so much of a lease has passed that the next renewal, or a second try of it, may be too late.

        Leases are renewed by the clock and not for each claim. Where the log took long to read, an execution would
        begin to be driven with the rest of a lease, which another instance takes over while its calls run.
        """
        return self.clock.latest() + self.settings.lease_ttl * (RENEWALS - 1) // RENEWALS >= lease_until

    async def claiming_time(self) -> int:
        """Return the time for a claim; nothing that is driven here is due at it, so nothing is taken from ourselves."""
        if self.active.covered_until <= self.clock.latest():
            await self._environment.leases.cover()
        return self.clock.earliest()

    async def unclaim(self, claimed: Claimed, wake_at: int | None) -> None:
        """Release a claimed execution that was not resumed; it is due at a moment."""
        await self._releases.release([lease_of(claimed)], wake_at)

    # States

    async def state_of(self, loaded: Loaded) -> CachedState:
        """Return the state of an execution; a snapshot of another release is ignored and the whole log replayed."""
        try:
            return await state_from(loaded, self._plans)
        except (UnknownSnapshot, CorruptSnapshot) as error:
            _log.warning("snapshot_unusable execution=%s error=%s", loaded.head.execution_id, error.message)
            entries = await self._store.queries.read_history(loaded.head.execution_id, 0, loaded.head.last_seq + 1)
            return await state_from(replace(loaded, snapshot=None, entries=tuple(entries)), self._plans)

    async def timed(self, head: Head, cached: CachedState) -> CachedState:
        """Return a state that is to be gone on from, with the time of its last event: if need be, the log tells it."""
        if cached.last_at:
            return cached
        entries = await self._store.queries.read_history(head.execution_id, head.last_seq, 1)
        return replace(cached, last_at=entries[-1].at) if entries else cached

    def known(self, head: Head) -> CachedState | None:
        """Return the cached state of an execution that rests or is closed, if it still matches the log.

        It is for reading at once: after the next await it may belong to another leg.
        """
        return self.cache.peek(head) or self.ended.peek(head)

    # The host of active executions

    def forget(self, active: HostedExecution) -> None:
        """Remove an execution from the active ones."""
        if self.active.remove(active) and active.new is None:
            self.quarantine.end(active.id)

    def rested(self, active: HostedExecution, cached: CachedState, rest: Rest) -> None:
        """Cache the state of an execution that rests or is closed, and wake its waiters."""
        self.forget(active)
        self.on_rest()
        (self.ended if cached.state.facts.closed else self.cache).put(active.id, cached)
        if active.taken_up:
            self.tell_others(Hint(kind="rest", execution_id=active.id))
        if rest.wake_at is not None:
            self.hint(rest.wake_at)
        if rest.missing:
            self.hint(0)  # a place may have become free meanwhile
        if rest.missing or (active.parked and self.room <= 0):
            self.tell_others(Hint(kind="due"))

    def give_back(self, lease: LeaseRow, wake_at: int | None) -> None:
        """Release an execution that had nothing to do."""
        self._listeners.changed(lease.execution_id)
        self._releases.soon(self._releases.release([lease], wake_at))

    def put_off(self, lease: LeaseRow, after: int, missing: tuple[str, ...] = ()) -> None:
        """Release an execution that cannot go on here; it is due after some time."""
        self._releases.soon(self._releases.release_for_later([lease], after, missing))

    def progressed(self, execution_id: str) -> None:
        """Note that an execution which had lost instances goes on."""
        self.quarantine.end(execution_id)

    def committed(self, head: Head) -> None:
        """Wake the callers that wait for an execution."""
        self._listeners.committed(head)

    # Stopping

    def stop(self) -> None:
        """Start no more calls: the next instance starts those that are decided from now on."""
        self.node_runner.slots.close()

    def flush(self) -> None:
        """Write the buffered events of all active executions."""
        for active in self.active.values():
            active.flush()

    async def release_all(self) -> None:
        """Release all executions: they are due at once, for any instance."""
        left = list(self.active.values())
        for active in left:
            active.drop()
        if left:
            await self._releases.release([active.held_lease.unchanged() for active in left], self.clock.now())
            reached(CommitPoint.LEASES_RELEASED)
            self.tell_others(Hint(kind="due"))
        await self._releases.drain()

    # Commands

    async def send(self, commands: Sequence[Enqueue], status: WorkflowStatus | None = None) -> list[Enqueued | Refusal]:
        """Enqueue commands, and pass them to the executions that are active here; idle ones are claimed.

        With a status they are only taken while that is noted of its workflow.
        """
        if not commands:
            return []
        now = self.clock.now()
        taken = await self._store.commands.enqueue(commands, now, status)
        reached(CommitPoint.COMMAND_COMMITTED)
        for command, one in zip(commands, taken, strict=True):
            if not isinstance(one, Refused) and not one.repeated:
                told = QueuedCommand(n=one.n, at=now, kind=command.kind, body=command.body)
                self.pass_on(command.execution_id, told, one.owner)
        return taken

    def pass_on(self, execution_id: str, command: QueuedCommand, owner: str | None) -> None:
        """Pass a durable command to the instance that drives the execution; if none does, have it claimed."""
        if owner == self.instance:
            self.active.hear(execution_id, command)
        elif owner is not None:
            self.tell_others(Hint(kind="command", execution_id=execution_id))
        elif self.room > 0:
            self._asked_by.note(execution_id)
            self.hint(0)
        else:
            self.tell_others(Hint(kind="due"))


def _nothing() -> None:
    """Say nothing: whoever looks at the store finds what rests."""
