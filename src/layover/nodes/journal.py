"""What one call has recorded, and what it tells its execution while it runs.

A value under a key is durable before the function has it, so a function that is run again finds exactly what it had.
Asking and sleeping end the call: the function unwinds by an error that is not for it to catch, and is run again when
the value is there. Whatever else it does or returns after that counts for nothing, with one exception: what is being
done under a key at that moment is finished and recorded first, since it would otherwise be done again.

All of this happens on the event loop; functions in threads come here by way of it.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias

from layover.core.context_ids import MalformedContextId, journal_id
from layover.core.engine import commands as cmd
from layover.core.errors import LayoverError
from layover.core.payloads import own, plain
from layover.nodes.callback_tokens import without_token

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

Kind: TypeAlias = Literal["once", "ask", "sleep"]

MISSING: Final = object()
_LONGEST_KEY = 200
_KEYS = f"A key is a text of 1 to {_LONGEST_KEY} characters without `/`"


class BadUse(LayoverError):  # noqa: N818 - it says what it is
    """A context that is used in a way that cannot work; trying again would not help."""

    code = "bad_use"
    retryable = False


class Unwinding(BaseException):
    """Ends a call whose function asks or sleeps; it is not for functions to catch."""


class Journal:
    """The values that a call has under its keys, and the way to its execution."""

    __slots__ = (
        "_attempt",
        "_closed",
        "_kinds",
        "_node",
        "_recorded",
        "_sleeps",
        "_token",
        "_under_way",
        "_write",
        "ended",
    )

    def __init__(
        self,
        node: str,
        attempt: int,
        recorded: Mapping[str, object],
        write: Callable[[cmd.Record | cmd.Checkpoint], Awaitable[None]],
        token: str | None = None,  # which must not be put down
    ) -> None:
        self.ended: cmd.Ask | cmd.Sleep | None = None  # by what the call ends, if not by itself
        self._node = node
        self._attempt = attempt
        self._recorded = dict(recorded)
        self._write = write
        self._token = token
        self._kinds: dict[str, Kind] = {}
        self._under_way: dict[str, asyncio.Future[None]] = {}  # what is being done, by its keys
        self._sleeps = 0
        self._closed = False

    def close(self) -> None:
        """Take nothing more: the call is over."""
        self._closed = True

    async def checkpoint(self, data: object) -> None:
        """Put down how far the function has come."""
        await self._go_on()
        kept = self._hidden(_kept(data, "A checkpoint"))
        await self._write(cmd.Checkpoint(node=self._node, attempt=self._attempt, data=kept))

    # What is done once

    async def enter(self, key: str) -> object:
        """Return what is recorded under a key, or MISSING: then it is to be done, and nobody else does it meanwhile."""
        self._claim(key, "once")
        if self._is_within(key):
            raise BadUse(f"What is done under the key `{key}` does something under the same key.")
        await self._go_on()
        while key not in self._recorded:
            other = self._under_way.get(key)
            if other is None:
                self._under_way[key] = asyncio.get_running_loop().create_future()
                return MISSING
            await asyncio.wait([other])
            await self._go_on()
        return own(self._recorded[key])

    @contextmanager
    def within(self, key: str) -> Iterator[None]:
        """Mark what runs here as done under a key."""
        before = _WITHIN.set((*_WITHIN.get(), (self, key)))
        try:
            yield
        finally:
            _WITHIN.reset(before)

    async def record(self, key: str, value: object) -> object:
        """Keep what was done under a key, and return it as it is found when the function is run again."""
        kept = self._hidden(_kept(value, f"What is recorded under the key `{key}`"))
        await self._write(cmd.Record(node=self._node, attempt=self._attempt, key=key, value=kept))
        self._recorded[key] = kept
        return own(kept)

    def leave(self, key: str) -> None:
        """End what was to be done under a key, whatever it came to."""
        self._under_way.pop(key).set_result(None)

    # What ends the call

    async def ask(self, key: str, title: str, schema: object, deadline: int | None) -> object:
        """Return the answer that is recorded under a key, or end the call by asking for it."""
        self._claim(key, "ask")
        await self._go_on()
        if key in self._recorded:
            return own(self._recorded[key])
        kept = _kept(schema, f"The schema of the question `{key}`")
        ask = cmd.Ask(node=self._node, attempt=self._attempt, key=key, title=title, schema=kept, deadline_ms=deadline)
        return await self._end(ask)

    async def sleep(self, key: str | None, length: int) -> None:
        """Return if the time under a key has passed, or end the call by sleeping."""
        if key is None:
            self._sleeps += 1
            key = f"sleep-{self._sleeps}"
        self._claim(key, "sleep")
        await self._go_on()
        if key not in self._recorded:
            await self._end(cmd.Sleep(node=self._node, attempt=self._attempt, key=key, length_ms=length))

    async def _end(self, command: cmd.Ask | cmd.Sleep) -> NoReturn:
        if self._is_within():
            raise BadUse(f"What is done once cannot rest halfway: ask or sleep under `{command.key}` outside of it.")
        self.ended = command
        await self._unwind()

    async def _go_on(self) -> None:
        """Return if the call may do something more."""
        self._refuse_if_closed()
        if self.ended is not None and not self._is_within():
            await self._unwind()

    async def _unwind(self) -> NoReturn:
        while self._under_way:
            await asyncio.wait(self._under_way.values())
        raise Unwinding("The call ends here; its function is run again when what it rests for is there.")

    # Keys

    def _claim(self, key: object, kind: Kind) -> None:
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or "/" in key:
            raise BadUse(f"{_KEYS}: {str(key)[:_LONGEST_KEY]!r} is none.")
        try:
            journal_id(self._node, key)
        except MalformedContextId as error:
            raise BadUse(f"{_KEYS}, of characters that can be written: {error.message}") from error
        was = self._kinds.setdefault(key, kind)
        if was != kind:
            raise BadUse(f"The key `{key}` is used for `{was}` and for `{kind}`: each needs a key of its own.")

    def _is_within(self, key: str | None = None) -> bool:
        """Return whether this is a part of what is done under a key, or under any."""
        return any(journal is self and key in (None, held) for journal, held in _WITHIN.get())

    def _hidden(self, kept: object) -> object:
        return kept if self._token is None else without_token(kept, self._token)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise BadUse("The call is over, and its context with it.")


_WITHIN: ContextVar[tuple[tuple[Journal, str], ...]] = ContextVar("layover_within", default=())


def _kept(value: object, what: str) -> object:
    """Return a value as it may stand in the log, or raise what cannot and why."""
    try:
        return plain(value)
    except LayoverError as error:
        raise BadUse(f"{what} cannot be kept. {error.message}", code=error.code) from error
