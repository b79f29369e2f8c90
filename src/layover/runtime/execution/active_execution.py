"""One execution that this instance drives, from its claim or its creation to its rest.

It is put together here from parts with one job each: the `Decider` has the state, the `AppendWriter` the append in
flight, the `HeldLease` the lease, the `CallsOut` are its calls, `WakeUp` sets its alarm, `Waiters` are those who wait
for it, and `Release` ends it. `Steps` are the way of a command from one part to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.effects import LogFailure, MakeCall, StopCall, StopCalls
from layover.core.engine.timing import wake_at
from layover.logs.context import REQUEST_ID
from layover.ports.records import Rest
from layover.runtime.calls.calls_out import CallsOut
from layover.runtime.execution.alarm import Alarm
from layover.runtime.execution.append_builder import NOTHING_FIRST
from layover.runtime.execution.append_writer import AppendWriter
from layover.runtime.execution.command_cursor import CommandCursor
from layover.runtime.execution.decider import Decider
from layover.runtime.execution.failure_log import log_failed_attempt
from layover.runtime.execution.held_lease import HeldLease
from layover.runtime.execution.slot_queue import SlotQueue
from layover.runtime.execution.steps import Steps
from layover.runtime.execution.waiters import Waiters
from layover.runtime.execution.wake_up import WakeUp

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from layover.ports.records import Head, LeaseRow, NewExecution, Outcome
    from layover.runtime.calls.call_out import CallOut, FromCall
    from layover.runtime.execution.append_builder import First
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.host import Host
    from layover.runtime.execution.pending_append import PendingAppend
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.execution.waiters import Confirmed
    from layover.tracebacks import TracebackFrame


class ActiveExecution(Steps):
    """What the driver, the node runner and the services see of an execution that is driven here."""

    __slots__ = ("parked", "request_id", "taken_up")

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        environment: Environment,
        host: Host,
        cached: CachedState,
        lease: LeaseRow,
        *,
        lease_until: int,
        claimed: Head | None = None,
        first: First = NOTHING_FIRST,
        priority: int = 0,
        parked: bool = False,
        on_confirmed: Callable[[Confirmed], None] | None = None,
    ) -> None:
        state, loop, clock = cached.state, environment.loop, environment.clock
        calls = CallsOut(loop, clock.running, is_shut=state.facts.gate != "open")
        slot_queue, ring = SlotQueue(state), self._ring
        commands_done = claimed.commands_done if claimed is not None else 0
        decider = Decider(environment, cached, calls, parked=parked)
        writer = AppendWriter(
            environment,
            cached,
            decider=decider,
            lease=HeldLease(lease, lease_until, clock, environment.leases),
            calls=calls,
            cursor=CommandCursor(lease.execution_id, commands_done, commands_done),
            first=first,
            claimed=claimed,
            priority=priority,
        )
        super().__init__(
            environment,
            host,
            decider=decider,
            writer=writer,
            waiters=Waiters(loop, calls, on_confirmed, loop.create_future() if claimed is None else None),
            slot_queue=slot_queue,
            wake_up=WakeUp(environment, state, calls, writer.leg_buffer, slot_queue, ring, Alarm(ring, clock)),
        )
        self.parked = parked
        self.request_id = REQUEST_ID.get()  # that began this leg, if it came to this instance
        self.taken_up = False  # it was begun or resumed on another instance, where a caller may wait for it

    @property
    def owner(self) -> ActiveExecution:
        """The execution itself."""
        return self

    # What comes in

    def begin(self, claimed: Head, *inputs: cmd.AnyCommand) -> None:
        """Begin a leg, with what a claim says of the time before."""
        self.paused_at = claimed.paused_at
        self.goes_first = bool(claimed.missing)
        self.held_lease.takeovers = claimed.takeovers
        self.feed(*inputs)

    def write(self, command: FromCall) -> asyncio.Future[None]:
        """Record what a running call reports; the returned future is done when that is durable."""
        told = self.waiters.add_report(command)
        if self.held_lease.is_over:
            self.waiters.reports.give_up()
        else:
            self.feed(command)
        return told

    def start_queued(self, node_type: str, most: int) -> None:
        """Start up to so many queued calls of a node type."""
        if self.is_busy() or self.state.facts.gate != "open":
            return  # after its next step it gets in line again
        names = self._slot_queue.take(node_type, most)
        if names:
            self._slot_queue.since = 0
            self.feed(*[cmd.StartQueued(node=name) for name in names])

    def clear_takeovers(self) -> None:
        """Reset the count of takeovers."""
        self.held_lease.takeovers = 0
        if not self.is_busy():
            self.write_without_events(None)

    def _ring(self) -> None:
        if self.held_lease.is_over:
            return
        now = self._environment.clock.now()
        self.calls.count_turn()
        is_busy = self.is_busy()
        if not is_busy and (missing := self._wake_up.gave_up_slots(now)):
            self.write_without_events(Rest(wake_at=wake_at(self.state), missing=missing))
            return
        self.feed(cmd.StopDraining() if self._wake_up.is_drained(now) else cmd.Wake())
        if not self.is_busy():
            self._wake_up.set()

    # Its calls

    def _act(self, step: PendingAppend, secrets: dict[str, str]) -> None:
        """Carry out the effects: calls, timers, messages."""
        calls = self.calls
        stood_at: dict[str, Sequence[TracebackFrame]] | None = None
        if calls:
            for event in step.events:
                if isinstance(event, ev.NodeFailed | ev.NodeProbed | ev.NodeUndoFailed):
                    if (out := calls.get(event.node)) is not None:  # it timed out: its result is not awaited
                        stood_at = {**(stood_at or {}), event.node: out.frames()}
                    calls.stop(event.node)
        for effect in step.effects:
            if (
                type(effect) is MakeCall
            ):  # rows and messages were written with the events: with most effects that is all
                self._decider.slots.hand_over(effect.node_type)
                self._environment.node_runner.call(self, effect, step.at, secrets.get(effect.node))
            elif calls and isinstance(effect, StopCalls):
                calls.stop_within(effect.path)
            elif calls and isinstance(effect, StopCall):
                calls.stop(effect.node)
            elif isinstance(effect, LogFailure):
                failed = effect.event
                log_failed_attempt(self.state.facts, failed, stood_at.get(failed.node, ()) if stood_at else ())

    # The lease and the gate

    def has_lease(self) -> bool:
        """Return whether the lease is still valid: until it runs out no other instance can claim the execution."""
        return self.held_lease.is_valid()

    def expects(self, call: MakeCall) -> bool:
        """Return whether the decided state still waits for the result of a call."""
        node = self.state.nodes.rows.get(call.node)
        if node is None or self.state.facts.closed:
            return False
        return node.status == "running" and node.attempt == call.attempt

    async def expects_still(self, call: MakeCall) -> bool:
        """Return whether the state still waits for the result of a call, once that is durable or taken back."""
        while not self.expects(call) and self.is_busy() and not self.held_lease.is_over:
            await self.waiters.until_outcome()
        return self.expects(call)

    async def gate_is_open(self, out: CallOut) -> bool:
        """Let a call wait until the gate opens; return false if it is stopped instead.

        If all running calls wait here, the pause has nothing left to wait for.
        """
        while self.calls.is_shut and not out.stopped:
            held = self.calls.hold(out)
            if self._writer.in_flight is None:
                self._wake_up.set()  # else it is set after what is on its way
            await held
            out.held = None
        return not out.stopped

    def let_go(self) -> None:
        """Release an execution whose lease has run out, so that any instance can claim it."""
        self._release.put_off(self, 0)

    def drop(self) -> None:
        """Drop the execution: another instance has claimed it."""
        self._release.drop(self)

    async def at_rest(self) -> None:
        """Wait until the execution is no longer driven here: it rests, is closed, or was lost."""
        if not self.held_lease.is_over:
            await self.waiters.until_rest()

    # What is known of it

    @property
    def new(self) -> NewExecution | None:
        """What it is created with, as long as the creation is not durable."""
        return self._writer.first.new

    @property
    def created(self) -> asyncio.Future[Outcome]:
        """Done when it is known what became of its creation; there is none of what was claimed."""
        if self.waiters.created is None:
            raise AssertionError("it was created before this leg")
        return self.waiters.created

    @property
    def workflow(self) -> str:
        """The name of its workflow."""
        return self.state.plan.definition.name

    @property
    def dropped(self) -> bool:
        """Whether it is no longer driven here."""
        return self.held_lease.is_over

    @property
    def lease(self) -> LeaseRow:
        """The lease, as the store knows it."""
        return self.held_lease.record

    @property
    def epoch(self) -> int:
        """The epoch of the lease."""
        return self.held_lease.record.epoch

    @property
    def takeovers(self) -> int:
        """How many instances it lost in a row, as long as it has made no progress here."""
        return self.held_lease.takeovers

    @property
    def lease_until(self) -> int:
        """When the lease runs out."""
        return self.held_lease.until

    @lease_until.setter
    def lease_until(self, until: int) -> None:
        self.held_lease.until = until
