"""The watchdog names what holds up the event loop, and goes on with that after the whole process stood still."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

from layover.runtime.dispatch import watchdog
from layover.runtime.dispatch.watchdog import Watchdog

if TYPE_CHECKING:
    import pytest


async def test_a_loop_that_stood_still_is_watched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr(watchdog, "monotonic", lambda: next(looks))  # between any two looks the process stood still
    watching = Watchdog(0.02)
    try:
        async with asyncio.timeout(60):
            while len(watching.blocked) < 2:
                await asyncio.to_thread(bool)
    finally:
        watching.stop()
