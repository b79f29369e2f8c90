"""Runs node functions, each in the slot that its call has taken, with timeouts and heartbeats.

Async functions run on the event loop and are cancelled when their result no longer counts. Others run in threads, which
cannot be stopped and are abandoned instead: their results are ignored. At the last moment, in the thread, the runner
checks once more that the call may be made. A call may also end early, because its function asks a person or sleeps; one
that has to send heartbeats and misses them is given up.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.payloads import copy_plain, plain
from layover.errors import BadUse
from layover.logs.context import CURRENT_CALL, STRUCTLOG, bind_structlog, unbind_structlog
from layover.nodes.callback_tokens import with_token, without_token
from layover.nodes.context import NodeContext, SyncNodeContext
from layover.nodes.errors import failure, heartbeat_failure, message_of
from layover.nodes.heartbeat import Heartbeat
from layover.nodes.journal import Journal
from layover.nodes.probes import probe_command
from layover.ports.commit_points import CommitPoint, reached
from layover.runtime.calls.call_lease import LeaseOfCall
from layover.runtime.calls.call_out import CallOut
from layover.runtime.calls.slots import CallSlots
from layover.runtime.calls.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random  # noqa: TID251 - what the machine gives is one

    from layover.core.engine.effects import MakeCall
    from layover.nodes.context import CallContext
    from layover.nodes.registry import Function, Registry
    from layover.runtime.calls.call_out import CallOwner
    from layover.runtime.calls.slots import RoomWatch
    from layover.runtime.calls.threads import Threads
    from layover.runtime.clock import Clock
    from layover.runtime.metrics import Metrics
    from layover.runtime.secrets.call_secrets import SecretSource
    from layover.runtime.settings import RuntimeSettings

CallReport: TypeAlias = cmd.Complete | cmd.Fail | cmd.Probed | cmd.Undone | cmd.Ask | cmd.Sleep

_TO_CLEAN_UP = 1.0  # seconds


class NotMade(Exception):  # noqa: N818 - it says what became of the call
    """A thread found at the last moment that its call may no longer be made."""


class CallMachine(Protocol):
    """What calls take from the machine that they run on."""

    @property
    def chance(self) -> Random:
        """Spreads the moments of retries."""

    @property
    def on_begin(self) -> Callable[[CallOut], None] | None:
        """Is told of each function that is entered; on any thread."""

    def threads(self, most: int, replaced: int, on_return: Callable[[], None]) -> Threads:
        """Return threads for functions that are not async."""


class CallReports(Protocol):
    """Takes what functions report while they run."""

    def report(self, out: CallOut, done: float, total: float | None, text: str) -> None:
        """Take how far a call is; on any thread."""

    def end(self, out: CallOut) -> None:
        """Note that a call which reported has ended."""


class LineKeeper(Protocol):
    """Keeps what functions log while they run."""

    def capture(self, out: CallOut) -> None:
        """Keep what a call is going to log."""

    def end(self, out: CallOut) -> None:
        """Note that the call has ended."""


class NodeRunner:
    """Runs functions for the active executions."""

    reports: CallReports | None = None
    line_keeper: LineKeeper | None = None
    secrets: SecretSource | None = None

    def __init__(
        self,
        registry: Registry,
        settings: RuntimeSettings,
        clock: Clock,
        machine: CallMachine,
        room: RoomWatch,
        metrics: Metrics,
    ) -> None:
        self.slots = CallSlots(registry, settings, machine.threads, room)
        self.threads = self.slots.threads
        self._registry = registry
        self._find = {"work": registry.find, "probe": registry.find_probe, "undo": registry.find_undo}
        self.undos = registry.undos
        self._loop = asyncio.get_running_loop()
        self._timers = clock.timers
        self._running = clock.running
        self._address = f"{settings.public_url.rstrip('/')}/api/v1/callbacks"
        self._chance = machine.chance if settings.jitter else None
        self._metrics = metrics
        self._on_begin = machine.on_begin
        self._hurried = False
        self._out: dict[CallOut, None] = {}  # in the order in which they went out
        self._drained: asyncio.Event | None = None
        self._workers = Workers(self._make)

    def call(self, active: CallOwner, call: MakeCall, decided_at: int, token: str | None = None) -> None:
        """Make a call that has a slot; with a token, its input contains the callback address."""
        out = CallOut(active, call, decided_at, token)
        active.calls[call.node] = out
        self._out[out] = None
        if self.line_keeper is not None:
            self.line_keeper.capture(out)
        self._workers.add(out)

    async def _make(self, out: CallOut, worker: asyncio.Task[None]) -> None:
        """Make a call, and handle its end."""
        call = out.call
        report: CallReport | None = None
        current = CURRENT_CALL.set(out)
        bound = bind_structlog(out) if STRUCTLOG in sys.modules else None
        try:
            may_make = self._may_make(out) or await self._may_still(out)
            if may_make and (not call.secrets or await self._gets_secrets(out)):
                out.worker = worker
                worker.set_name(call.node_type)
                if (leg_span := out.execution.leg_span) is not None:
                    out.span = leg_span.begin_attempt(call.node, call.node_type, call.attempt, call.purpose)
                function = self._find[call.purpose](call.node_type)
                if call.heartbeat is not None:
                    out.heartbeat = Heartbeat(self._timers, call.heartbeat, partial(self._give_up, out))
                context = self._context(out, function) if function.context is not None else None
                is_plain = out.token is None and out.secrets is None  # it is given nothing that the log must not have
                given = copy_plain(call.input) if is_plain else self._filled_input(out)
                if function.is_async:
                    reached(CommitPoint.CALL_STARTING)
                    output = await self._begin(out, function, given, context)  # type: ignore[misc]  # it is async
                else:
                    output = await self._in_thread(out, function, given, context)
                if is_plain and call.purpose == "work":
                    report = cmd.Complete(node=call.node, attempt=call.attempt, output=plain(output))
                else:
                    report = _result(out, output)
        except NotMade:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever a function raises fails its node and nothing else
            # The result of a call that was stopped does not matter: it is made again, or no longer needed.
            report = None if out.stopped or self._hurried else self._failure(out, error)
        finally:
            try:
                CURRENT_CALL.reset(current)
                if bound is not None:
                    unbind_structlog(bound)
            except ValueError:  # a coroutine that is closed by the end of its loop ends in another context
                pass
        self._end(out, report)

    def _end(self, out: CallOut, report: CallReport | None) -> None:
        """Give back the slot of a call, and pass its result to its execution."""
        if out.heartbeat is not None:
            out.heartbeat.stop()
        if out.journal is not None:
            out.journal.close()
            report = out.journal.ended or report  # also if the function caught the unwinding
        if out.span is not None:
            out.span.end(*_outcome(out, report))
        if (began := out.begun_at) is not None:
            self._metrics.attempted(out.call.node_type, report, (self._running() - began) / 1000)
        out.worker = None
        if out.secrets is not None:
            out.secrets.release()
        if out.progress is not None and self.reports is not None:
            self.reports.end(out)
        if self.line_keeper is not None:
            self.line_keeper.end(out)
        self._out.pop(out, None)
        if self._drained is not None and not self._out:
            self._drained.set()
        if self.slots.queue:  # queued executions come before the next node of this one
            self._tell(out, report)
            self.slots.give_back(out.call.node_type)
        else:
            self.slots.give_back(out.call.node_type)
            self._tell(out, report)

    def _failure(self, out: CallOut, error: BaseException) -> cmd.Fail | cmd.Probed:
        """Return the error of a function as a command to the execution."""
        call, masker = out.call, out.masker
        if call.purpose == "probe":
            problem = message_of(error, out.token, masker)
            return cmd.Probed(node=call.node, attempt=call.attempt, happened=None, problem=problem)
        known = self._registry.find(call.node_type).function if self._registry.has(call.node_type) else None
        failed = failure(call.node, call.attempt, error, token=out.token, masker=masker, function=known)
        return failed if out.secrets is None else out.secrets.mask(failed)

    def _may_make(self, out: CallOut) -> bool:
        """Return whether a call may be made now; on any thread."""
        active = out.execution
        if out.stopped or self._hurried or active.calls.is_shut:
            return False
        return active.held_lease.is_valid() and active.expects(out.call)

    async def _may_still(self, out: CallOut) -> bool:
        """Return whether a call may be made after all: its lease may have run out and still be ours.

        If it is not, the execution is let go of; also if the end of this call is in the log, or on its way there.
        Behind a closed gate no call starts: it waits until the gate opens.
        """
        active = out.execution
        while not self._may_make(out):
            if out.stopped or self._hurried:
                return False
            regained = active.held_lease.is_valid() or await active.held_lease.regain()
            if not regained or not active.expects(out.call):
                active.let_go()
                return False
            if not await active.gate_is_open(out):
                return False
        return True

    async def _gets_secrets(self, out: CallOut) -> bool:
        """Give a call its secrets; return whether it may still be made, since asking for them takes time."""
        if self.secrets is None:
            raise BadUse("This engine has no secrets.")
        while True:
            out.give_secrets(await self.secrets.of_call(out.execution.workflow, out.call.secrets))
            if self._may_make(out):
                return True
            out.give_secrets(None)  # it may have to wait for long
            if not await self._may_still(out):
                return False

    async def _in_thread(self, out: CallOut, function: Function, given: object, context: CallContext | None) -> object:
        """Make a call in the thread that belongs to its slot.

        A probe or an undo that is not async has no thread if the function of its node is async. Such calls are rare:
        they get one more.
        """
        taken = out.call.node_type not in self._registry.threaded
        self.threads.taken += taken
        try:
            while True:
                work = partial(contextvars.copy_context().run, self._enter, out, function, given, context)
                try:
                    return await self.threads.run(work)
                except NotMade:
                    if not await self._may_still(out):
                        raise
        finally:
            self.threads.taken -= taken

    def _enter(self, out: CallOut, function: Function, given: object, context: CallContext | None) -> object:
        """Call a function on its thread, unless the call was given up or its lease lost in the meantime."""
        reached(CommitPoint.CALL_IN_THREAD)
        if not self._may_make(out):
            raise NotMade
        reached(CommitPoint.CALL_STARTING)
        return self._begin(out, function, given, context)

    def _begin(self, out: CallOut, function: Function, given: object, context: CallContext | None) -> object:
        """Call a function, whose heartbeats count from here; an async one returns an awaitable."""
        out.begun_at = self._running()
        if (calls := out.execution.calls).on_entered is not None:
            calls.entered()
        if self._on_begin is not None:
            self._on_begin(out)
        if out.heartbeat is not None:
            out.heartbeat.beat()
        return function.call(given, context)

    def _filled_input(self, out: CallOut) -> object:
        """Return the input of a call with its callback address and its secrets in it."""
        given, token = out.call.input, out.token
        given = copy_plain(given) if token is None else with_token(given, token, f"{self._address}/{token}")
        return given if out.secrets is None else out.secrets.fill(given)

    def _context(self, out: CallOut, function: Function) -> NodeContext | SyncNodeContext:
        call, active = out.call, out.execution
        if call.purpose == "work":  # a probe and an undo have no journal
            lease = LeaseOfCall(out)
            out.journal = Journal(call.node, call.attempt, call.journal, active.write, lease, out.token)
            out.journal.masker = out.masker
        kind = SyncNodeContext if function.blocks else NodeContext
        return kind(
            execution_id=active.id,
            context_id=call.node,
            attempt=call.attempt,
            restored=copy_plain(call.checkpoint),
            has_timeout=call.timeout_at is not None,
            _journal=out.journal,
            _pulse=out.heartbeat,
            _loop=self._loop,
            _until_done=self.threads.until_done,
            _report=partial(self.reports.report, out) if self.reports is not None else None,
            _masker=out.masker,
        )

    def _give_up(self, out: CallOut) -> None:
        """Fail a call that missed its heartbeats, and stop it."""
        call = out.call
        if out.execution.calls.get(call.node) is out and call.heartbeat is not None:
            stood_at = out.frames()
            out.execution.calls.stop(call.node)
            out.execution.feed(self._spread(heartbeat_failure(call.node, call.attempt, call.heartbeat, stood_at)))

    def _tell(self, out: CallOut, report: CallReport | None) -> None:
        active = out.execution
        if report is not None and active.calls.get(out.call.node) is out:
            del active.calls[out.call.node]
            if active.calls.on_entered is not None:
                active.calls.look_again()
            reached(CommitPoint.CALL_RETURNED)
            active.feed(self._spread(report) if isinstance(report, cmd.Fail) else report)

    def _spread(self, report: cmd.Fail) -> cmd.Fail:
        """Return a failure with jitter for its retry, or without."""
        return report if self._chance is None else replace(report, jitter=self._chance.uniform(-1, 1))

    async def stop(self, grace: float) -> None:
        """Wait for the calls that are out, then ask them to stop, then leave them."""
        await self._wait_for_calls(grace)
        self.hurry()
        await self._wait_for_calls(_TO_CLEAN_UP)
        self.dismiss()

    def dismiss(self) -> None:
        """End idle workers and threads."""
        self._workers.stop()
        self.threads.stop()

    async def _wait_for_calls(self, longest: float) -> None:
        if self._out:
            self._drained = asyncio.Event()
            with suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await self._drained.wait()

    def hurry(self) -> None:
        """Ask every call to stop now; the next instance makes them again."""
        self._hurried = True
        for out in list(self._out):
            out.stop()

    @property
    def out(self) -> int:
        """How many calls are running."""
        return len(self._out)


def _result(out: CallOut, output: object) -> cmd.Complete | cmd.Probed | cmd.Undone:
    """Return the result of a probe, an undo, or a function that knows a token or a secret, as a command."""
    call = out.call
    if call.purpose == "undo":
        return cmd.Undone(node=call.node, attempt=call.attempt)
    if call.purpose == "probe":
        probed = probe_command(call.node, call.attempt, output)
        return probed if out.secrets is None else out.secrets.mask(probed)
    kept = plain(output)
    if out.token is not None:
        kept = without_token(kept, out.token)
    if out.masker is not None:
        kept = plain(out.masker.data(kept))  # masks may be longer than what they hide
    return cmd.Complete(node=call.node, attempt=call.attempt, output=kept)


def _outcome(out: CallOut, report: CallReport | None) -> tuple[str, str]:
    """Return what became of a call in one word, and the type of its error."""
    match report:
        case None:
            return "stopped", ""  # its result does not matter: it is made again, or no longer needed
        case cmd.Complete():
            return "handed_over" if out.call.point else "completed", ""
        case cmd.Fail():
            return "failed", report.error.type or report.error.code
        case cmd.Ask():
            return "asked", ""
        case cmd.Sleep():
            return "slept", ""
        case cmd.Probed():
            return "probed", ""
        case cmd.Undone():
            return "undone", ""
