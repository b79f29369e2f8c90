"""The active executions of this instance: how they are created, claimed, resumed and released."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.codec import CorruptSnapshot, UnknownSnapshot
from layover.core.engine.state import Execution
from layover.core.engine.timing import wake_at
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.hints import Hint
from layover.ports.records import Command, Lease
from layover.runtime.dispatch.quarantine import Quarantine
from layover.runtime.execution.active_execution import ActiveExecution
from layover.runtime.execution.missing_functions import missing_types
from layover.runtime.execution.replay import state_from
from layover.runtime.execution.state_cache import CachedState, StateCache
from layover.runtime.execution.unknown_commands import mark_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from layover.core.plan import Plan
    from layover.ports.access import Standing
    from layover.ports.records import (
        AuditEntry,
        Claimed,
        Claims,
        Enqueue,
        Enqueued,
        Head,
        Loaded,
        Message,
        NewExecution,
        Refusal,
        Rest,
    )
    from layover.ports.store import Store
    from layover.runtime.calls.node_runner import NodeRunner
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.committer import Committer
    from layover.runtime.dispatch.listeners import Listeners
    from layover.runtime.machine import Machine
    from layover.runtime.metrics import Metrics
    from layover.runtime.plans import Plans
    from layover.runtime.settings import Settings

_log = logging.getLogger("layover.driver")

_RETRY_LATER = 60_000
_RETRY_READING = 1_000
_IN_ONE_GO = 32


class Driver:
    """The active executions, by id."""

    def __init__(  # noqa: PLR0913 - the parts of an instance, put together in one place
        self,
        *,
        instance: str,
        store: Store,
        machine: Machine,
        clock: Clock,
        settings: Settings,
        committer: Committer,
        node_runner: NodeRunner,
        listeners: Listeners,
        plans: Plans,
        metrics: Metrics,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.instance = instance
        self.machine = machine
        self.clock = clock
        self.settings = settings
        self.committer = committer
        self.node_runner = node_runner
        self.listeners = listeners
        self.metrics = metrics
        self.cache = StateCache(settings.cache_bytes)
        self.ended = StateCache(settings.ended_bytes)
        self.active: dict[str, ActiveExecution] = {}
        self.stopping = False
        self.freed = asyncio.Event()
        self._store = store
        self._plans = plans
        self.on_due: Callable[[int], None] | None = None
        self.on_messages: Callable[[Sequence[Message]], None] | None = None
        self.on_hint: Callable[[Hint], None] | None = None
        self.quarantine = Quarantine(self)
        self.cover: Callable[[], Awaitable[None]] = _uncovered
        self.covered_until = 0  # the leases of all that is driven last at least so long
        self._releases: set[asyncio.Task[None]] = set()

    # Beginning

    def create(
        self,
        plan: Plan,
        new: NewExecution,
        create: cmd.Create,
        message: Message | None = None,
        audit: AuditEntry | None = None,
    ) -> ActiveExecution:
        """Create an execution and drive it; its `created` is done when the creation is durable.

        A `message` and an `audit` entry are written in the same append.
        """
        execution_id = create.id
        state = Execution(plan)
        lease_until = self.clock.now() + self.settings.lease_ttl
        active = ActiveExecution(
            self,
            execution_id,
            CachedState(state, -1, 1, -1, 0),
            Lease(execution_id=execution_id, epoch=1),
            lease_until=lease_until,
            new=new,
            priority=new.priority,
            parked=self.room <= 0,
        )
        active.first_message, active.first_audit = message, audit
        if execution_id not in self.active:
            self._drive(active)
        active.feed(create)
        return active

    async def take(self, claims: Claims, lease_until: int, *, due: bool = False) -> None:
        """Resume claimed executions. If one was `due`, a caller may be waiting for it on another instance."""
        if claims.claimed:
            reached(CommitPoint.CLAIM_COMMITTED)
        unknown: list[Claimed] = []
        wanted, put_off = self.quarantine.sort(claims.claimed)
        for claimed, wait in put_off:  # before a suspect is driven: if it ends this instance, they are not lost with it
            at = self.clock.now() + wait
            await self._release([_lease(claimed)], at)
            self.hint(at)
        for index, claimed in enumerate(wanted, start=1):
            if index % _IN_ONE_GO == 0:
                await asyncio.sleep(0)  # what has been decided is written while the rest is
            if self._is_poison(claimed.head):
                _log.error("poison execution=%s takeovers=%d", claimed.head.execution_id, claimed.head.takeovers)
                continue
            cached = self.cache.take(claimed.head)
            if cached is None:
                unknown.append(claimed)
                continue
            try:
                await self._go_on_if_it_can(claimed, cached, lease_until, due=due)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not leave it claimed and driven by nobody
                await self._unusable(claimed, error)
        if unknown:
            await self._load(unknown, lease_until, due=due)

    def _is_poison(self, head: Head) -> bool:
        """Return whether even pausing an execution has cost instances: its lease is left to run out, time and again.

        Once in a while it is tried all the same, in case the cause has gone away.
        """
        most = self.settings.max_takeovers
        return head.takeovers > 2 * most and head.takeovers % most != 0

    async def _load(self, claims: list[Claimed], lease_until: int, *, due: bool) -> None:
        try:
            found = await self._store.load([claimed.head.execution_id for claimed in claims])
        except StoreUnavailable as error:
            _log.warning("load_failed executions=%d error=%s", len(claims), error.message)
            await self._release_for_later([_lease(one) for one in claims], _RETRY_READING)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing stays claimed and driven by nobody
            if len(claims) == 1:
                await self._unusable(claims[0], error)
            else:
                for one in claims:  # the one that cannot be read must not stop the others
                    await self._load([one], lease_until, due=due)
            return
        for claimed, loaded in zip(claims, found, strict=True):
            try:
                cached = await self.state_of(_found(loaded, claimed.head.execution_id))
                cached = await self.timed(claimed.head, cached)
                reached(CommitPoint.STATE_LOADED)
                await self._go_on_if_it_can(claimed, cached, lease_until, due=due)
            except Exception as error:  # noqa: BLE001 - one log that cannot be read must not stop the others
                await self._unusable(claimed, error)

    async def _unusable(self, claimed: Claimed, error: Exception) -> None:
        """Release an execution that cannot be resumed; it is tried again, in case the cause goes away.

        It is tried again soon if the only cause is that the store did not answer.
        """
        unanswered = isinstance(error, StoreUnavailable)
        level = logging.WARNING if unanswered else logging.ERROR
        _log.log(level, "load_failed execution=%s error=%s", claimed.head.execution_id, error)
        await self._release_for_later([_lease(claimed)], _RETRY_READING if unanswered else _RETRY_LATER)

    def is_over(self, lease_until: int) -> bool:
        """Return whether a lease may have run out before anything was begun under it, because replies came late.

        What it is for is not driven then: a claim of our own that is on its way may take it over.
        """
        return lease_until <= self.clock.latest()

    async def _regained(self, claimed: Claimed) -> int | None:
        """Renew a lease that may have run out; return its new end, or None if it is lost."""
        until = self.clock.now() + self.settings.lease_ttl
        lost = await self._store.renew(self.instance, [_lease(claimed)], until)
        return None if lost or self.is_over(until) else until

    async def _go_on_if_it_can(self, claimed: Claimed, cached: CachedState, lease_until: int, *, due: bool) -> None:
        if self.is_over(lease_until):
            regained = await self._regained(claimed)
            if regained is None:
                self.quarantine.end(claimed.head.execution_id)
                return  # it is due, or somebody else has it
            lease_until = regained
        wakes = wake_at(cached.state)
        missing = missing_types(cached.state, self.node_runner.can_run)
        is_known = missing == claimed.head.missing  # else a leg writes it down, with since when
        if claimed.commands or (wakes is not None and wakes <= self.clock.now()) or not missing or not is_known:
            self.go_on(claimed, cached, lease_until).taken_up = due
            return
        _log.warning("functions_missing execution=%s types=%s", claimed.head.execution_id, ",".join(missing))
        await self._release([_lease(claimed)], wakes, missing)

    async def is_begun(self, execution_id: str) -> bool:
        """Return whether an execution is active here; a creation in flight is waited for."""
        while (active := self.active.get(execution_id)) is not None:
            if active.new is None:
                return True
            await asyncio.wait([active.created])
        return False

    async def state_of(self, loaded: Loaded) -> CachedState:
        """Return the state of an execution; a snapshot of another release is ignored and the whole log replayed."""
        plan = await self._plans.of(loaded.info.hash)
        try:
            return await state_from(loaded, plan)
        except (UnknownSnapshot, CorruptSnapshot) as error:
            _log.warning("snapshot_unusable execution=%s error=%s", loaded.head.execution_id, error.message)
            entries = await self._store.history(loaded.head.execution_id, 0, loaded.head.last_seq + 1)
            return await state_from(replace(loaded, snapshot=None, entries=tuple(entries)), plan)

    async def timed(self, head: Head, cached: CachedState) -> CachedState:
        """Return a state that is to be gone on from, with the time of its last event: if need be, the log tells it."""
        if cached.last_at:
            return cached
        entries = await self._store.history(head.execution_id, head.last_seq, 1)
        return cached._replace(last_at=entries[-1].at) if entries else cached

    def own_head(self, execution_id: str) -> Head | None:
        """Return the head of an execution that is driven here, as it stands in the store as long as the lease lasts."""
        active = self.active.get(execution_id)
        return active.head() if active is not None and active.has_lease() else None

    def known(self, head: Head) -> CachedState | None:
        """Return the cached state of an execution that rests or is closed, if it still matches the log.

        It is for reading at once: after the next await it may belong to another leg.
        """
        return self.cache.peek(head) or self.ended.peek(head)

    def go_on(
        self,
        claimed: Claimed,
        cached: CachedState,
        lease_until: int,
        *first: cmd.AnyCommand,
        message: Message | None = None,
        audit: AuditEntry | None = None,
    ) -> ActiveExecution:
        """Begin a leg of an execution that is ours, with what it is asked, sends, and has noted first, if anything."""
        head = claimed.head
        active = ActiveExecution(
            self,
            head.execution_id,
            cached,
            Lease(execution_id=head.execution_id, epoch=head.epoch),
            lease_until=lease_until,
            claimed=head,
            priority=head.priority,
        )
        before = self.active.pop(head.execution_id, None)
        if before is not None:
            before.drop()
        self._drive(active)
        active.first_message, active.first_audit = message, audit
        active.paused_at = head.paused_at
        active.goes_first = bool(head.missing)
        active.takeovers = head.takeovers
        inputs = [*first, *self._first_inputs(active, claimed)]
        active.feed(*(inputs or [cmd.Wake()]))  # a closed one that nobody asks anything of is given back at once
        return active

    def _drive(self, active: ActiveExecution) -> None:
        self.active[active.id] = active
        self.covered_until = min(self.covered_until, active.lease_until)

    async def claiming_time(self) -> int:
        """Return the time for a claim; nothing that is driven here is due at it, so nothing is taken from ourselves."""
        if self.covered_until <= self.clock.latest():
            await self.cover()
        return self.clock.now()

    def measure_cover(self) -> None:
        """Note the earliest end of the leases of all active executions, after a renewal."""
        if_none = self.clock.latest() + self.settings.lease_ttl
        self.covered_until = min((active.lease_until for active in self.active.values()), default=if_none)

    def _first_inputs(self, active: ActiveExecution, claimed: Claimed) -> list[cmd.AnyCommand]:
        """Return what a leg begins with: commands are obeyed, calls that were out are made again, due timers fire.

        Nothing starts after a pause or cancel that was accepted while nobody drove it. Behind a closed gate the loss is
        noted first: the resume that may be among the commands makes the calls again.
        What reopens a closed execution begins the leg itself, and makes again the calls that were out.
        """
        state = active.state
        commands = active.command_cursor.read(claimed.commands)
        if state.facts.closed:
            return [*commands]
        lost = bool(state.counts["calls"])
        cause = "recovered" if lost else "commands" if commands else "woken"
        inputs: list[cmd.AnyCommand] = [cmd.StartLeg(cause=cause, instance=self.instance)]
        if claimed.head.takeovers > self.settings.max_takeovers:
            reason = f"It lost {claimed.head.takeovers} instances in a row; resume it when the cause is found."
            return [*inputs, cmd.Pause(reason=reason), cmd.StopDraining(), *commands]
        if not lost:
            return [*inputs, *commands]
        recover = cmd.Recover(lost=claimed.head.takeovers > 0)
        is_open = state.facts.gate == "open"
        return [*inputs, *commands, recover] if is_open else [*inputs, recover, *commands]

    # Letting go

    def rested(self, active: ActiveExecution, rest: Rest) -> None:
        """Cache the state of an execution that rests or is closed, and wake its waiters."""
        self.forget(active)
        (self.ended if active.state.facts.closed else self.cache).put(active.id, active.keep())
        if active.taken_up:
            self.tell_others(Hint(kind="rest", execution_id=active.id))
        if rest.wake_at is not None:
            self.hint(rest.wake_at)
        if rest.missing:
            self.hint(0)  # a place may have become free meanwhile
        if rest.missing or (active.parked and self.room <= 0):
            self.tell_others(Hint(kind="due"))

    def give_back(self, active: ActiveExecution, rest: Rest) -> None:
        """Release an execution that had nothing to do."""
        self.forget(active)
        self.listeners.changed(active.id)
        self._soon(self._release([active.lease], rest.wake_at))

    def put_off(self, active: ActiveExecution, after: int = _RETRY_LATER) -> None:
        """Release an execution that cannot go on; it is tried again, in case the cause goes away."""
        active.drop()
        self._soon(self._release_for_later([active.lease], after))

    def hold_back(self, active: ActiveExecution, command: Command) -> None:
        """Release an execution with a command that this release cannot read, for an instance that can."""
        active.drop()
        self._soon(self._release_for_later([active.lease], _RETRY_LATER, (mark_of(command),)))

    async def unclaim(self, claimed: Claimed, wake_at: int | None) -> None:
        """Release a claimed execution that was not resumed; it is due at a moment."""
        await self._release([_lease(claimed)], wake_at)

    def _soon(self, release: Coroutine[object, object, None]) -> None:
        task = self.loop.create_task(release)
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    def stop(self) -> None:
        """Start no more calls: the next instance starts those that are decided from now on."""
        self.stopping = True
        self.node_runner.close()

    def forget(self, active: ActiveExecution) -> None:
        """Remove an execution from the active ones."""
        if self.active.get(active.id) is active:
            del self.active[active.id]
            if active.new is None:
                self.quarantine.end(active.id)
            self.freed.set()

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
            await self._release([active.lease for active in left], self.clock.now())
            reached(CommitPoint.LEASES_RELEASED)
            self.tell_others(Hint(kind="due"))
        if self._releases:
            await asyncio.wait(self._releases)

    async def _release(self, leases: list[Lease], wake_at: int | None, missing: tuple[str, ...] = ()) -> None:
        for lease in leases:
            self.quarantine.end(lease.execution_id)
        try:
            await self._store.release(self.instance, leases, wake_at, missing)
        except StoreError as error:  # the leases run out by themselves
            _log.warning("release_failed executions=%d error=%s", len(leases), error.message)
        for lease in leases:
            self.listeners.changed(lease.execution_id)

    async def _release_for_later(self, leases: list[Lease], after: int, missing: tuple[str, ...] = ()) -> None:
        """Give back what cannot be gone on with here; it is due after some time, whatever it is sent meanwhile."""
        now = self.clock.now()
        for lease in leases:
            self.quarantine.end(lease.execution_id)
        try:
            await self._store.release(self.instance, leases, now + after, missing, held_at=now)
        except StoreError as error:  # the leases run out by themselves
            _log.warning("release_failed executions=%d error=%s", len(leases), error.message)
            return
        if missing:
            self.tell_others(Hint(kind="due"))

    # Hints

    def hear(self, execution_id: str, command: Command) -> None:
        """Pass a durable command to an execution, if it is still active here."""
        active = self.active.get(execution_id)
        if active is not None:
            active.hear(command)

    async def send(self, commands: Sequence[Enqueue], standing: Standing | None = None) -> list[Enqueued | Refusal]:
        """Enqueue commands, and pass them to the executions that are active here; idle ones are claimed.

        With a standing they are only taken while that is noted of its workflow.
        """
        if not commands:
            return []
        now = self.clock.now()
        taken = await self._store.enqueue(commands, now, standing)
        reached(CommitPoint.COMMAND_COMMITTED)
        for command, one in zip(commands, taken, strict=True):
            if not isinstance(one, Refused) and not one.repeated:
                told = Command(n=one.n, at=now, kind=command.kind, body=command.body)
                self.pass_on(command.execution_id, told, one.owner)
        return taken

    def pass_on(self, execution_id: str, command: Command, owner: str | None) -> None:
        """Pass a durable command to the instance that drives the execution; if none does, have it claimed."""
        if owner == self.instance:
            self.hear(execution_id, command)
        elif owner is not None:
            self.tell_others(Hint(kind="command", execution_id=execution_id))
        elif self.room > 0:
            self.hint(0)
        else:
            self.tell_others(Hint(kind="due"))

    def post(self, messages: Sequence[Message]) -> None:
        """Have durable messages delivered."""
        if self.on_messages is not None:
            self.on_messages(messages)

    def hint(self, at: int) -> None:
        """Tell the claimer that an execution comes due at a moment."""
        if self.on_due is not None:
            self.on_due(at)

    def tell_others(self, hint: Hint) -> None:
        """Send a hint to other instances, if there is a channel to them; without one they find out by polling."""
        if self.on_hint is not None:
            self.on_hint(hint)

    @property
    def room(self) -> int:
        """How many more executions this instance can drive."""
        return 0 if self.quarantine.is_closed else self.settings.executions - len(self.active)


async def _uncovered() -> None:
    """Renew nothing, before there is anybody who renews."""


def _lease(claimed: Claimed) -> Lease:
    """Return the lease on what is not driven yet: whoever drives it has to know what it has lost."""
    head = claimed.head
    return Lease(execution_id=head.execution_id, epoch=head.epoch, takeovers=head.takeovers)


def _found(loaded: Loaded | None, execution_id: str) -> Loaded:
    if loaded is None:
        raise StoreError(f"The execution {execution_id} has no rows.")
    return loaded
