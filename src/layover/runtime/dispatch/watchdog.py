"""Finds and logs the async function that blocks the event loop."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from time import monotonic

from layover.metrics.distribution import Distribution
from layover.metrics.families import SECONDS

_log = logging.getLogger("layover.watchdog")


class Watchdog:
    """A thread that expects the event loop to answer, and logs its stack if it does not."""

    def __init__(self, blocked_after: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._blocked_after = blocked_after
        self._stopped = threading.Event()
        self._answered = monotonic()
        self.lag = Distribution(SECONDS)  # how long the loop took to answer
        self.blocked: list[str] = []  # what was named, the latest last
        self._thread = threading.Thread(target=self._watch, name="layover-watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()

    def _answer(self, asked: float) -> None:
        self._answered = monotonic()
        self.lag.observe(self._answered - asked)

    def _watch(self) -> None:
        named: float | None = None
        while not self._stopped.wait(self._blocked_after / 4):
            if monotonic() - self._answered > self._blocked_after:
                if named == self._answered:
                    continue
                named = self._answered
                self._name_it()  # and ask again: if the process stood still, nothing of what was asked is left
            try:
                self._loop.call_soon_threadsafe(self._answer, monotonic())
            except RuntimeError:  # the loop is closed
                return

    def _name_it(self) -> None:
        task = asyncio.current_task(self._loop)
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 - the documented way to look at a thread
        where = "".join(traceback.format_stack(frame, limit=3)) if frame is not None else ""
        name = task.get_name() if task is not None else "a callback"
        self.blocked = [*self.blocked[-9:], name]
        _log.warning("loop_blocked by=%s seconds=%.1f stack=%s", name, self._blocked_after, where)
