"""Requests in batches: while one batch is on its way to the server, the next gathers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from layover.ports.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

A = TypeVar("A")
R = TypeVar("R")

_LANES = 2
_MOST_AT_ONCE = 100


class Batcher(Generic[A, R]):
    """Sends requests in batches; `ask_all` returns one result for each, in the same order.

    If a batch fails although the server can be reached, each request is sent alone: one bad request does not spoil the
    others. If the server cannot be reached, the whole batch fails.
    """

    def __init__(self, ask_all: Callable[[list[A]], Awaitable[list[R]]]) -> None:
        self._ask_all = ask_all
        self._waiting: list[tuple[A, asyncio.Future[R]]] = []
        self._lanes: set[asyncio.Task[None]] = set()
        self._soon = False

    async def ask(self, one: A) -> R:
        """Send a request with the next batch."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, done))
        self._send_soon()
        return await done

    def _send_soon(self) -> None:
        if not self._soon:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._soon = False
        while self._waiting and len(self._lanes) < _LANES:
            group, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            lane = asyncio.get_running_loop().create_task(self._ask(group))
            self._lanes.add(lane)
            lane.add_done_callback(self._lane_is_free)

    def _lane_is_free(self, lane: asyncio.Task[None]) -> None:
        self._lanes.discard(lane)
        # Not at once: callers that just got a result may send more, which then joins the batch.
        self._send_soon()

    async def _ask(self, group: list[tuple[A, asyncio.Future[R]]]) -> None:
        try:
            answers = await self._ask_all([one for one, _ in group])
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who asked
            if len(group) > 1 and not isinstance(error, StoreUnavailable):
                for one in group:
                    await self._ask([one])
                return
            for _, done in group:
                if not done.done():
                    done.set_exception(error)
            return
        for (_, done), answer in zip(group, answers, strict=True):
            if not done.done():  # else the caller has given up; a write is done all the same
                done.set_result(answer)
