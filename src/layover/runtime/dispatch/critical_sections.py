"""Sections that the cancellation of a caller must not interrupt.

Between the claim of an execution and the moment at which this instance drives it, the store says that the instance owns
it, but no task drives it. If the caller is cancelled there, the section runs on without the caller: otherwise the
execution would stand still until its lease ran out.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

_log = logging.getLogger("layover.critical_sections")


class CriticalSections:
    """Runs sections to their end, whether or not their callers still wait."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, section: Coroutine[Any, Any, T]) -> T:
        """Run a section, and return what it returns."""
        task = asyncio.get_running_loop().create_task(section)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_report)
            raise

    async def drain(self) -> None:
        """Wait until no section runs."""
        while self._running:
            await asyncio.wait(self._running)


def _report(task: asyncio.Task[Any]) -> None:
    """Log the error of a section whose caller is gone."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.warning("section_failed", exc_info=error)
