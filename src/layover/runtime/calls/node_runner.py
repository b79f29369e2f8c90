"""Runs node functions: a bounded number at once, fair between executions, with timeouts and heartbeats.

A call takes a slot when it is decided and gives it back when it ends; for a function that is not async, the slot has a
thread. Nodes without a slot are queued; when a slot becomes free, the execution that has waited longest starts its
share of nodes. Async functions run on the event loop and are cancelled when their result no longer counts. Others run
in threads, which cannot be stopped and are abandoned instead: their results are ignored. At the last moment, in the
thread, the runner checks once more that the call may be made. A call may also end early, because its function asks a
person or sleeps; one that has to send heartbeats and misses them is given up.
"""

from __future__ import annotations

import asyncio
import contextvars
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.payloads import own, plain
from layover.nodes.callback_tokens import with_token, without_token
from layover.nodes.context import NodeContext, SyncNodeContext
from layover.nodes.errors import failure, message_of, silence
from layover.nodes.heartbeat import Heartbeat
from layover.nodes.journal import Journal
from layover.nodes.probes import probed
from layover.ports.commit_points import CommitPoint, reached
from layover.runtime.calls.turns import Turns
from layover.runtime.calls.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from layover.core.engine.effects import Call
    from layover.nodes.context import CallContext
    from layover.nodes.registry import Function, Registry
    from layover.runtime.clock import Clock
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.machine import Machine
    from layover.runtime.settings import Settings

Told: TypeAlias = cmd.Complete | cmd.Fail | cmd.Probed | cmd.Ask | cmd.Sleep

_TO_CLEAN_UP = 1.0  # seconds
_TURNS = 8  # of the event loop: more than a result needs from its thread or its task to the execution


class NotMade(Exception):  # noqa: N818 - it says what became of the call
    """A thread found at the last moment that its call may no longer be made."""


class CallOut:
    """A call that is running, or about to."""

    __slots__ = (
        "begun_at", "call", "decided_at", "execution", "heartbeat", "held", "journal", "stopped", "token",
        "turns", "worker",
    )  # fmt: skip

    def __init__(self, execution: ActiveExecution, call: Call, decided_at: int, token: str | None = None) -> None:
        self.execution = execution
        self.call = call
        self.decided_at = decided_at  # in the time of the log
        self.begun_at: int | None = None  # when its function was entered, by the clock that never jumps
        self.held: asyncio.Future[None] | None = None  # it waits behind a closed gate
        self.turns = _TURNS  # that others have before it is given up for its timeout
        self.token = token  # by which somebody is to call back
        self.stopped = False
        self.worker: asyncio.Task[None] | None = None
        self.journal: Journal | None = None
        self.heartbeat: Heartbeat | None = None

    def __repr__(self) -> str:
        return f"CallOut({self.execution.id} {self.call.node} {self.call.attempt})"  # without its input, and its token

    def stop(self) -> None:
        """Ask it to stop. It has time to clean up; its result is ignored."""
        self.stopped = True
        if self.held is not None and not self.held.done():
            self.held.set_result(None)
        elif self.worker is not None:
            self.worker.cancel()


class NodeRunner:
    """Runs functions for the active executions."""

    def __init__(self, registry: Registry, settings: Settings, clock: Clock, machine: Machine) -> None:
        self._registry = registry
        self._loop = asyncio.get_running_loop()
        self._timers = clock.timers
        self._running = clock.running
        self._threaded = registry.threaded
        self.threads = machine.threads(settings.threads, settings.abandoned_threads, self._thread_returned)
        self._address = f"{settings.public_url.rstrip('/')}/api/v1/callbacks"
        self._chance = machine.chance if settings.jitter else None
        self._settings = settings
        self._free = settings.calls
        self._free_by_type = dict(settings.calls_by_type)
        self._turns = Turns()
        # Whoever takes up executions that wait for places is told of those that are left over, and of every other one
        # that the line here could have: are there some, and is a thread among them?
        self.on_room: Callable[[bool], None] | None = None
        self.on_begin: Callable[[CallOut], None] | None = None  # a test wants to know; on any thread
        self._freed: Literal["", "place", "thread"] = ""
        self._shared = False
        self._offering = False
        self._closed = False
        self._hurried = False
        self._out: dict[CallOut, None] = {}  # in the order in which they went out
        self._drained: asyncio.Event | None = None
        self._workers = Workers(self._make)

    # Places

    def can_run(self, node_type: str) -> bool:
        """Return whether there is a function for a node type."""
        return self._registry.has(node_type)

    def slots(self, node_type: str) -> int:
        """Return how many more calls of a node type can be made now."""
        if self._closed or not self._registry.has(node_type):
            return 0
        left = min(self._free, self._free_by_type.get(node_type, self._free))
        return max(0, min(left, self.threads.free) if node_type in self._threaded else left)

    def has_slot(self, node_type: str) -> bool:
        """Return whether there is a free slot for a call, and a function for it."""
        return self.slots(node_type) > 0

    def take_slot(self, node_type: str) -> bool:
        """Take a slot for a call, if one is free."""
        left = self._free_by_type.get(node_type)
        if self._closed or self._free <= 0 or (left is not None and left <= 0) or not self._registry.has(node_type):
            return False
        if node_type in self._threaded:
            if self.threads.free <= 0:
                return False
            self.threads.taken += 1
        self._free -= 1
        if left is not None:
            self._free_by_type[node_type] = left - 1
        return True

    def lacking(self, node_type: str) -> str:
        """Return what calls of a node type wait for here; nothing if there is no function for them."""
        if not self._registry.has(node_type):
            return ""
        most = self._settings.calls_by_type.get(node_type)
        if node_type in self._threaded and self.threads.free <= 0:
            return f"a free thread: {self.threads.shortage()}"
        if self._free <= 0:
            return f"a free place: all {self._settings.calls} are taken"
        if most is not None and self._free_by_type[node_type] <= 0:
            return f"a free place: all {most} for `{node_type}` are taken"
        return "a place to run"

    def close(self) -> None:
        """Hand out no more slots."""
        self._closed = True

    def give_back(self, node_type: str, slots: int = 1) -> None:
        """Give slots back, and offer them to waiting executions."""
        self._free += slots
        if node_type in self._free_by_type:
            self._free_by_type[node_type] += slots
        if node_type in self._threaded:
            self.threads.taken -= slots
            self._freed = "thread"
        elif not self._freed:
            self._freed = "place"
        if self._turns or self.on_room is not None:
            self._offer()

    def _thread_returned(self) -> None:
        """Offer the thread of an abandoned call, now that it has returned."""
        self._freed = "thread"
        self._offer()

    def wait_turn(self, active: ActiveExecution, node_types: Iterable[str], *, first: bool = False) -> None:
        """Queue an execution that has nodes of some types to start: at the end, or at the head."""
        for node_type in node_types:
            self._turns.add(active, node_type, first=first)
        self._offer()

    def leave_line(self, active: ActiveExecution) -> None:
        """Forget an execution that is no longer active here."""
        if self._turns:
            self._turns.remove(active)

    def _offer(self) -> None:
        """Offer free slots to waiting executions, after the current callback."""
        if not self._offering:
            self._offering = True
            self._loop.call_soon(self._next_turns)

    def _next_turns(self) -> None:
        """Let waiting executions start nodes while there are slots, each its share."""
        self._offering = False
        while self._free > 0 and (turn := self._turns.next(self.has_slot)) is not None:
            share = self.slots(turn.node_type) // (turn.others + 1)
            turn.execution.start_queued(turn.node_type, max(1, share))
        freed, self._freed = self._freed, ""
        if freed and self.on_room is not None:
            self._shared = self._free > 0 or not self._shared
            if self._shared:
                self.on_room(freed == "thread")

    # Calls

    def call(self, active: ActiveExecution, call: Call, decided_at: int, token: str | None = None) -> None:
        """Make a call that has a slot; with a token, its input says where to call back."""
        out = CallOut(active, call, decided_at, token)
        active.calls[call.node] = out
        self._out[out] = None
        self._workers.add(out)

    async def _make(self, out: CallOut, worker: asyncio.Task[None]) -> None:
        """Make a call, and see to its end."""
        call = out.call
        told: Told | None = None
        try:
            if self._may_make(out) or await self._may_still(out):
                out.worker = worker
                worker.set_name(call.node_type)
                function = (self._registry.find_probe if call.probe else self._registry.find)(call.node_type)
                if call.heartbeat is not None:
                    out.heartbeat = Heartbeat(self._timers, call.heartbeat, partial(self._give_up, out))
                context = self._context(out, function) if function.context is not None else None
                given = own(call.input) if out.token is None else self._told_the_address(out, out.token)
                if function.is_async:
                    reached(CommitPoint.CALL_STARTING)
                    output = await self._begin(out, function, given, context)  # type: ignore[misc]  # it is async
                else:
                    output = await self._in_thread(out, function, given, context)
                if out.token is None and not call.probe:
                    told = cmd.Complete(node=call.node, attempt=call.attempt, output=plain(output))
                else:
                    told = _result(out, output)
        except NotMade:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever a function raises fails its node and nothing else
            # What it does when it is stopped is nobody's business: the call is made again, or not needed any more.
            told = None if out.stopped or self._hurried else _failure(out, error)
        self._end(out, told)

    def _end(self, out: CallOut, told: Told | None) -> None:
        """Give back the slot of a call, and pass its result to its execution."""
        if out.heartbeat is not None:
            out.heartbeat.stop()
        if out.journal is not None:
            out.journal.close()
            told = out.journal.ended or told  # whatever the function made of being ended
        out.worker = None
        self._out.pop(out, None)
        if self._drained is not None and not self._out:
            self._drained.set()
        if self._turns:  # whoever waits in line comes before the next node of this execution
            self._tell(out, told)
            self.give_back(out.call.node_type)
        else:
            self.give_back(out.call.node_type)
            self._tell(out, told)

    def _may_make(self, out: CallOut) -> bool:
        """Return whether a call may be made now; on any thread."""
        active = out.execution
        if out.stopped or self._hurried or active.is_shut:
            return False
        return active.has_lease() and active.expects(out.call)

    async def _may_still(self, out: CallOut) -> bool:
        """Return whether a call may be made after all: its lease may have run out and still be ours.

        If it is not, the execution is let go of; also if the end of this call is on its way into the log, or there
        already. Behind a closed gate no call begins: it waits until that opens.
        """
        active = out.execution
        while not self._may_make(out):
            if out.stopped or self._hurried:
                return False
            regained = active.has_lease() or await active.regains_lease()
            if not regained or not active.expects(out.call):
                active.let_go()
                return False
            if not await active.gate_is_open(out):
                return False
        return True

    async def _in_thread(self, out: CallOut, function: Function, given: object, context: CallContext | None) -> object:
        """Make a call in the thread that belongs to its slot.

        None was taken for a probe that is not async if its function is. Such probes are rare: they get a thread more.
        """
        taken = out.call.node_type not in self._threaded
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
        """Call a function, on its thread; not if that stood still until the call was given up or its lease was lost."""
        reached(CommitPoint.CALL_IN_THREAD)
        if not self._may_make(out):
            raise NotMade
        reached(CommitPoint.CALL_STARTING)
        return self._begin(out, function, given, context)

    def _begin(self, out: CallOut, function: Function, given: object, context: CallContext | None) -> object:
        """Call a function, which is alive from here on; an async one returns what is to be awaited."""
        out.begun_at = self._running()
        if self.on_begin is not None:
            self.on_begin(out)
        if out.heartbeat is not None:
            out.heartbeat.beat()
        return function.call(given, context)

    def _told_the_address(self, out: CallOut, token: str) -> object:
        """Return the input of a call that is told where to call back."""
        return with_token(out.call.input, token, f"{self._address}/{token}")

    def _context(self, out: CallOut, function: Function) -> NodeContext | SyncNodeContext:
        call, active = out.call, out.execution
        if not call.probe:  # which only looks
            out.journal = Journal(call.node, call.attempt, call.journal, active.write, out.token)
        kind = SyncNodeContext if function.blocks else NodeContext
        return kind(
            execution_id=active.id,
            context_id=call.node,
            attempt=call.attempt,
            restored=own(call.checkpoint),
            has_timeout=call.timeout_at is not None,
            _journal=out.journal,
            _pulse=out.heartbeat,
            _loop=self._loop,
            _until_done=self.threads.until_done,
        )

    def _give_up(self, out: CallOut) -> None:
        """Fail a call that missed its heartbeats, and stop it."""
        call = out.call
        if out.execution.calls.get(call.node) is out and call.heartbeat is not None:
            del out.execution.calls[call.node]
            out.stop()
            out.execution.feed(self._spread(silence(call.node, call.attempt, call.heartbeat)))

    def _tell(self, out: CallOut, told: Told | None) -> None:
        active = out.execution
        if told is not None and active.calls.get(out.call.node) is out:
            del active.calls[out.call.node]
            reached(CommitPoint.CALL_RETURNED)
            active.feed(self._spread(told) if isinstance(told, cmd.Fail) else told)

    def _spread(self, told: cmd.Fail) -> cmd.Fail:
        """Return a failure as it decides about the moment of a retry: by chance, or without."""
        return told if self._chance is None else replace(told, jitter=self._chance.uniform(-1, 1))

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
    def waiting(self) -> int:
        """How many executions wait for a slot here."""
        return len(self._turns)

    @property
    def out(self) -> int:
        """How many calls are running."""
        return len(self._out)


def _result(out: CallOut, output: object) -> cmd.Complete | cmd.Probed:
    """Return the result of a probe, or of a function that knows a token, as a command to the execution."""
    call = out.call
    if call.probe:
        return probed(call.node, call.attempt, output)
    kept = plain(output)
    if out.token is not None:
        kept = without_token(kept, out.token)
    return cmd.Complete(node=call.node, attempt=call.attempt, output=kept)


def _failure(out: CallOut, error: BaseException) -> cmd.Fail | cmd.Probed:
    """Return the error of a function as a command to the execution."""
    call, message = out.call, message_of(error, out.token)
    if call.probe:
        return cmd.Probed(node=call.node, attempt=call.attempt, happened=None, problem=message)
    return failure(call.node, call.attempt, error, message)
