"""Driving everything to its end: whatever is waited for is brought, and what would wait for ever is cancelled."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from layover.core.engine.signals import awaited_signals
from layover.errors import NotFound
from layover.ports.errors import StoreUnavailable
from layover.ports.records import CLOSED
from layover.ports.view_records import ExecutionFilter, PointFilter
from layover.runtime.execution.outbox_messages import ADMIT

from .random_operations import OPEN, PEOPLE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import PointRow
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.runtime import Runtime

    from .random_operations import RandomOperations

_STERNLY = 40  # seconds in which what is cancelled must come to its end
_PAUSE = 0.2
_SECOND_LOOK = 3
_AT_ONCE = 10
_IN_A_ROW = 3
_EVER = 2**62


class Finish:
    """Brings executions to their ends."""

    def __init__(self, engine: Runtime, operations: RandomOperations, kindly: float) -> None:
        self._engine = engine
        self._operations = operations
        self._kindly = kindly
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def finish(self, say: Callable[[str], None]) -> list[str]:
        """Bring all to their ends; return those that do not come to it."""
        await self._store_answers()
        left = await self._until(self._kindly, self._help_on)
        if left:
            why: Counter[str] = Counter()
            for row in left:
                why.update(await self._reasons(row) or ["nothing"])
            say(f"{len(left)} executions would go on, and are cancelled; they wait for: {dict(why)}")
            await self._find_unexplained(left)
            left = await self._until(_STERNLY, self._cancel)
        if not left and not await self._has_sent_all():
            self._operations.problems.append("messages are left in the outbox, although all executions are closed")
        return [row.head.execution_id for row in left]

    async def _store_answers(self) -> None:
        """Return when a server that was away is found again by all of our connections."""
        found = 0
        while found < _IN_A_ROW:
            try:
                await asyncio.gather(*(self._engine.lists.counts() for _ in range(_AT_ONCE)))
                found += 1
            except StoreUnavailable:
                found = 0
                await asyncio.sleep(_PAUSE)

    async def _reasons(self, row: ExecutionRow) -> list[str]:
        """Return the kinds of what an execution waits for."""
        try:
            return [reason.kind for reason in (await self._engine.queries.why(row.head.execution_id)).reasons]
        except NotFound:
            return ["purged"]

    async def _find_unexplained(self, left: list[ExecutionRow]) -> None:
        """Note every execution that stands still, and cannot say why: not even on a second look."""
        suspects = [row for row in left if not await self._reasons(row)]
        await asyncio.sleep(_SECOND_LOOK if suspects else 0)
        for row in suspects:
            found = await self._engine.instance.store.queries.find_execution(row.head.execution_id)
            if found is not None and found.head == row.head and not await self._reasons(found):
                self._operations.problems.append(f"{row.head.execution_id} stands still, and cannot say why")

    async def _until(
        self, seconds: float, help_on: Callable[[list[ExecutionRow]], Awaitable[None]]
    ) -> list[ExecutionRow]:
        end = monotonic() + seconds
        while True:
            left = await self._open()
            if not left or monotonic() > end:
                return left
            await help_on(left)
            await asyncio.sleep(_PAUSE)

    async def _open(self) -> list[ExecutionRow]:
        store = self._engine.instance.store
        found: list[ExecutionRow] = []
        after: tuple[int, str] | None = None
        while page := await store.queries.list_executions(ExecutionFilter(status=OPEN, after=after, limit=500)):
            found += page
            after = (page[-1].info.created_at, page[-1].head.execution_id)
        return [row for row in found if row.head.status not in CLOSED]

    async def _help_on(self, left: list[ExecutionRow]) -> None:
        store = self._engine.instance.store
        points = await store.queries.list_points(PointFilter(status=("open",), limit=2_000))
        paused = [row.head.execution_id for row in left if row.head.status in ("paused", "pausing")]
        waiting = [row.head.execution_id for row in left if row.head.status in ("paused", "waiting")]
        await asyncio.gather(
            *(self._do("finish answer", partial(self._bring, row)) for row in points),
            *(self._do("finish resume", partial(self._engine.control.resume, id_)) for id_ in paused),
            *(self._do("finish retry", partial(self._engine.control.retry, id_)) for id_ in waiting),
        )

    async def _cancel(self, left: list[ExecutionRow]) -> None:
        cancels = (partial(self._engine.control.cancel, row.head.execution_id, "the torture is over") for row in left)
        await asyncio.gather(*(self._do("finish cancel", one) for one in cancels))

    async def _do(self, name: str, deed: Callable[[], Awaitable[object]]) -> None:
        async with self._places:
            await self._operations.attempt(name, deed)

    async def _bring(self, row: PointRow) -> None:
        """Bring what a point waits for."""
        point = row.point
        match point.kind:
            case "approval" | "form":
                for by in PEOPLE:
                    await self._do_quietly(partial(self._operations.answer, row, by, approved=True))
            case "signal":
                for name, key in awaited_signals(point):
                    await self._engine.signals.deliver(name, key, 1)
            case "callback":
                await self._engine.callbacks.reply(point=point.id, output={"n": 2})
            case _:
                pass

    async def _do_quietly(self, deed: Callable[[], Awaitable[object]]) -> None:
        await self._operations.attempt("finish answer", deed)

    async def _has_sent_all(self) -> bool:
        """Wait until nothing is on its way any more."""
        store, end = self._engine.instance.store, monotonic() + _STERNLY
        # Who waited for a moment to start and was closed before keeps its question until then; it does no harm.
        while any(one.kind != ADMIT for one in (await store.outbox.read_due(_EVER, 10_000)).due):
            if monotonic() > end:
                return False
            await asyncio.sleep(_PAUSE)
        return True
