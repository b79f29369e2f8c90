"""What a function may know about the call that is being made, and do while it runs, if it asks for it.

A function says so by a parameter annotated `NodeContext`, or `SyncNodeContext` if it is not async. What it records,
asks and sleeps has a key, under which the function finds it when it is run again: after a rest, a failure or a crash.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import msgspec

from layover.nodes.ask import answer_as, milliseconds, schema_for
from layover.nodes.heartbeat import Heartbeat
from layover.nodes.journal import MISSING, BadUse, Journal

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from layover.nodes.ask import Length

T = TypeVar("T")


class CallContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The call: which execution, which node, which attempt; and how far an earlier attempt has come."""

    execution_id: str
    context_id: str
    attempt: int
    restored: Any = None  # the last checkpoint, or None
    has_timeout: bool = False  # the engine stops the attempt when it takes longer than its node allows
    _journal: Journal | None = None
    _pulse: Heartbeat | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _until_done: Callable[[Future[Any]], Any] | None = None  # how a thread waits for the event loop

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this call: a system that is called twice with it can tell."""
        return f"{self.execution_id}/{self.context_id}"

    @property
    def fencing_token(self) -> int:
        """The attempt: every start of this node has a higher one than the last, recoveries included.

        A system that remembers the highest number it has seen for an idempotency key, and refuses lower ones, is safe
        from a call that was given up long ago and is still running somewhere.
        """
        return self.attempt

    def heartbeat(self) -> None:
        """Say that the function is alive; cheap, and allowed from any thread."""
        if self._pulse is not None:
            self._pulse.beat()

    def _kept_by(self, method: str) -> Journal:
        if self._journal is None:
            raise BadUse(f"`{method}` is for a function that a node calls; a probe, or a test of it, has no journal.")
        return self._journal

    def _is_on_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False


class NodeContext(CallContext, frozen=True, kw_only=True, eq=False):
    """The call that is being made, for async functions; others may read it, and need a `SyncNodeContext` to act."""

    def checkpoint(self, data: object) -> Coroutine[Any, Any, None]:
        """Put down how far the function has come: the next attempt finds it as `restored`. It counts as a heartbeat."""
        journal = self._on_loop("checkpoint")
        self.heartbeat()
        return journal.checkpoint(data)

    def once(
        self, key: str, function: Callable[..., object], /, *args: object, **kwargs: object
    ) -> Coroutine[Any, Any, Any]:
        """Do something once: what the function returns is recorded under the key, and comes back as JSON has it.

        A key that is recorded answers at once. If the process dies between the effect and the record, it is done again.
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
        """Ask a person for a value of a type, or for what fits a JSON Schema; the call ends until they have answered.

        If nobody has when the deadline passes, the node fails.
        """
        return _ask(self._on_loop("ask"), key, wanted, title, deadline)

    def sleep(self, length: Length, key: str | None = None) -> Coroutine[Any, Any, None]:
        """Let time pass; the call ends until then. Without a key, the nth sleep of a function has the key `sleep-n`."""
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
                f"`{method}` of a NodeContext is awaited where the engine runs; this is a thread, or another event "
                "loop. A function that is not async takes a SyncNodeContext."
            )
        return journal


class SyncNodeContext(CallContext, frozen=True, kw_only=True, eq=False):
    """The call that is being made, for functions that are not async: the same as a `NodeContext`, and it blocks."""

    def checkpoint(self, data: object) -> None:
        """Put down how far the function has come: the next attempt finds it as `restored`. It counts as a heartbeat."""
        self.heartbeat()
        self._wait("checkpoint", lambda journal: journal.checkpoint(data))

    def once(self, key: str, function: Callable[..., object], /, *args: object, **kwargs: object) -> Any:
        """Do something once: what the function returns is recorded under the key, and comes back as JSON has it.

        A key that is recorded answers at once. If the process dies between the effect and the record, it is done again.
        """
        found = self._wait("once", lambda journal: journal.enter(key))
        if found is not MISSING:
            return found
        journal = self._kept_by("once")
        try:
            with journal.within(key):
                value = function(*args, **kwargs)
            if inspect.iscoroutine(value):
                value.close()
                raise BadUse(f"What is done under the key `{key}` is async; only an async function can await it.")
            self.heartbeat()
            return self._wait("once", lambda journal: journal.record(key, value))
        finally:
            if self._loop is not None:
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    self._loop.call_soon_threadsafe(journal.leave, key)

    @overload
    def ask(self, key: str, wanted: type[T], title: str = "", deadline: Length | None = None) -> T: ...

    @overload
    def ask(self, key: str, wanted: object, title: str = "", deadline: Length | None = None) -> Any: ...

    def ask(self, key: str, wanted: object, title: str = "", deadline: Length | None = None) -> Any:
        """Ask a person for a value of a type, or for what fits a JSON Schema; the call ends until they have answered.

        If nobody has when the deadline passes, the node fails.
        """
        return self._wait("ask", lambda journal: _ask(journal, key, wanted, title, deadline))

    def sleep(self, length: Length, key: str | None = None) -> None:
        """Let time pass; the call ends until then. Without a key, the nth sleep of a function has the key `sleep-n`."""
        self._wait("sleep", lambda journal: _sleep(journal, length, key))

    def _wait(self, method: str, begin: Callable[[Journal], Coroutine[Any, Any, T]]) -> T:
        """Have something done on the event loop, and wait for it here."""
        journal = self._kept_by(method)
        if self._loop is None or self._is_on_loop():
            raise BadUse(f"`{method}` of a SyncNodeContext blocks, and nothing may block here; take a NodeContext.")
        work = begin(journal)
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            return future.result() if self._until_done is None else cast("T", self._until_done(future))
        finally:
            work.close()  # if the loop is closed, it has never begun


async def _ask(journal: Journal, key: str, wanted: object, title: str, deadline: Length | None) -> object:
    until = None if deadline is None else milliseconds(deadline)
    return answer_as(wanted, key, await journal.ask(key, title, schema_for(wanted), until))


async def _sleep(journal: Journal, length: Length, key: str | None) -> None:
    await journal.sleep(key, milliseconds(length))
