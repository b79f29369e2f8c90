"""The context of a call, for functions that ask for it: what they may know and do while they run.

A function asks by a parameter annotated `NodeContext`, or `SyncNodeContext` if it is not async. Records, questions and
sleeps have a key, under which the function finds the value when it runs again: after a rest, a failure or a crash.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, overload

import msgspec

from layover.errors import BadUse
from layover.logs.capture import NODE_LOGGER
from layover.masking import Masker
from layover.nodes.ask import answer_as, milliseconds, schema_for
from layover.nodes.heartbeat import Heartbeat
from layover.nodes.journal import MISSING, Journal

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from layover.nodes.ask import Length

T = TypeVar("T")

_LONGEST_TEXT: Final = 200  # characters of what is said of the progress


class CallContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The call: its execution, its node, its attempt; and the checkpoint of an earlier attempt."""

    execution_id: str
    context_id: str
    attempt: int
    restored: Any = None  # the last checkpoint, or None
    has_timeout: bool = False  # the engine stops the attempt after its node's timeout
    _journal: Journal | None = None
    _pulse: Heartbeat | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _until_done: Callable[[Future[Any]], Any] | None = None  # how a thread waits for the event loop
    _report: Callable[[float, float | None, str], None] | None = None
    _masker: Masker | None = None  # of the secrets that the call was given

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this call: the called system can recognise a repetition by it."""
        return f"{self.execution_id}/{self.context_id}"

    @property
    def fencing_token(self) -> int:
        """The attempt: every start of this node has a higher one than the last, recoveries included.

        A system that remembers the highest number it has seen for an idempotency key, and refuses lower ones, is safe
        from an abandoned call that is still running elsewhere.
        """
        return self.attempt

    def heartbeat(self) -> None:
        """Report that the function is alive; cheap, and allowed from any thread."""
        if self._pulse is not None:
            self._pulse.beat()

    @property
    def log(self) -> logging.Logger:
        """A logger: its lines carry the ids of the call, and are kept with the execution if `node_logs` is on."""
        return logging.getLogger(NODE_LOGGER)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Report how far the function is: shown live, and in no log. Cheap, from any thread; it counts as a heartbeat.

        Only the last report counts; it is read twice a second.
        """
        if not (_is_number(done) and (total is None or _is_number(total)) and isinstance(text, str)):
            raise BadUse("`progress` takes two numbers and a text: progress(done, total, text).")
        self.heartbeat()
        if self._report is not None:
            if self._masker is not None:
                text = self._masker.text(text[: _LONGEST_TEXT + self._masker.margin])
            self._report(done, total, text[:_LONGEST_TEXT])

    def _kept_by(self, method: str) -> Journal:
        if self._journal is None:
            raise BadUse(
                f"`{method}` works only while a node runs the function, not in a probe, an undo or a direct call."
            )
        return self._journal

    def _is_on_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False


class NodeContext(CallContext, frozen=True, kw_only=True, eq=False):
    """The context of a call, for async functions; other functions may read it, but need a `SyncNodeContext` to act."""

    def checkpoint(self, data: object) -> Coroutine[Any, Any, None]:
        """Store how far the function has come: the next attempt finds it as `restored`. It counts as a heartbeat."""
        journal = self._on_loop("checkpoint")
        self.heartbeat()
        return journal.checkpoint(data)

    def once(
        self, key: str, function: Callable[..., object], /, *args: object, **kwargs: object
    ) -> Coroutine[Any, Any, Any]:
        """Call a function once: its result is recorded under the key, and returned as plain JSON.

        A key with a record returns it at once. If the process dies between the effect and the record, the call is
        repeated.
        """
        return self._once(self._on_loop("once"), key, lambda: function(*args, **kwargs))

    @overload
    def ask(
        self, key: str, wanted: type[T], title: str = "", deadline: Length | None = None
    ) -> Coroutine[Any, Any, T]: ...

    @overload
    def ask(
        self, key: str, wanted: object, title: str = "", deadline: Length | None = None
    ) -> Coroutine[Any, Any, Any]: ...

    def ask(
        self, key: str, wanted: object, title: str = "", deadline: Length | None = None
    ) -> Coroutine[Any, Any, Any]:
        """Ask a person for a value of a type or of a JSON Schema; the call ends, and runs again with the answer.

        If the deadline passes without an answer, the node fails.
        """
        return _ask(self._on_loop("ask"), key, wanted, title, deadline)

    def sleep(self, length: Length, key: str | None = None) -> Coroutine[Any, Any, None]:
        """Sleep: the call ends and runs again then. Without a key, the nth sleep of a call has the key `sleep-n`."""
        return _sleep(self._on_loop("sleep"), length, key)

    async def _once(self, journal: Journal, key: str, do: Callable[[], object]) -> object:
        found = await journal.enter(key)
        if found is not MISSING:
            return found
        try:
            with journal.within(key):
                value = do()
                if inspect.isawaitable(value):
                    value = await value
            self.heartbeat()
            return await journal.record(key, value)
        finally:
            journal.leave(key)

    def _on_loop(self, method: str) -> Journal:
        journal = self._kept_by(method)
        if not self._is_on_loop():
            raise BadUse(
                f"`{method}` of a NodeContext has to be awaited on the engine's event loop, not in a thread or another "
                "loop. Use a SyncNodeContext in a function that is not async."
            )
        return journal


class SyncNodeContext(CallContext, frozen=True, kw_only=True, eq=False):
    """The context of a call, for functions that are not async: the same as a `NodeContext`, and it blocks."""

    def checkpoint(self, data: object) -> None:
        """Store how far the function has come: the next attempt finds it as `restored`. It counts as a heartbeat."""
        self.heartbeat()
        self._wait("checkpoint", lambda journal: journal.checkpoint(data))

    def once(self, key: str, function: Callable[..., object], /, *args: object, **kwargs: object) -> Any:
        """Call a function once: its result is recorded under the key, and returned as plain JSON.

        A key with a record returns it at once. If the process dies between the effect and the record, the call is
        repeated.
        """
        journal = self._kept_by("once")
        while (found := self._wait("once", lambda journal: journal.enter(key))) is MISSING and not journal.may_act():
            self._leave(journal, key)  # this thread stood still until the lease was over
        if found is not MISSING:
            return found
        try:
            with journal.within(key):
                value = function(*args, **kwargs)
            if inspect.iscoroutine(value):
                value.close()
                raise BadUse(f"The function under the key `{key}` is async: call it from an async node function.")
            self.heartbeat()
            return self._wait("once", lambda journal: journal.record(key, value))
        finally:
            self._leave(journal, key)

    @overload
    def ask(self, key: str, wanted: type[T], title: str = "", deadline: Length | None = None) -> T: ...

    @overload
    def ask(self, key: str, wanted: object, title: str = "", deadline: Length | None = None) -> Any: ...

    def ask(self, key: str, wanted: object, title: str = "", deadline: Length | None = None) -> Any:
        """Ask a person for a value of a type or of a JSON Schema; the call ends, and runs again with the answer.

        If the deadline passes without an answer, the node fails.
        """
        return self._wait("ask", lambda journal: _ask(journal, key, wanted, title, deadline))

    def sleep(self, length: Length, key: str | None = None) -> None:
        """Sleep: the call ends and runs again then. Without a key, the nth sleep of a call has the key `sleep-n`."""
        self._wait("sleep", lambda journal: _sleep(journal, length, key))

    def _leave(self, journal: Journal, key: str) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: no call waits any more
                self._loop.call_soon_threadsafe(journal.leave, key)

    def _wait(self, method: str, begin: Callable[[Journal], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the event loop, and wait for it here."""
        journal = self._kept_by(method)
        if self._loop is None or self._is_on_loop():
            raise BadUse(f"`{method}` of a SyncNodeContext would block the event loop: use a NodeContext.")
        work = begin(journal)
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            return future.result() if self._until_done is None else cast("T", self._until_done(future))
        finally:
            work.close()  # if the loop is closed, it has never begun


def masker_of(context: CallContext) -> Masker | None:
    """Return what masks the secrets that a call was given."""
    return context._masker  # noqa: SLF001 - it is no part of what functions may use


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


async def _ask(journal: Journal, key: str, wanted: object, title: str, deadline: Length | None) -> object:
    until = None if deadline is None else milliseconds(deadline)
    return answer_as(wanted, key, await journal.ask(key, title, schema_for(wanted), until))


async def _sleep(journal: Journal, length: Length, key: str | None) -> None:
    await journal.sleep(key, milliseconds(length))
