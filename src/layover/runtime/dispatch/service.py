"""A loop that an instance cannot do without: it is restarted whatever ends it.

An error must not end a claimer or a lease renewer while the process lives on: such an instance would look healthy and
do nothing. So a service logs the error, backs off a little longer after each failure, and restarts the loop. It counts
as failing, which the health of the instance shows, until a round succeeds.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random  # noqa: TID251 - what the machine gives is one

_FIRST_PAUSE = 0.1  # seconds
_LONGEST_PAUSE = 5.0

_log = logging.getLogger("layover.service")


class Service:
    """Runs one loop until it returns because it was told to stop; the loop says when a round has succeeded."""

    def __init__(
        self,
        name: str,
        run: Callable[[Service], Awaitable[None]],
        *,
        chance: Random,
        first_pause: float = _FIRST_PAUSE,
        longest_pause: float = _LONGEST_PAUSE,
    ) -> None:
        self.name = name
        self._run = run
        self._chance = chance
        self._first_pause = first_pause
        self._longest_pause = longest_pause
        self._pause = first_pause
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._faulty_since: float | None = None
        self.failures = 0  # in a row
        self.task = self._loop.create_task(self._serve(), name=f"layover {name}")

    def succeeded(self) -> None:
        """Note that a round has succeeded."""
        if self.failures:
            _log.info("service_recovered service=%s failures=%d", self.name, self.failures)
            self.failures, self._pause, self._faulty_since = 0, self._first_pause, None

    def stop(self) -> None:
        """Skip the pause before the next restart; the loop itself ends when it is told to."""
        self._stopped.set()

    @property
    def dead(self) -> bool:
        """Whether the loop has ended before it was told to."""
        return self.task.done() and not self._stopped.is_set()

    def faulty_for(self) -> float:
        """Return for how many seconds it has failed by errors that neither the store nor any input explains."""
        return 0.0 if self._faulty_since is None else self._loop.time() - self._faulty_since

    async def _serve(self) -> None:
        while True:
            try:
                return await self._run(self)
            except Exception as error:  # whatever it is, the next round may succeed
                self._failed(error)
                if self.task.cancelling():  # cleaning up failed, such as giving back a lock: it is to end all the same
                    raise asyncio.CancelledError from error
            with suppress(TimeoutError):  # not `wait_for`, which on Python 3.11 may swallow that the task is cancelled
                async with asyncio.timeout(self._pause * self._chance.uniform(0.5, 1)):
                    await self._stopped.wait()
            self._pause = min(self._pause * 2, self._longest_pause)

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        if isinstance(error, LayoverError):
            self._faulty_since = None
            first = error if self.failures == 1 else None  # the same again and again would only hide other lines
            text = "service_failed service=%s failures=%d error=%s"
            _log.warning(text, self.name, self.failures, error.message, exc_info=first)
            return
        if self._faulty_since is None:
            self._faulty_since = self._loop.time()
        _log.error("service_failed service=%s failures=%d", self.name, self.failures, exc_info=error)
