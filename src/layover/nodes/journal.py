"""The journal of one call: its recorded values, and its commands to the execution while it runs.

A value under a key is durable before the function gets it, so a function that runs again finds exactly the same. Asking
and sleeping end the call: the function unwinds by an exception that it must not catch, and runs again when the value is
there. Anything else that it does or returns after that is ignored, with one exception: work that is running under a key
at that moment is finished and recorded first, since it would otherwise be repeated.

Before something is done under a key, the lease is checked as before a call: an instance that stood still for longer
would do once more what another has recorded.

All of this happens on the event loop; functions in threads come here through it.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Literal, NoReturn, Protocol, TypeAlias

from layover.core.context_ids import MalformedContextId, journal_id
from layover.core.engine import commands as cmd
from layover.core.payloads import copy_plain, plain
from layover.errors import BadUse, LayoverError
from layover.nodes.callback_tokens import without_token

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from layover.masking import Masker

Kind: TypeAlias = Literal["once", "ask", "sleep"]

MISSING: Final = object()
_LONGEST_KEY = 200
_KEYS = f"A key is a text of 1 to {_LONGEST_KEY} characters without `/`"


class Unwinding(BaseException):
    """Ends a call whose function asks or sleeps; functions must not catch it."""


class CallLease(Protocol):
    """The lease under which a call is made."""

    def is_valid(self) -> bool:
        """Return whether the call still counts and no other instance can have its execution; on any thread."""

    async def renew(self) -> None:
        """Renew a lease that has run out; raises an error if it is lost, or the call no longer counts."""


class Journal:
    """The values that a call has under its keys, and its channel to the execution."""

    __slots__ = (
        "_attempt",
        "_closed",
        "_kinds",
        "_lease",
        "_node",
        "_recorded",
        "_sleeps",
        "_token",
        "_under_way",
        "_write",
        "ended",
        "masker",
    )

    def __init__(
        self,
        node: str,
        attempt: int,
        recorded: Mapping[str, object],
        write: Callable[[cmd.Record | cmd.Checkpoint], Awaitable[None]],
        lease: CallLease,
        token: str | None = None,  # which must not be stored
    ) -> None:
        self.ended: cmd.Ask | cmd.Sleep | None = None  # the command that ends the call early
        self.masker: Masker | None = None  # of secrets that the call was given, which must not be stored either
        self._node = node
        self._attempt = attempt
        self._recorded = dict(recorded)
        self._write = write
        self._lease = lease
        self._token = token
        self._kinds: dict[str, Kind] = {}
        self._under_way: dict[str, asyncio.Future[None]] = {}  # running work by key
        self._sleeps = 0
        self._closed = False

    def close(self) -> None:
        """Accept nothing more: the call is over."""
        self._closed = True

    async def checkpoint(self, data: object) -> None:
        """Store how far the function has come."""
        await self._go_on()
        kept = self._storable(data, "A checkpoint")
        await self._write(cmd.Checkpoint(node=self._node, attempt=self._attempt, data=kept))

    # Work that is done once

    async def enter(self, key: str) -> object:
        """Return the recorded value of a key, or MISSING: then the caller does the work, and others wait for it."""
        self._claim(key, "once")
        if self._is_within(key):
            raise BadUse(f"The work under the key `{key}` uses the same key again: give the inner work its own key.")
        await self._go_on()
        while key not in self._recorded:
            other = self._under_way.get(key)
            if other is None:
                self._under_way[key] = asyncio.get_running_loop().create_future()
                await self._keep_lease(key)
                return MISSING
            await asyncio.wait([other])
            await self._go_on()
        return copy_plain(self._recorded[key])

    async def _keep_lease(self, key: str) -> None:
        """Return if what is to be done under a key may be done now."""
        try:
            if not self._lease.is_valid():
                await self._lease.renew()
        except BaseException:
            self.leave(key)
            raise

    def may_act(self) -> bool:
        """Return whether the lease is still valid, on the thread that is about to do something."""
        return self._lease.is_valid()

    @contextmanager
    def within(self, key: str) -> Iterator[None]:
        """Mark the code that runs here as work under a key."""
        before = _WITHIN.set((*_WITHIN.get(), (self, key)))
        try:
            yield
        finally:
            _WITHIN.reset(before)

    async def record(self, key: str, value: object) -> object:
        """Record the result of the work under a key, and return it as a later run will find it."""
        kept = self._storable(value, f"The value for the key `{key}`")
        await self._write(cmd.Record(node=self._node, attempt=self._attempt, key=key, value=kept))
        self._recorded[key] = kept
        return copy_plain(kept)

    def leave(self, key: str) -> None:
        """End the work under a key, with or without a record."""
        self._under_way.pop(key).set_result(None)

    # Commands that end the call

    async def ask(self, key: str, title: str, schema: object, deadline: int | None) -> object:
        """Return the answer that is recorded under a key, or end the call by asking for it."""
        self._claim(key, "ask")
        await self._go_on()
        if key in self._recorded:
            return copy_plain(self._recorded[key])
        kept = self._storable(schema, f"The schema of the question `{key}`")
        title = title if self.masker is None else self.masker.text(title)
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
            raise BadUse(f"Work inside `once` can neither ask nor sleep: move the key `{command.key}` out of it.")
        self.ended = command
        await self._unwind()

    async def _go_on(self) -> None:
        """Return if the call may do more, else unwind."""
        self._refuse_if_closed()
        if self.ended is not None and not self._is_within():
            await self._unwind()

    async def _unwind(self) -> NoReturn:
        while self._under_way:
            await asyncio.wait(self._under_way.values())
        raise Unwinding("The call ends here; its function runs again when the value it waits for is there.")

    # Keys

    def _claim(self, key: object, kind: Kind) -> None:
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or "/" in key:
            raise BadUse(f"{_KEYS}: {str(key)[:_LONGEST_KEY]!r} is not one.")
        if self.masker is not None and self.masker.holds(key):
            raise BadUse("A key is stored as it is: it cannot have a secret in it.")
        try:
            journal_id(self._node, key)
        except MalformedContextId as error:
            raise BadUse(f"{_KEYS}, and without unpaired surrogates: {error.message}") from error
        was = self._kinds.setdefault(key, kind)
        if was != kind:
            raise BadUse(f"The key `{key}` is used for `{was}` and for `{kind}`: each needs a key of its own.")

    def _is_within(self, key: str | None = None) -> bool:
        """Return whether this code is part of the work under a key, or under any key."""
        return any(journal is self and key in (None, held) for journal, held in _WITHIN.get())

    def _storable(self, value: object, what: str) -> object:
        """Return a value as the log may keep it."""
        kept = _to_plain(value, what)
        if self._token is not None:
            kept = without_token(kept, self._token)
        return kept if self.masker is None else _to_plain(self.masker.data(kept), what)  # masks may be longer

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise BadUse("The call is over: its context can no longer be used.")


_WITHIN: ContextVar[tuple[tuple[Journal, str], ...]] = ContextVar("layover_within", default=())


def _to_plain(value: object, what: str) -> object:
    """Return a value as plain JSON for the log, or raise why it cannot be."""
    try:
        return plain(value)
    except LayoverError as error:
        raise BadUse(f"{what} cannot be stored. {error.message}", code=error.code) from error
