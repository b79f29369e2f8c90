"""The steps of one active execution, one after the other: decide, write, carry out.

At most one append is in flight. Commands that arrive meanwhile wait for its outcome and are decided with the next step.
If the store refuses an append because its writer had not seen all commands, the decision is undone and made again, new
commands first. If the store refuses because another instance drives the execution, the execution is dropped and its
calls are stopped; the store fences whatever they might still report.

In a workflow with leg durability, a step that is invisible from outside takes effect at once and is written later, with
the next visible step. Its effects are not undone: commands that arrive meanwhile are decided after it.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.timing import wake_at
from layover.errors import LayoverError
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.runtime.execution.append_builder import NOTHING_FIRST, is_progress
from layover.runtime.execution.append_writer import AppendTooLarge
from layover.runtime.execution.leg_log import log_failed, log_level, log_paused, log_step
from layover.runtime.execution.pending_append import PendingAppend
from layover.runtime.execution.release import Release

if TYPE_CHECKING:
    from layover.ports.records import Append, Head, Outcome, QueuedCommand, Rest
    from layover.runtime.execution.append_writer import AppendWriter
    from layover.runtime.execution.decider import Decider
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.host import Host
    from layover.runtime.execution.release import Releasable
    from layover.runtime.execution.slot_queue import SlotQueue
    from layover.runtime.execution.waiters import Waiters
    from layover.runtime.execution.wake_up import WakeUp
    from layover.tracing.tracer import LegSpan

_log = logging.getLogger("layover.active_execution")

_WITHOUT_REPORTS: Final = cmd.Wake()


class Undecidable(LayoverError):  # noqa: N818 - it says what the execution is
    """An execution whose next step can be neither decided nor written."""

    code = "undecidable"


class Steps(ABC):
    """Takes inputs, and makes one step of them after another until the execution rests or is lost.

    What others see of the execution is in `ActiveExecution`: it also says how the parts are put together.
    """

    __slots__ = (
        "_decider", "_environment", "_host", "_inputs", "_release", "_slot_queue", "_wake_up", "_writer", "calls",
        "command_cursor", "finished_at", "goes_first", "held_lease", "id", "leg_span", "log_level", "paused_at",
        "state", "waiters",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - the parts of an execution, each with one job
        self,
        environment: Environment,
        host: Host,
        *,
        decider: Decider,
        writer: AppendWriter,
        waiters: Waiters,
        slot_queue: SlotQueue,
        wake_up: WakeUp,
    ) -> None:
        self._environment = environment
        self._host = host
        self._decider = decider
        self._writer = writer
        self._slot_queue = slot_queue
        self._wake_up = wake_up
        self.waiters = waiters
        self.state = decider.state
        self.calls = writer.calls
        self.held_lease = writer.lease
        self.command_cursor = writer.cursor
        self._release = Release(host, environment.node_runner.slots, self.calls, self.held_lease, wake_up, waiters)
        self.id = self.held_lease.record.execution_id
        self._inputs: list[cmd.AnyCommand] = []
        self.finished_at: int | None = None
        self.paused_at: int | None = None
        self.log_level = log_level()  # looked up once for each leg
        self.goes_first = False  # it has waited for a place before it came here
        self.leg_span: LegSpan | None = None

    @property
    @abstractmethod
    def owner(self) -> Releasable:
        """The execution itself."""

    # What comes in

    def feed(self, *commands: cmd.AnyCommand) -> None:
        """Queue inputs; they are decided as soon as the last decision is durable."""
        self._inputs.extend(commands)
        if self._writer.in_flight is None:
            self.go()

    def hear(self, command: QueuedCommand) -> None:
        """Take a durable command from the queue."""
        if self.command_cursor.hear(command) and self._writer.in_flight is None:
            self.go()

    def is_busy(self) -> bool:
        """Return whether an append is in flight, or the execution is no longer driven here."""
        return self._writer.in_flight is not None or self.held_lease.is_over

    def write_without_events(self, rest: Rest | None) -> None:
        """Write what follows from no input: how the execution is released, or only its count of takeovers."""
        self._writer.write(PendingAppend([], [], [], rest, self._decider.now()), self._on_outcome)

    def head(self) -> Head | None:
        """Return the head after the last append of this leg, or after the claim; None before the creation."""
        return self._writer.head(self.paused_at)

    def flush(self) -> None:
        """Write the buffered events of the leg."""
        if self._writer.leg_buffer.count and not self.is_busy():
            step = PendingAppend([], [], [], None, self._decider.now())
            self._writer.write(step, self._on_outcome, is_bounded=False)

    # One step

    def go(self) -> None:
        """Decide all inputs that have arrived, and write the events."""
        if self._writer.in_flight is not None or self.held_lease.is_over:
            return
        cursor = self.command_cursor
        if cursor.ahead and cursor.has_next:
            self._inputs += cursor.in_turn()
        if cursor.unreadable is not None:
            self._release.hold_back(self.owner, cursor.unreadable)
            return
        if not self._inputs:
            return
        tried, self._inputs = self._inputs, []
        try:
            step = self._decider.decide(tried, self._decider.now())
            if not step.events:
                self._nothing_changed(step)
            elif self._writer.by_leg and not self.waiters.reports.waiting and self._writer.buffer(step):
                if self.held_lease.takeovers and is_progress(step.events):
                    self._progressed()
                if self.log_level:
                    log_step(self.state, step, self.log_level)
                self._environment.metrics.happened(step.events, self.state, was_paused=False)
                self._done(step, {})
            else:
                self._writer.write(step, self._on_outcome)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take anything else with it
            _log.exception("decision_failed execution=%s", self.id)
            ours = error if isinstance(error, AppendTooLarge) else None
            self._cannot_go_on(tried, ours or Undecidable(f"The execution {self.id} cannot go on: {error!r}"))

    def _nothing_changed(self, step: PendingAppend) -> None:
        """Rest if nothing is under way; the command changed nothing, and its sender learns that it arrived."""
        self.state.undo_log.keep()
        if self._writer.has_unnoted_commands or self._writer.is_overdue(step.at):
            self._writer.write(step, self._on_outcome)
            return
        if self.waiters.reports.waiting:
            self.waiters.tell_reports(step.tried)
        if self.state.resting and not self._writer.leg_buffer.count:
            self._release.give_back(self.owner, wake_at(self.state))

    def _done(self, step: PendingAppend, secrets: dict[str, str]) -> None:
        """Carry out a step that will not be undone, and go on."""
        state = self.state
        state.undo_log.keep()
        if self.calls.is_shut or state.facts.gate != "open":
            self.calls.set_gate(is_shut=state.facts.gate != "open")
        self._act(step, secrets)
        if state.facts.closed == "failed":
            log_failed(state, step)
        if self._decider.slots.reserved:
            self._decider.slots.give_back()
        if self.waiters.reports.waiting:
            self.waiters.tell_reports(step.tried)
        if step.rest is not None:
            if step.rest.missing and step.events:
                _log.warning("functions_missing execution=%s types=%s", self.id, ",".join(step.rest.missing))
            self._release.rest(self.owner, self._writer.cached(), step.rest)
            return
        if state.counts.rows["queued"]:
            queue = self._slot_queue
            queue.add(one.node for one in step.events if isinstance(one, ev.NodeScheduled) and one.queued)
            self._environment.node_runner.slots.wait_turn(self.owner, queue.types(), first=self.goes_first)
            self.goes_first = False
            queue.since = 0 if state.counts["calls"] else queue.since or step.at
        self._wake_up.set()
        cursor = self.command_cursor
        if self._inputs or (cursor.ahead and cursor.has_next):
            self.go()
        elif state.queue.rows and state.facts.gate == "open":  # the step was as long as one may be
            self._environment.loop.call_soon(self._continue)

    def _continue(self) -> None:
        """Go on with ready nodes, after other executions have had their turn."""
        if not self.is_busy():
            self.feed(cmd.Wake())

    @abstractmethod
    def _act(self, step: PendingAppend, secrets: dict[str, str]) -> None:
        """Carry out the effects of a step: calls, timers, messages."""

    # The outcome of an append

    def _on_outcome(self, outcome: Outcome | StoreError) -> None:
        """Handle the outcome of an append; if that raises, the execution is not kept here idle."""
        try:
            self._take(outcome)
        except Exception as error:  # noqa: BLE001 - what is durable stays so: the next leg goes on from there
            _log.exception("outcome_not_taken execution=%s", self.id)
            self.waiters.tell_creator(Undecidable(f"The execution {self.id} cannot go on: {error!r}"))
            self._release.put_off(self.owner)
        if self.waiters.outcome is not None:
            self.waiters.tell_outcome()

    def _take(self, outcome: Outcome | StoreError) -> None:
        landed, self._writer.in_flight = self._writer.in_flight, None
        if landed is None:
            raise AssertionError("an outcome came for an append that was never sent")
        step, seen, append = landed
        if isinstance(outcome, StoreError):
            self._failed(outcome, step)
        elif outcome.verdict == "passed":
            self._passed(outcome, step, append)
            if append.messages:
                self._host.post(append.messages)
            self._done(step, seen.secrets)
        elif outcome.verdict == "uninformed":
            self._undo()
            self._inputs = [*self._writer.refused(outcome, step.tried), *self._inputs]
            self.go()
        else:
            self._lost(outcome)

    def _passed(self, outcome: Outcome, step: PendingAppend, append: Append) -> None:
        """Handle an append that is durable."""
        writer, cursor = self._writer, self.command_cursor
        reached(CommitPoint.APPEND_TOLD if step.rest is None else CommitPoint.REST_TOLD)
        writer.passed(append)
        was_paused = self.paused_at is not None
        self.paused_at = self._environment.metrics.wrote(
            append, step.events, cursor.asked_at, self.paused_at, self.state
        )
        if cursor.asked_at:
            cursor.asked_at.clear()
        if self.log_level:
            log_step(self.state, step, self.log_level)
            if self.paused_at is not None and not was_paused:
                log_paused(self.state)
        if self.held_lease.takeovers and not append.keeps_takeovers:
            self._progressed()
        if append.closed is not None:
            self.finished_at = append.at if self.state.facts.closed else None
        is_new = append.new is not None
        if (is_new or step.rest is not None) and self.waiters.on_confirmed is not None:
            self.waiters.on_confirmed(self)  # now: before anything else is decided, the state is what the log says
        if writer.first is not NOTHING_FIRST:
            writer.first = NOTHING_FIRST
        if is_new:
            self.waiters.tell_creator(outcome)
        if self.id in self._environment.waited_for and (head := self.head()) is not None:
            self._host.committed(head)

    def _progressed(self) -> None:
        self.held_lease.takeovers = 0
        self._host.progressed(self.id)

    def _undo(self) -> None:
        self._decider.undo()
        self._slot_queue.clear()

    def _lost(self, outcome: Outcome) -> None:
        self._undo()
        if self._writer.first.new is not None:
            self.waiters.tell_creator(outcome)
        else:
            self._environment.metrics.leases_lost += 1
            _log.warning("lease_lost execution=%s epoch=%d", self.id, self.held_lease.record.epoch)
        self._release.drop(self.owner)

    def _failed(self, error: StoreError, step: PendingAppend) -> None:
        unreadable = self.command_cursor.unreadable
        if unreadable is not None:  # found out while others were kept from sending more
            self._undo()
            self._release.hold_back(self.owner, unreadable)
        elif isinstance(error, StoreUnavailable | StoreUnusable) and self._writer.first.new is None:
            self._undo()
            self._release.put_off(self.owner, 0)  # an instance that can reach the store goes on from what is durable
        else:
            self._cannot_go_on(step.tried, error)

    def _cannot_go_on(self, tried: list[cmd.AnyCommand], error: LayoverError) -> None:
        """Fail an execution whose next step cannot be decided or written, and keep the results that were reported.

        If that cannot be written either, it fails without those results; if even that fails, it is tried again later.
        """
        self._writer.in_flight = None
        self._undo()
        reported = [*tried, *self._inputs]
        if self._writer.first.new is not None:
            self.waiters.tell_creator(error)
            self._release.drop(self.owner)
        elif self._decider.unwritable is None:
            _log.error("execution_unwritable execution=%s error=%s", self.id, error.message, exc_info=error)
            message = f"What follows could not be written: {error.message}"
            self._decider.unwritable = ev.Error(code="unwritable", message=message, retryable=False)
            self._inputs = reported or [_WITHOUT_REPORTS]
            self.go()
        elif reported != [_WITHOUT_REPORTS]:
            self._inputs = [_WITHOUT_REPORTS]
            self.go()
        else:
            self._release.put_off(self.owner)
