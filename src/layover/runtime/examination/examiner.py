"""Examining a running instance and its database, for whoever asks it: bounded in time, and given again for a while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.model.diagnosis import Diagnosis, Finding, diagnosis_of
from layover.ports.records import CLOSED
from layover.redaction import without_password
from layover.runtime.examination.database import judge_clock, judge_space, judge_vitals
from layover.runtime.examination.executions import (
    OpenExecutions,
    examine_outbox,
    examine_retention,
    judge_instances,
    tell_counts,
)
from layover.runtime.examination.machine import examine_machine, machine_time
from layover.runtime.examination.secrets import examine_secrets
from layover.runtime.examination.settings import judge_lease

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.runtime.operations.operations import Operations

_FRESH: Final = 5_000  # milliseconds
_LONGEST: Final = 5.0  # seconds for all of it together
_MOST: Final = 10_000  # open executions that are looked at
_START: Final = "layover worker --nodes MODULE, with the address of this database"
_BROKEN: Final = "The log of this server has more; `layover verify` tells whether the database is damaged."
_SLOW: Final = "Ask again when the database has less to do, or run `layover doctor` with its address."


class Examiner:
    """The last diagnosis of an instance, and how the next one is made."""

    def __init__(self, opened: Operations) -> None:
        self.fresh, self.longest = _FRESH, _LONGEST
        self._opened = opened
        self._last: tuple[int, Diagnosis] | None = None  # with when it was made, by the clock that never jumps
        self._examining = asyncio.Lock()

    async def examine(self) -> Diagnosis:
        """Return what keeps this instance, its database or the executions from working; it may be seconds old."""
        async with self._examining:  # those who wait here find what the first has found
            clock = self._opened.instance.clock
            if self._last is not None and clock.running() - self._last[0] < self.fresh:
                return self._last[1]
            made = diagnosis_of(tuple(map(_without_password, await self._findings())))
            self._last = clock.running(), made
            return made

    async def _findings(self) -> list[Finding]:
        found = [*examine_machine(), *judge_lease(self._opened.instance.settings.lease_ttl)]
        parts: tuple[tuple[str, Callable[[], Awaitable[list[Finding]]]], ...] = (
            ("database", self._database),
            ("executions", self._executions),
            ("secrets", lambda: examine_secrets(self._opened.instance)),
            ("outbox", self._outbox),
        )
        until = asyncio.get_running_loop().time() + self.longest
        for what, look in parts:
            try:
                async with asyncio.timeout_at(until):
                    found += await look()
            except TimeoutError:
                found.append(Finding(what, "warning", f"not examined within {self.longest:g} s", _SLOW))
            except Exception as error:  # noqa: BLE001 - what is wrong is told, however wrong it is
                text = f"could not be examined: {type(error).__name__}: {error}"
                found.append(Finding(what, "problem", text, _BROKEN))
        return found

    async def _database(self) -> list[Finding]:
        store = self._opened.instance.store
        vitals = await store.monitoring.read_vitals()
        found = [*judge_vitals(vitals), judge_clock(await store.now() - machine_time())]
        return found if vitals.free_bytes is None else [judge_space(vitals.free_bytes), *found]

    async def _executions(self) -> list[Finding]:
        opened, here = self._opened, self._opened.instance
        living = set(await here.store.instances.list_others())
        if here.settings.executions:  # else it drives nothing
            living.add(here.id)
        counts = await opened.lists.counts()
        closed = sum(count for status, count in counts.items() if status in CLOSED)
        return [
            tell_counts(counts),
            judge_instances(sorted(living), counts, _START),
            *await OpenExecutions(opened, {*living, here.id}, most=_MOST).findings(),
            await examine_retention(opened, closed),
        ]

    async def _outbox(self) -> list[Finding]:
        return [await examine_outbox(self._opened)]


def _without_password(one: Finding) -> Finding:
    return Finding(one.what, one.health, without_password(one.text), without_password(one.hint))
