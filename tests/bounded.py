"""Tests that wait for something may not hang: each has a time after which it fails."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

_LONGEST = 120  # seconds: far more than any of them takes, on a machine that is busy with other things too


def bound_tests(items: list[pytest.Item], folder: Path) -> None:
    """Give a time to each async test below a folder."""
    for item in items:
        if isinstance(item, pytest.Function) and folder in item.path.parents and inspect.iscoroutinefunction(item.obj):
            item.obj = _bounded(item.obj)


def _bounded(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def bounded(*args: Any, **fields: Any) -> None:
        async with asyncio.timeout(_LONGEST):
            await test(*args, **fields)

    return bounded
