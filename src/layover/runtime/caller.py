"""Making the calls: so many at once, fair between executions, each watched, and none trusted.

A place is taken when a call is decided and given back when it ends. Nodes that find no place stay scheduled; whenever
one becomes free, the execution that has waited longest for its turn starts one of its nodes. Async functions run on the
event loop and are cancelled when nobody waits for them any more; others run in threads, which cannot be stopped and are
abandoned instead: what they return is not heard.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine.events import Error
from layover.core.errors import LayoverError
from layover.core.payloads import plain
from layover.nodes.context import NodeContext
from layover.ports.commit_points import CommitPoint, reached
from layover.runtime.threads import Threads

if TYPE_CHECKING:
    from layover.core.engine.effects import Call
    from layover.nodes.registry import Registry
    from layover.runtime.driven import Driven
    from layover.runtime.settings import Settings

_TO_CLEAN_UP = 1.0  # seconds


class Caller:
    """Runs functions for the executions that are driven here."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._threads = Threads(settings.threads)
        self._free = settings.calls
        self._free_by_type = dict(settings.calls_by_type)
        self._turns: deque[Driven] = deque()
        self._hurried = False
        self._out: dict[asyncio.Task[None], str] = {}

    # Places

    def can_run(self, node_type: str) -> bool:
        """Return whether there is a function for a node type."""
        return self._registry.has(node_type)

    def has_slot(self, node_type: str) -> bool:
        """Return whether there is a place for a call, and a function for it."""
        left = self._free_by_type.get(node_type)
        return self._free > 0 and (left is None or left > 0) and self._registry.has(node_type)

    def take_slot(self, node_type: str) -> bool:
        """Take a place for a call, if there is one."""
        left = self._free_by_type.get(node_type)
        if self._free <= 0 or (left is not None and left <= 0) or not self._registry.has(node_type):
            return False
        self._free -= 1
        if left is not None:
            self._free_by_type[node_type] = left - 1
        return True

    def give_back(self, node_type: str, places: int = 1) -> None:
        """Give places back, and let those who wait have them."""
        self._free += places
        if node_type in self._free_by_type:
            self._free_by_type[node_type] += places
        if self._turns:
            self._loop.call_soon(self._next_turn)

    def wait_turn(self, driven: Driven) -> None:
        """Put an execution that has nodes to start at the end of the line."""
        if not driven.waits_turn:
            driven.waits_turn = True
            self._turns.append(driven)
            if self._free > 0:
                self._loop.call_soon(self._next_turn)

    def stay_in_line(self, driven: Driven) -> None:
        """Keep an execution in the line that could not start a node: it is looked at when a place becomes free."""
        if not driven.waits_turn:
            driven.waits_turn = True
            self._turns.append(driven)

    def _next_turn(self) -> None:
        """Let each execution in the line start one node, as long as there are places."""
        for _ in range(len(self._turns)):
            if self._free <= 0:
                return
            driven = self._turns.popleft()
            driven.waits_turn = False
            driven.start_queued()

    # Calls

    def call(self, driven: Driven, call: Call) -> None:
        """Make a call for which a place was taken."""
        task = self._loop.create_task(self._run(driven, call), name=call.node_type)
        driven.calls[call.node] = task
        self._out[task] = call.node_type
        task.add_done_callback(self._ended)  # also if it was stopped before it began

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.give_back(self._out.pop(task))

    async def _run(self, driven: Driven, call: Call) -> None:
        told: cmd.Complete | cmd.Fail | None = None
        try:
            if not driven.has_lease():
                driven.drop()
                return
            reached(CommitPoint.CALL_STARTING)
            function = self._registry.find(call.node_type)
            context = None
            if function.context is not None:
                context = NodeContext(execution_id=driven.id, context_id=call.node, attempt=call.attempt)
            if function.is_async:
                output = await function.call(_own(call.input), context)  # type: ignore[misc]  # it is async
            else:
                copied = contextvars.copy_context()
                output = await self._threads.run(partial(copied.run, function.call, _own(call.input), context))
            told = cmd.Complete(node=call.node, attempt=call.attempt, output=plain(output))
        except asyncio.CancelledError:
            # If nobody here asked for it, it is a failure like any other.
            if driven.calls.get(call.node) is asyncio.current_task() and not self._hurried:
                told = _failure(call, asyncio.CancelledError("the call was cancelled"))
        except BaseException as error:  # noqa: BLE001 - whatever a function raises fails its node and nothing else
            told = _failure(call, error)
        if told is not None and driven.calls.get(call.node) is asyncio.current_task():
            del driven.calls[call.node]
            reached(CommitPoint.CALL_RETURNED)
            driven.feed(told)

    async def stop(self, grace: float) -> None:
        """Wait for the calls that are out, then ask them to stop, then leave them."""
        if self._out:
            await asyncio.wait(list(self._out), timeout=grace)
        self.hurry()
        if self._out:
            await asyncio.wait(list(self._out), timeout=_TO_CLEAN_UP)
        self._threads.stop()

    def hurry(self) -> None:
        """Ask every call to stop now; the next instance makes them again."""
        self._hurried = True
        for task in self._out:
            task.cancel()

    @property
    def out(self) -> int:
        """How many calls are being made."""
        return len(self._out)


def _failure(call: Call, error: BaseException) -> cmd.Fail:
    """Return what a raised error is to a workflow."""
    bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
    code = error.code if isinstance(error, LayoverError) else "failed"
    status = _trait(error, "status")
    told = Error(
        code=code,
        type=type(error).__name__,
        message=_message(error),
        retryable=_trait(error, "retryable") is not False,
        status=status if isinstance(status, int) and 0 <= status < 1_000 else None,
    )
    jitter = random.uniform(-1, 1)  # noqa: S311 - it spreads retries, it keeps no secret
    return cmd.Fail(node=call.node, attempt=call.attempt, error=told, bases=bases, jitter=jitter)


def _message(error: BaseException) -> str:
    try:
        return str(error)[:2_000].encode(errors="backslashreplace").decode()[:2_000]
    except Exception:  # noqa: BLE001 - even its text may fail
        return type(error).__name__


def _trait(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - as above
        return None


def _own(value: object) -> object:
    """Return a value that a function may do with what it likes: what is in the state stays as the log has it."""
    match value:
        case dict():
            return {key: _own(part) for key, part in value.items()}
        case list():
            return [_own(part) for part in value]
        case _:
            return value
