"""What many ask at the same time goes to the server together: while some of it is on its way, the rest gathers."""

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
    """Asks for many at once; `ask_all` answers in their order.

    If that fails although the server can be reached, each is asked for alone: one that cannot be answered does not
    spoil the others. If it cannot be reached, all that went together are told so.
    """

    def __init__(self, ask_all: Callable[[list[A]], Awaitable[list[R]]]) -> None:
        self._ask_all = ask_all
        self._waiting: list[tuple[A, asyncio.Future[R]]] = []
        self._lanes: set[asyncio.Task[None]] = set()
        self._soon = False

    async def ask(self, one: A) -> R:
        """Ask together with whoever else asks now."""
        told: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, told))
        self._send_soon()
        return await told

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
        # Not at once: those who were just told may ask more, which then goes along.
        self._send_soon()

    async def _ask(self, group: list[tuple[A, asyncio.Future[R]]]) -> None:
        try:
            answers = await self._ask_all([one for one, _ in group])
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who asked
            if len(group) > 1 and not isinstance(error, StoreUnavailable):
                for one in group:
                    await self._ask([one])
                return
            for _, told in group:
                if not told.done():
                    told.set_exception(error)
            return
        for (_, told), answer in zip(group, answers, strict=True):
            if not told.done():  # else whoever asked gave up; what was written is written
                told.set_result(answer)
