"""Callers that wait until an execution reaches a condition.

Commits of this process wake their waiters at once, without a query. Commits of other processes are found by polling,
with one query for all executions that are waited for, not one per waiter. A new waiter is polled for at once, soon
after, and then less and less often; waiters with the same pause share a query. Executions that are active here need no
query while the lease lasts.

While the store cannot be reached, waiters keep waiting: the query is repeated until the store is back.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from layover.errors import Closed
from layover.ports.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import Head
    from layover.ports.store import Store
    from layover.runtime.dispatch.change_teller import ChangeTeller

T = TypeVar("T")

_FIRST_LOOK = 0.05  # seconds
_FIRST_RETRY = 0.05
_LONGEST_RETRY = 1.0
_MOST_AT_ONCE = 500  # heads in one statement

_log = logging.getLogger("layover.listeners")


class _Waiter:
    """A caller that waits for an execution."""

    __slots__ = ("pause", "told", "wanted")

    def __init__(self, wanted: Callable[[Head], bool], told: asyncio.Future[Head | None], pause: float) -> None:
        self.wanted = wanted
        self.told = told
        self.pause = pause  # until the look after the next one


class Listeners:
    """Wakes waiters when their condition holds."""

    def __init__(
        self,
        store: Store,
        own_head: Callable[[str], Head | None],
        *,
        longest_pause: int,
        change_teller: ChangeTeller,
    ) -> None:
        self._store = store
        self._change_teller = change_teller
        self._loop = asyncio.get_running_loop()
        self._longest = longest_pause / 1000
        self._own_head = own_head  # of what this instance drives
        self.waiting: dict[str, list[_Waiter]] = {}
        self.watchers: list[Callable[[str], None]] = []  # each is told the id of whatever changes, and returns at once
        self._changed: dict[str, None] = {}  # executions to look at now, in their order
        self._look: asyncio.Task[None] | None = None
        self._is_store_away = False
        self._rounds: dict[float, list[tuple[str, _Waiter]]] = {}  # by the moments at which they are looked for

    def __contains__(self, execution_id: object) -> bool:
        """Return whether a caller wants to know of a commit of an execution."""
        return execution_id in self.waiting or bool(self.watchers) or self._change_teller.is_wanted

    def changed(self, execution_id: str) -> None:
        """Query an execution that has changed, if a caller waits for it."""
        self._tell(execution_id)
        if execution_id in self.waiting:
            self._changed[execution_id] = None
            if self._look is None:
                self._look = self._loop.create_task(self._look_at_changed())

    def committed(self, head: Head) -> None:
        """Wake the waiters of an execution after a commit of this instance."""
        self._tell(head.execution_id)
        self._change_teller.committed(head.execution_id)
        self._wake_waiters([head.execution_id], [head])

    async def until(self, execution_id: str, wanted: Callable[[Head], bool]) -> Head | None:
        """Return the head of an execution once the condition holds; None if there is no such execution."""
        head = self._own_head(execution_id)
        needs_query = head is None or wanted(head)  # only the store knows of commands that were not heard of here
        waiter = _Waiter(wanted, self._loop.create_future(), _FIRST_LOOK)
        self.waiting.setdefault(execution_id, []).append(waiter)
        if needs_query:
            self.changed(execution_id)
        self._look_later(execution_id, waiter)
        try:
            return await waiter.told
        finally:
            others = self.waiting[execution_id]
            others.remove(waiter)
            if not others:
                del self.waiting[execution_id]

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read from the store for a waiter; retry while the store cannot be reached."""
        pause = _FIRST_RETRY
        while True:
            try:
                found = await read()
            except StoreUnavailable as error:
                if error.code == "closed":
                    raise Closed("The engine was stopped while someone waited.") from error
                if not self._is_store_away:  # thousands may wait: one line says it until a read succeeds
                    _log.warning("read_failed error=%s", error.message)
                self._is_store_away = True
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_RETRY)
            else:
                self._is_store_away = False
                return found

    def _tell(self, execution_id: str) -> None:
        for watch in self.watchers:
            watch(execution_id)

    # Looking

    async def _look_at_changed(self) -> None:
        """Query changed executions until none is left."""
        try:
            while ids := list(self._changed)[:_MOST_AT_ONCE]:
                for id_ in ids:
                    del self._changed[id_]
                try:
                    self._wake_waiters(ids, await self.patiently(partial(self._store.queries.read_heads, ids)))
                except Exception as error:  # noqa: BLE001 - it belongs to those who wait
                    self._fail(ids, error)
        finally:
            self._look = None

    def _wake_waiters(self, ids: list[str], heads: list[Head | None]) -> None:
        """Wake the waiters whose condition holds for a head."""
        for id_, head in zip(ids, heads, strict=True):
            for waiter in self.waiting.get(id_, ()):
                if waiter.told.done():
                    continue
                try:
                    if head is None or waiter.wanted(head):
                        waiter.told.set_result(head)
                except Exception as error:  # noqa: BLE001 - a fault of the one who asked
                    waiter.told.set_exception(error)

    def _fail(self, ids: list[str], error: Exception) -> None:
        for id_ in ids:
            for waiter in self.waiting.get(id_, ()):
                if not waiter.told.done():
                    waiter.told.set_exception(error)

    # What happens elsewhere

    def _look_later(self, execution_id: str, waiter: _Waiter) -> None:
        """Poll for a waiter after its pause, together with other waiters of the same pause."""
        at = (self._loop.time() // waiter.pause + 1) * waiter.pause
        waiter.pause = min(waiter.pause * 2, self._longest)
        together = self._rounds.get(at)
        if together is None:
            together = self._rounds[at] = []
            self._loop.call_at(at, self._look_around, at)
        together.append((execution_id, waiter))

    def _look_around(self, at: float) -> None:
        """Look at what is waited for and driven elsewhere, or not at all."""
        for execution_id, waiter in self._rounds.pop(at):
            if waiter.told.done():
                continue
            if self._own_head(execution_id) is None:
                self.changed(execution_id)
            self._look_later(execution_id, waiter)
