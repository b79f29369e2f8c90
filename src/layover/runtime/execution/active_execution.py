"""One execution that this instance drives: commands are decided, the events are written, then effects are carried out.

At most one append is in flight. Commands that arrive meanwhile wait for its outcome and are decided with the next step.
If the store refuses an append because its writer had not seen all commands, the decision is undone and made again, new
commands first. If the store refuses because another instance drives the execution, the execution is dropped and its
calls are stopped; the store fences whatever they might still report.

In a workflow with leg durability, a step that is invisible from outside takes effect at once and is written later, with
the next visible step. Its effects are not undone: commands that arrive meanwhile are decided after it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.command_codec import UnknownCommand
from layover.core.engine.decide import play
from layover.core.engine.effects import Call, StopCall, StopCalls, effects
from layover.core.engine.node_transitions import is_within
from layover.core.engine.timing import paused_since, wake_at
from layover.core.engine.unwritable import fail_unwritable
from layover.core.errors import LayoverError
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.ports.records import Head, Rest
from layover.runtime.dispatch.queued_append import size_of
from layover.runtime.execution.alarm import Alarm
from layover.runtime.execution.append_builder import append_of, derived, is_progress
from layover.runtime.execution.call_slots import NO_PLACES, CallSlots
from layover.runtime.execution.call_time_left import CallsWithTimeLeft
from layover.runtime.execution.command_cursor import CommandCursor
from layover.runtime.execution.durability_waiters import NO_WRITERS, DurabilityWaiters
from layover.runtime.execution.leg_buffer import NOTHING_UNWRITTEN, LegBuffer
from layover.runtime.execution.missing_functions import missing_types, queued_types
from layover.runtime.execution.pending_append import PendingAppend, in_order, last_pause
from layover.runtime.execution.slot_queue import SlotQueue
from layover.runtime.execution.state_cache import CachedState

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import Execution
    from layover.ports.records import Append, AuditEntry, Command, Lease, Message, NewExecution, Outcome
    from layover.runtime.calls.node_runner import CallOut
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.execution.append_builder import Derived
    from layover.runtime.execution.durability_waiters import FromCall

_log = logging.getLogger("layover.active_execution")

# After so many refusals in a row for commands that came in, the next decision is made where no more can come.
_MOST_REFUSALS = 3
_LOOK_AGAIN = 1_000  # milliseconds: while a call has time left, it is not known what else is due when
_LOOKS, _BETWEEN_LOOKS = 200, 0.001  # seconds: how long a pause waits for calls that are about to be entered

_WITHOUT_REPORTS = cmd.Wake()


class Undecidable(LayoverError):  # noqa: N818 - it says what the execution is
    """An execution whose next step can be neither decided nor written."""

    code = "undecidable"


class AppendTooLarge(LayoverError):  # noqa: N818 - it says what the append is
    """A step that is larger than `append_bytes`."""

    code = "append_too_large"

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"One step would write {size:,} bytes: at most {most:,} are allowed (`append_bytes`).")


class ActiveExecution:
    """The state of an execution, its lease, and its append in flight."""

    __slots__ = (
        "_alarm",
        "_append",
        "_by_leg",
        "_claimed",
        "_committed",
        "_derived",
        "_driver",
        "_durability_waiters",
        "_holds",
        "_inputs",
        "_last_at",
        "_refusals",
        "_resters",
        "_size",
        "_slot_queue",
        "_slots",
        "_step",
        "_unwritable",
        "_was_closed",
        "_with_time_left",
        "calls",
        "command_cursor",
        "created",
        "dropped",
        "epoch",
        "finished_at",
        "first_audit",
        "first_message",
        "goes_first",
        "id",
        "is_shut",
        "last_epoch",
        "last_seq",
        "lease",
        "lease_until",
        "leg_buffer",
        "new",
        "on_confirmed",
        "parked",
        "paused_at",
        "priority",
        "snapshot_seq",
        "state",
        "taken_up",
        "takeovers",
    )

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        driver: Driver,
        execution_id: str,
        cached: CachedState,
        lease: Lease,
        *,
        lease_until: int,
        claimed: Head | None = None,
        new: NewExecution | None = None,
        priority: int = 0,
        parked: bool = False,  # it is begun here, and driven by whoever has room for it
    ) -> None:
        self._driver = driver
        self.id = execution_id
        self.state: Execution = cached.state
        self.last_seq = cached.last_seq
        self.last_epoch = cached.last_epoch
        self._last_at = cached.last_at
        self.lease = lease
        self.epoch = lease.epoch
        self.lease_until = lease_until
        self.command_cursor = CommandCursor(execution_id, claimed.commands_done if claimed is not None else 0)
        self._claimed = claimed
        self._committed: Append | None = None  # the last append of this leg that passed
        self.new = new
        self.created: asyncio.Future[Outcome] = driver.loop.create_future()
        self.first_message: Message | None = None  # goes out with the first append
        self.first_audit: AuditEntry | None = None  # is written with it
        self.on_confirmed: Callable[[ActiveExecution], None] | None = (
            None  # told of its creation and its rest, once durable
        )
        self.finished_at: int | None = None
        self.paused_at: int | None = None
        self._resters: list[asyncio.Future[None]] = []
        self._durability_waiters = NO_WRITERS
        self.dropped = False
        self.calls: dict[str, CallOut] = {}
        self._with_time_left = CallsWithTimeLeft(self.calls, driver.clock.running)
        self.is_shut = self.state.facts.gate != "open"  # no call is entered: somebody may have been told of a pause
        self._holds = False  # calls wait for that to end
        self.parked = parked
        self.takeovers = 0  # instances that it lost in a row, as long as it has made no progress here
        self.taken_up = False  # it was begun or gone on with elsewhere, where somebody may wait for it
        self.priority = priority
        self._slots = CallSlots(driver.node_runner, closed=parked)
        self._slot_queue = SlotQueue(self.state)
        self.goes_first = False  # it has waited for a place before it came here
        self.snapshot_seq = cached.snapshot_seq
        self._size = cached.size
        self._was_closed = bool(self.state.facts.closed)
        self._by_leg = self.state.plan.definition.settings.durability == "leg"
        self.leg_buffer = LegBuffer() if self._by_leg else NOTHING_UNWRITTEN
        self._inputs: list[cmd.AnyCommand] = []
        self._refusals = 0
        self._unwritable: ev.Error | None = None  # why what follows cannot be written
        self._step: PendingAppend | None = None
        self._derived: Derived | None = None
        self._append: Append | None = None
        self._alarm = Alarm(self._ring, driver.clock)

    # What comes in

    def feed(self, *commands: cmd.AnyCommand) -> None:
        """Queue inputs; they are decided as soon as the last decision is durable."""
        self._inputs.extend(commands)
        if self._append is None:
            self.go()

    def write(self, command: FromCall) -> asyncio.Future[None]:
        """Record what a running call reports; the returned future is done when that is durable."""
        if self._durability_waiters is NO_WRITERS:
            self._durability_waiters = DurabilityWaiters()
        told = self._durability_waiters.add(command)
        if self.dropped:
            self._durability_waiters.give_up()
        else:
            self.feed(command)
        return told

    def flush(self) -> None:
        """Write the buffered events of the leg."""
        if self.leg_buffer.count and self._append is None and not self.dropped:
            self._submit(self._prepare(PendingAppend([], [], [], None, self._now())))

    def _progressed(self) -> None:
        self.takeovers = 0
        self._driver.quarantine.end(self.id)

    def clear_takeovers(self) -> None:
        """Reset the count of takeovers."""
        self.takeovers = 0
        if self._append is None and not self.dropped:
            self._write(PendingAppend([], [], [], None, self._now()))

    def has_lease(self) -> bool:
        """Return whether the lease is still valid: until it runs out no other instance can claim the execution."""
        return not self.dropped and self._driver.clock.latest() < self.lease_until

    async def regains_lease(self) -> bool:
        """Renew a lease that has run out; false if another instance has claimed the execution."""
        try:
            await self._driver.cover()
        except StoreError as error:
            _log.warning("lease_over execution=%s epoch=%d error=%s", self.id, self.epoch, error.message)
        return self.has_lease()

    def expects(self, call: Call) -> bool:
        """Return whether the decided state still waits for the result of a call."""
        node = self.state.node(call.node)
        return not self.state.facts.closed and node.status == "running" and node.attempt == call.attempt

    def hear(self, command: Command) -> None:
        """Take a durable command from the queue."""
        if self.command_cursor.hear(command) and self._append is None:
            self.go()

    def start_queued(self, node_type: str, most: int) -> None:
        """Start up to so many queued calls of a node type."""
        if self.dropped or self._append is not None or self.state.facts.gate != "open":
            return  # after its next step it gets in line again
        names = self._slot_queue.take(node_type, most)
        if names:
            self._slot_queue.since = 0
            self.feed(*[cmd.StartQueued(node=name) for name in names])

    # Deciding

    def go(self) -> None:
        """Decide all inputs that have arrived, and write the events."""
        if self._append is not None or self.dropped:
            return
        if self.command_cursor.has_next:
            self._inputs += self.command_cursor.in_turn()
        if self.command_cursor.unreadable is not None:
            self._driver.hold_back(self, self.command_cursor.unreadable)
            return
        if not self._inputs:
            return
        tried, self._inputs = self._inputs, []
        try:
            step = self._decide(tried, self._now())
            if step.events:
                if self._by_leg:
                    self._write_later(step)
                else:
                    self._write(step)
            else:
                self._nothing_changed(step)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take anything else with it
            _log.exception("decision_failed execution=%s", self.id)
            ours = error if isinstance(error, AppendTooLarge) else None
            self._cannot_go_on(tried, ours or Undecidable(f"The execution {self.id} cannot go on: {error!r}"))

    def _now(self) -> int:
        """Return the time. Clocks of instances differ a little; within one log time never goes back."""
        self._last_at = max(self._last_at, self._driver.clock.now())
        return self._last_at

    def _decide(self, tried: list[cmd.AnyCommand], now: int) -> PendingAppend:
        """Return what was told leads to, with all that has come due: nothing due is left undone at a rest."""
        state, slots, most = self.state, self._slots, self._driver.settings.step_events
        if self._unwritable is not None:
            events = fail_unwritable(state, tried, self._unwritable, now)
            return PendingAppend(tried, events, effects(state, events), self._resting(now), now)
        late = self._with_time_left
        held = last_pause(tried) if len(tried) > 1 else 0
        events = play(state, tried[0], now, NO_PLACES if held else slots, most, late)
        for index, command in enumerate(tried[1:], start=1):
            events.extend(play(state, command, now, NO_PLACES if index < held else slots, most, late))
        while (due := wake_at(state)) is not None and due <= now:
            more = play(state, cmd.Wake(), now, slots, most, late)
            if not more:
                break
            events.extend(more)
        return PendingAppend(tried, events, effects(state, events), self._resting(now), now)

    def _write_later(self, step: PendingAppend) -> None:
        """Carry out a step now and write it later if that is allowed; otherwise write it first."""
        if self._may_wait(step):
            self.leg_buffer.add(step.at, step.events)
            if self.takeovers and is_progress(step.events):
                self._progressed()
            self._done(step, {})
        else:
            self._write(step)

    def _may_wait(self, step: PendingAppend) -> bool:
        """Return whether a step is invisible from outside, so that it may be written later."""
        waiting, settings = self.leg_buffer, self._driver.settings
        if (
            self.new is not None
            or step.rest is not None
            or self._durability_waiters.waiting
            or self.command_cursor.noted < self.command_cursor.seen
        ):
            return False
        if self.state.facts.gate != "open" or waiting.count >= settings.snapshot_every or self._is_overdue(step.at):
            return False
        if waiting.size >= settings.commit_bytes:
            return False
        return not self._derive(step).is_seen

    def _is_overdue(self, now: int) -> bool:
        return self.leg_buffer.count > 0 and now - self.leg_buffer.since >= self._driver.settings.leg_flush

    def _write(self, step: PendingAppend) -> None:
        append = self._prepare(step)
        if (size := size_of(append)) > self._driver.settings.append_bytes:
            raise AppendTooLarge(size, self._driver.settings.append_bytes)
        self._submit(append)

    def _submit(self, append: Append, looks: int = _LOOKS) -> None:
        """Send an append. One that closes the gate waits a moment for calls that are about to be entered.

        Once it is durable a caller may learn of the pause, and from then on no function is entered.
        """
        if self.state.facts.gate != "open" and not self.is_shut:
            if looks and any(out.begun_at is None for out in self.calls.values()):
                self._driver.loop.call_later(_BETWEEN_LOOKS, self._submit_unless_dropped, append, looks - 1)
                return
            self.is_shut = True
        reached(CommitPoint.APPEND_DECIDED)
        if self._refusals < _MOST_REFUSALS:
            self._driver.committer.submit(append, self._told)
        else:
            self._driver.committer.insist(append, self._decide_again, self._told)

    def _submit_unless_dropped(self, append: Append, looks: int) -> None:
        if not self.dropped:
            self._submit(append, looks)

    def _decide_again(self, commands: tuple[Command, ...]) -> Append:
        """Decide the step in flight again with new commands; the store calls this while no more can be enqueued.

        This runs on another thread, so it uses only the call slots that the first decision took.
        """
        step = self._step
        if step is None:
            raise AssertionError("nothing is on its way")
        self.state.undo_log.revert()
        self._slots.reserve()
        try:
            asked = self.command_cursor.read(commands)
            if self.command_cursor.unreadable is not None:
                raise UnknownCommand(
                    f"There is no command `{self.command_cursor.unreadable.kind}` in this release of Layover."
                )
            return self._prepare(self._decide(in_order(step.tried, asked), step.at))
        finally:
            self._slots.open()

    def _prepare(self, step: PendingAppend) -> Append:
        self._step = step
        self._derived = seen = self._derive(step)
        self._append = append = append_of(self, self._driver, step, seen)
        return append

    def _derive(self, step: PendingAppend) -> Derived:
        secret = self._driver.machine.secret
        return derived(self.state, step, was_closed=self._was_closed, priority=self.priority, secret=secret)

    def _resting(self, now: int) -> Rest | None:
        """Return how this step releases the execution; None if it does not."""
        state, facts = self.state, self.state.facts
        if state.counts.rows["calls"] and facts.gate == "open" and not facts.closed:
            return None  # by far the most frequent
        if state.resting:
            return Rest(wake_at=wake_at(state), paused_at=paused_since(state))
        if state.counts["calls"]:
            return None
        if self.parked or self._driver.stopping:
            return Rest(wake_at=now)  # what is queued, or ready, is for another instance
        missing = missing_types(state, self._driver.node_runner.can_run)
        return Rest(wake_at=wake_at(state), missing=missing) if missing else None

    # The outcome

    def _told(self, outcome: Outcome | StoreError) -> None:
        """Handle the outcome of an append; if that raises, the execution is not kept here idle."""
        try:
            self._take(outcome)
        except Exception as error:  # noqa: BLE001 - what is durable stays so: the next leg goes on from there
            _log.exception("outcome_not_taken execution=%s", self.id)
            self._tell_creator(Undecidable(f"The execution {self.id} cannot go on: {error!r}"))
            self._driver.put_off(self)

    def _take(self, outcome: Outcome | StoreError) -> None:
        step, append, seen = self._step, self._append, self._derived
        self._step = self._append = self._derived = None
        if step is None or append is None or seen is None:
            raise AssertionError("an outcome came for an append that was never sent")
        if isinstance(outcome, StoreError):
            self._failed(outcome, step)
        elif outcome.verdict == "passed":
            self._passed(outcome, step, append)
            if append.messages:
                self._driver.post(append.messages)
            self._done(step, seen.secrets)
        elif outcome.verdict == "uninformed":
            self._uninformed(outcome, step)
        else:
            self._lost(outcome)

    def _passed(self, outcome: Outcome, step: PendingAppend, append: Append) -> None:
        """Handle an append that is durable."""
        reached(CommitPoint.APPEND_TOLD if step.rest is None else CommitPoint.REST_TOLD)
        self._refusals = 0
        self._committed = append
        self.last_seq += append.count
        self.last_epoch = self.epoch
        metrics = self._driver.metrics
        self.paused_at = metrics.wrote(append, step.events, self.command_cursor.asked_at, self.paused_at)
        self.command_cursor.asked_at.clear()
        self.command_cursor.noted = append.commands_seen
        self._size += len(append.events)
        self._was_closed = bool(self.state.facts.closed)
        if self.takeovers and not append.keeps_takeovers:
            self._progressed()
        if self.leg_buffer.count:
            self.leg_buffer.clear()
        if append.snapshot is not None:
            self.snapshot_seq = self.last_seq
        if append.closed is not None:
            self.finished_at = append.at if self._was_closed else None
        self.first_message = self.first_audit = None
        if self.on_confirmed is not None and (self.new is not None or step.rest is not None):
            self.on_confirmed(self)  # now: before anything else is decided, the state is what the log says
        if self.new is not None:
            self.new = None
            self._tell_creator(outcome)
        listeners = self._driver.listeners
        if self.id in listeners.waiting and (head := self.head()) is not None:
            listeners.committed(head)

    def _done(self, step: PendingAppend, secrets: dict[str, str]) -> None:
        """Carry out a step that will not be undone, and go on."""
        state = self.state
        state.undo_log.keep()
        self._mind_gate()
        self._act(step, secrets)
        self._slots.give_back()
        if self._durability_waiters.waiting:
            self._durability_waiters.tell(step.tried, self.calls)
        if step.rest is not None:
            self._come_to_rest(step.rest)
            return
        if state.counts["queued"]:
            self._slot_queue.add(one.node for one in step.events if isinstance(one, ev.NodeScheduled) and one.queued)
            self._driver.node_runner.wait_turn(self, self._slot_queue.types(), first=self.goes_first)
            self.goes_first = False
            self._slot_queue.since = 0 if state.counts["calls"] else self._slot_queue.since or step.at
        self._set_alarm()
        if self._inputs or self.command_cursor.has_next:
            self.go()
        elif state.queue.rows and state.facts.gate == "open":  # the step was as long as one may be
            self._driver.loop.call_soon(self._continue)

    def _continue(self) -> None:
        """Go on with ready nodes, after other executions have had their turn."""
        if self._append is None and not self.dropped:
            self.feed(cmd.Wake())

    def _act(self, step: PendingAppend, secrets: dict[str, str]) -> None:
        """Carry out the effects: calls, timers, messages."""
        if self.calls:
            for event in step.events:
                if isinstance(event, ev.NodeFailed):
                    self.stop_call(event.node)  # it took too long: nobody waits for it any more
        for effect in step.effects:
            match effect:
                case Call():
                    self._slots.hand_over(effect.node_type)
                    self._driver.node_runner.call(self, effect, step.at, secrets.get(effect.node))
                case StopCalls(path=path):
                    self.stop_calls(path)
                case StopCall(node=node):
                    self.stop_call(node)
                case _:
                    pass  # rows and messages were written with the events

    def _uninformed(self, outcome: Outcome, step: PendingAppend) -> None:
        """Decide again with the commands that the last decision had not seen."""
        self._refusals += 1
        self._take_back()
        self._inputs = [*in_order(step.tried, self.command_cursor.read(outcome.commands)), *self._inputs]
        if self.command_cursor.unreadable is None:
            self.command_cursor.seen = max(self.command_cursor.seen, outcome.commands_seq)
        self.go()

    def _lost(self, outcome: Outcome) -> None:
        self._take_back()
        if self.new is not None:
            self._tell_creator(outcome)
        else:
            _log.warning("lease_lost execution=%s epoch=%d", self.id, self.epoch)
        self.drop()

    def _failed(self, error: StoreError, step: PendingAppend) -> None:
        if self.command_cursor.unreadable is not None:  # found out while others were kept from sending more
            self._take_back()
            self._driver.hold_back(self, self.command_cursor.unreadable)
        elif isinstance(error, StoreUnavailable | StoreUnusable) and self.new is None:
            self._take_back()
            self._driver.put_off(self, 0)  # whoever can reach the store goes on from what has landed
        else:
            self._cannot_go_on(step.tried, error)

    def _cannot_go_on(self, tried: list[cmd.AnyCommand], error: LayoverError) -> None:
        """Fail an execution whose next step cannot be decided or written, and keep the results that were reported.

        If that cannot be written either, it fails without those results; if even that fails, it is tried again later.
        """
        self._step = self._append = self._derived = None
        self._take_back()
        reported = [*tried, *self._inputs]
        if self.new is not None:
            self._tell_creator(error)
            self.drop()
        elif self._unwritable is None:
            _log.error("execution_unwritable execution=%s error=%s", self.id, error.message)
            message = f"What follows could not be written: {error.message}"
            self._unwritable = ev.Error(code="unwritable", message=message, retryable=False)
            self._inputs = reported or [_WITHOUT_REPORTS]
            self.go()
        elif reported != [_WITHOUT_REPORTS]:
            self._inputs = [_WITHOUT_REPORTS]
            self.go()
        else:
            self._driver.put_off(self)

    def _tell_creator(self, what: Outcome | LayoverError) -> None:
        """Tell the caller of `start` the outcome, unless that caller has given up waiting."""
        if self.created.done():
            return
        if isinstance(what, LayoverError):
            self.created.set_exception(what)
        else:
            self.created.set_result(what)

    def _take_back(self) -> None:
        self.state.undo_log.revert()
        self._mind_gate()
        self._slot_queue.clear()
        self._slots.give_back()

    # Rest and end

    def _nothing_changed(self, step: PendingAppend) -> None:
        """Rest if nothing is under way; what was told made no difference, and whoever told it learns that it came."""
        self.state.undo_log.keep()
        if self.command_cursor.noted < self.command_cursor.seen or self._is_overdue(step.at):
            self._write(step)
            return
        if self._durability_waiters.waiting:
            self._durability_waiters.tell(step.tried, self.calls)
        if self.state.resting and not self.leg_buffer.count:
            self._end()
            self._driver.give_back(self, Rest(wake_at=wake_at(self.state)))

    def _come_to_rest(self, rest: Rest) -> None:
        self.stop_calls("")
        self._end()
        self._driver.rested(self, rest)

    def _end(self) -> None:
        self.dropped = True
        self._driver.node_runner.leave_line(self)
        self._alarm.end()
        for waiting in self._resters:
            if not waiting.done():
                waiting.set_result(None)
        self._durability_waiters.give_up()

    async def at_rest(self) -> None:
        """Wait until the execution is no longer driven here: it rests, is closed, or was lost."""
        if not self.dropped:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._resters.append(waiting)
            await waiting

    def head(self) -> Head | None:
        """Return the head after the last append of this leg, or after the claim; None before the creation."""
        append, claimed = self._committed, self._claimed
        if append is None:
            return claimed
        rest = append.rest
        missing = rest.missing if rest is not None else ()
        missing_since = claimed.missing_since if claimed is not None else None
        paused_at = rest.paused_at if rest is not None else None
        return Head(
            execution_id=self.id,
            workflow=self.state.facts.workflow,
            status=append.status,
            last_seq=self.last_seq,
            last_epoch=self.last_epoch,
            epoch=self.epoch,
            priority=self.priority,
            owner=append.owner if rest is None else None,
            wake_at=self.lease_until if rest is None else rest.wake_at,
            commands_seq=append.commands_seen,
            commands_done=append.commands_seen,
            takeovers=self.takeovers,
            missing=missing,
            missing_since=(append.at if missing_since is None else missing_since) if missing else None,
            paused_at=(paused_at or self.paused_at) if append.status == "paused" else None,
        )

    def keep(self) -> CachedState:
        """Return the state with everything a later leg needs to go on from it."""
        return CachedState(self.state, self.last_seq, self.last_epoch, self.snapshot_seq, self._size, self._last_at)

    def drop(self) -> None:
        """Drop the execution: another instance has claimed it."""
        self._end()
        self.stop_calls("")
        self._driver.forget(self)

    def let_go(self) -> None:
        """Release an execution whose lease has run out, so that any instance can claim it."""
        self._driver.put_off(self, 0)

    def stop_calls(self, path: str) -> None:
        """Ask the calls in a scope to stop."""
        for name in [name for name in self.calls if not path or is_within(name, path)]:
            self.stop_call(name)

    def stop_call(self, name: str) -> None:
        """Ask one call to stop. It has time to clean up; its result is ignored."""
        out = self.calls.pop(name, None)
        if out is not None:
            out.stop()

    # Time

    def _set_alarm(self) -> None:
        """Set the alarm to the next timer that comes due while calls are running."""
        due = wake_at(self.state)
        if due is not None and due <= (now := self._driver.clock.now()):
            later = self._with_time_left.look_again(now, _LOOK_AGAIN)
            if later is not None and later <= now:
                self._driver.loop.call_soon(self._ring)  # after others
                later = now + _LOOK_AGAIN
            due = later or due
        if self.state.facts.gate == "pausing":
            due = min(self._drained_by(), self._drained_by() if due is None else due)
        if self.leg_buffer.count:
            flush_at = self.leg_buffer.since + self._driver.settings.leg_flush
            due = flush_at if due is None else min(due, flush_at)
        if (
            self._slot_queue.since
            and (until := self._slot_queue.waits_until(self._driver.settings.give_back_after)) is not None
        ):
            due = until if due is None else min(due, until)
        self._alarm.set(due)

    def _leave_to_others(self, now: int) -> bool:
        """Release an execution that has only waited for a call slot for too long; return whether it did."""
        until, due = self._slot_queue.waits_until(self._driver.settings.give_back_after), wake_at(self.state)
        if until is None or until > now or self._append is not None or (due is not None and due <= now):
            return False
        if self.state.queue.rows:  # it has more to do than to wait
            return False
        types = queued_types(self.state)
        if any(map(self._driver.node_runner.has_slot, types)):  # it is about to have its turn
            self._slot_queue.since = now
            return False
        self._write(PendingAppend([], [], [], Rest(wake_at=due, missing=types), self._now()))
        return True

    def _drained_by(self) -> int:
        """Return until when a pause waits for running calls, without those that wait for the gate to open."""
        is_drained = self.calls and all(out.held is not None for out in self.calls.values())
        return self.state.facts.paused_at + (0 if is_drained else self._driver.settings.drain)

    async def gate_is_open(self, out: CallOut) -> bool:
        """Let a call wait until the gate opens; return false if it is stopped instead.

        If all running calls wait here, the pause has nothing left to wait for.
        """
        while self.is_shut and not out.stopped:
            self._holds = True
            out.held = self._driver.loop.create_future()
            if self._append is None:
                self._set_alarm()  # else it is set after what is on its way
            await out.held
            out.held = None
        return not out.stopped

    def _mind_gate(self) -> None:
        """Open or close the gate for calls as the durable state says, and wake the calls that wait for it."""
        self.is_shut = self.state.facts.gate != "open"
        if self._holds and not self.is_shut:
            self._holds = False
            for out in self.calls.values():
                if out.held is not None and not out.held.done():
                    out.held.set_result(None)

    def _ring(self) -> None:
        if self.dropped:
            return
        now = self._driver.clock.now()
        if self._leave_to_others(now):
            return
        late = self.state.facts.gate == "pausing" and self._drained_by() <= now
        self.feed(cmd.StopDraining() if late else cmd.Wake())
        if self._append is None and not self.dropped:
            self._set_alarm()
