"""An open schema: the database and the clock that all families of its store share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreUnavailable
from layover.stores.leases import lease_end
from layover.stores.postgres.server_clock import ServerClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.stores.postgres.address import Address
    from layover.stores.postgres.database import PostgresSchema
    from layover.stores.postgres.liveness import LocalInstances


class PostgresSession:
    """The database while it is open, the instance that has opened it, and the time that this instance has."""

    def __init__(self, address: Address, clock: Callable[[], int] | None) -> None:
        self.address = address
        self.server_clock = ServerClock()
        self.instance = ""
        self.opened: PostgresSchema | None = None
        self.local_instances: LocalInstances | None = None
        self._clock = clock

    @property
    def db(self) -> PostgresSchema:
        """The open database."""
        if self.opened is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        return self.opened

    @property
    def uses_server_clock(self) -> bool:
        """Whether its time is that of the server, and not of a clock that was passed in."""
        return self._clock is None

    def now(self) -> int:
        """Return the time that all instances go by."""
        return self._clock() if self._clock is not None else self.server_clock.now()

    def lease(self, since: int, until: int) -> tuple[int, int | None]:
        """Return until when a lease lasts that was asked for at `since`, and for how long by the server's clock.

        That clock may have been set forward unknown to this instance. A clock that was passed in counts instead of it.
        """
        if self._clock is None:
            return until, until - since
        return lease_end(until, since, self._clock()), None

    @property
    def clock_error(self) -> int:
        """By how many milliseconds that time may be wrong."""
        return 0 if self._clock is not None else self.server_clock.error
