"""The instances that have a database file open: each holds a lock beside it, and notes until when its leases last."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnavailable
from layover.ports.records import Liveness
from layover.stores.instance_locks import InstanceLocks, Note, is_held
from layover.stores.sqlite.admin import living_instances
from layover.stores.sqlite.claims import expire_leases
from layover.stores.sqlite.connection import locks_beside
from layover.stores.sqlite.session import not_open
from layover.stores.steady_clock import SteadyClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.stores.sqlite.session import SqliteSession


class SqliteInstances:
    """The lock of this instance, and now and then a look at those of the others."""

    def __init__(self, session: SqliteSession, clock: Callable[[], int], between_looks: float) -> None:
        self._session = session
        self._clock = clock
        self._between_looks = between_looks
        self._locks: InstanceLocks | None = None
        self._noted = 0
        self._looked_at: float | None = None

    async def enter(self, instance: str) -> None:
        """Take the lock of an instance, and its leases from before it was restarted."""
        self._locks = InstanceLocks(locks_beside(self._session.path), instance)
        await asyncio.to_thread(self._hold, self._locks)
        self._keep_up(self._locks)
        # No other instance has this name now, so its leases are from before it was restarted.
        await self._session.write(lambda db: expire_leases(db, [instance], self._clock()))

    def _hold(self, locks: InstanceLocks) -> None:
        try:
            locks.hold(self._session.busy_ms / 1000)
        except OSError as error:
            message = f"No lock can be held beside {self._session.path}: {error.strerror}."
            raise StoreUnavailable(message, code="cannot_lock") from error

    def leave(self) -> None:
        """Release the lock of this instance."""
        if self._locks is not None:
            self._locks.let_go()
            self._locks = None
        self._looked_at = None

    async def check_liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: then it holds its lock."""
        return Liveness(alive=is_held(locks_beside(self._session.path), instance) is True)

    async def list_others(self) -> list[str]:
        """Return the other instances that have the file open and drive executions."""
        if not self._session.is_open:
            raise not_open()
        own = self._locks.instance if self._locks is not None else ""  # without one, the file is only read
        return living_instances(self._session.path, but=own)

    # Leases

    def _keep_up(self, locks: InstanceLocks) -> None:
        """Take over the time of running instances: the system clock may have been set back since they started."""
        if isinstance(self._clock, SteadyClock):
            for note in locks.notes():
                self._clock.keep_up(note.ahead)

    def note(self, leased_until: int) -> None:
        """Note until when our leases last, by the monotonic clock, for other instances; now and then is enough."""
        clock, locks = self._clock, self._locks
        if isinstance(clock, SteadyClock) and locks is not None:
            length = leased_until - clock()
            until = clock.running() + length
            if until - self._noted > length // 10:
                self._noted = until
                locks.note(Note(clock.ahead, until))

    def is_leased(self, instance: str) -> bool:
        """Return whether an instance still has its leases, although they have expired by the time.

        Then the system clock was set forward. A stopped process holds its lock, too, but its leases end.
        """
        clock, locks = self._clock, self._locks
        if locks is None or not isinstance(clock, SteadyClock) or instance == locks.instance:
            return False
        note = locks.note_of(instance)
        return note is not None and note.leased_until > clock.running()

    async def expire_dead(self, now: int) -> None:
        """Expire the leases of dead instances; now and then is enough."""
        writer = self._session.writer
        if self._locks is None:
            raise not_open()
        if self._looked_at is not None and monotonic() - self._looked_at < self._between_looks:
            return
        self._looked_at = monotonic()
        with self._locks.dead() as dead:
            writer.shared = not self._locks.alone
            if dead:
                await self._session.write(lambda db: expire_leases(db, dead, now))
