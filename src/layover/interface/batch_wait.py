"""Waiting for a batch, wherever it is: it is looked at again and again, ever less often."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.errors import WaitTimeout

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.model.batches import BatchInfo

AT_REST: Final = frozenset({"stopped", "completed", "failed"})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds


async def until_at_rest(read: Callable[[], Awaitable[BatchInfo]], timeout: float | None) -> BatchInfo:  # noqa: ASYNC109 - as the interface
    """Return a batch once it is completed, or has stopped or failed; raise WaitTimeout when that takes longer."""
    loop, pause = asyncio.get_running_loop(), _FIRST_PAUSE
    until = None if timeout is None else loop.time() + timeout
    while (found := await read()).status not in AT_REST:
        left = _LONGEST_PAUSE if until is None else until - loop.time()
        if left <= 0:
            raise not_at_rest(found)
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return found


def not_at_rest(batch: BatchInfo) -> WaitTimeout:
    """Return the error for a batch that is not at rest in time."""
    return WaitTimeout(f"The batch {batch.id} is {batch.status}: {batch.pending:,} of {batch.total:,} items are left.")
