"""Tests that wait for something may not hang: each has a time after which it fails."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

_LONGEST = 120  # seconds: far more than any of them takes, on a machine that is busy with other things too


def bound_tests(
    items: list[pytest.Item], folder: Path, *, longest: float = _LONGEST, but: tuple[Path, ...] = ()
) -> None:
    """Give a time to each async test below a folder, but not to those below some others.

    Each folder is asked about each of the tests, some twenty thousand: so their paths are compared as text.
    """
    here, elsewhere = f"{folder}{os.sep}", tuple(f"{one}{os.sep}" for one in but)
    for item in items:
        path = str(item.path)
        if not path.startswith(here) or path.startswith(elsewhere):
            continue
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = _bounded(item.obj, longest)


def _bounded(test: Callable[..., Awaitable[None]], longest: float) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def bounded(*args: Any, **fields: Any) -> None:
        async with asyncio.timeout(longest):
            await test(*args, **fields)

    return bounded
