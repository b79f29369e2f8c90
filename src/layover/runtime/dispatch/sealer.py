"""Seals audit entries, each second while some wait.

An instance that has written an entry is told so, and seals a second later what waits by then, whoever has written it.
Entries of others, such as those of a command line, are looked for every ten seconds (`audit_poll`), in an index that
has only what waits: that look is all that an idle instance does. Any instance may seal; the store lets one of two
rivals do it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from layover.errors import LayoverError
from layover.ports.commit_points import CommitPoint, reached
from layover.runtime.audit.seal_maker import MOST_ENTRIES, ChainedSealMaker
from layover.runtime.audit.signing import find_signing_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.service import Service

_GATHER: Final = 1_000  # milliseconds for which entries wait for others
_SAY_EVERY: Final = 3_600_000

_log = logging.getLogger("layover.sealer")


class Sealer:
    """Seals what waits, for as long as the instance lives."""

    def __init__(
        self, store: Store, clock: Clock, secrets: Secrets, secret: Callable[[int], bytes], look_every: int
    ) -> None:
        self._store = store
        self._clock = clock
        self._secrets = secrets
        self._secret = secret
        self._look_every = look_every
        self._hinted = asyncio.Event()
        self._owes = False  # whether entries were written here since it last sealed
        self._told: dict[str, int] = {}  # when something was last told, by what it was

    def hint(self) -> None:
        """Say that an entry is being written."""
        self._owes = True
        self._hinted.set()

    async def run(self, service: Service) -> None:
        """Seal in a loop."""
        while True:
            if not service.failures:
                await self._sleep()
            if await self._store.seals.is_waiting():
                await self.seal_all()
            service.succeeded()

    async def _sleep(self) -> None:
        clock = self._clock
        looks_at = clock.now() + self._look_every
        await clock.wait(looks_at, self._hinted)
        self._hinted.clear()
        if clock.now() < looks_at:
            await clock.wait(clock.now() + _GATHER, asyncio.Event())

    async def seal_all(self) -> int:
        """Seal what waits; return how many entries that were."""
        self._owes, count = False, 0
        while True:
            maker = ChainedSealMaker(self._clock.now(), await find_signing_key(self._secrets), self._secret)
            seal = await self._store.seals.seal(maker, MOST_ENTRIES)
            if seal is None:
                if maker.refusal and self._may_say(maker.refusal):
                    _log.warning("audit_not_sealed reason=%s", maker.refusal)
                return count
            reached(CommitPoint.SEAL_COMMITTED)
            count += seal.count
            if self._may_say("audit_sealed"):
                _log.info(
                    "audit_sealed seal=%d entries=%d head=%s", seal.n, seal.first + seal.count - 1, seal.head.hex()
                )
            if seal.count < MOST_ENTRIES:
                return count

    async def finish(self) -> None:
        """Seal what waits before the instance closes: a process that runs for a moment may be the only one there is.

        An instance that cannot seal closes all the same: the entries wait for the next one.
        """
        try:
            if self._owes or await self._store.seals.is_waiting():
                await self.seal_all()
        except LayoverError as error:
            _log.warning("audit_not_sealed reason=%s", error.code, exc_info=error)

    def _may_say(self, what: str) -> bool:
        """Return whether something is to be told again: once an hour is enough for a witness."""
        now = self._clock.now()
        if now - self._told.get(what, now - _SAY_EVERY) < _SAY_EVERY:
            return False
        self._told[what] = now
        return True
