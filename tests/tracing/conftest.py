"""Databases for the tests of traces; and none of them may hang."""

from __future__ import annotations

import asyncio
import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.harness import each_database, on_postgres

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["each_database", "on_postgres"]  # fixtures for all tests here

_HERE = Path(__file__).parent
_LONGEST = 300  # seconds: far more than any of them takes, on a machine that is busy with other things too


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and _HERE in item.path.parents and inspect.iscoroutinefunction(item.obj):
            item.obj = _bounded(item.obj)


def _bounded(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def bounded(*args: Any, **fields: Any) -> None:
        async with asyncio.timeout(_LONGEST):
            await test(*args, **fields)

    return bounded
