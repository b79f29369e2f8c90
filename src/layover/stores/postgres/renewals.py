"""Lease renewals, by the event loop, or from another thread over a connection of their own.

Such a connection that was silent for too long is not asked again: another one is opened.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.postgres.connections import connect
from layover.stores.postgres.database import Transaction
from layover.stores.postgres.errors import OF_DRIVER, store_error
from layover.stores.postgres.statements import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import asyncpg

    from layover.ports.records import LeaseRow
    from layover.stores.postgres.address import Address
    from layover.stores.postgres.database import StatementRunner


# A locked head is about to move. A moment later it can be renewed without waiting for the lock.
_TRIES = 3
_BETWEEN_TRIES = 0.02


class Times(NamedTuple):
    """The time of the server's clock, and the latest that any instance has said."""

    server_time: int
    latest: int | None


class Renewed(NamedTuple):
    """The executions that were lost, and the times that came along, if the server was asked."""

    lost: list[str]
    times: Times | None


async def renew_leases(
    db: StatementRunner, instance: str, leases: Sequence[LeaseRow], until: int, length: int | None = None
) -> Renewed:
    """Renew leases until a moment, and for at least some time by the latest time that an instance has."""
    left = list(dict.fromkeys((lease.execution_id, lease.epoch) for lease in leases))
    lost, times = set[tuple[str, int]](), None
    for tries in range(_TRIES + 1):
        if not left:
            break
        if tries:
            await asyncio.sleep(_BETWEEN_TRIES)
        statement = "renew_leases" if tries < _TRIES else "renew_leases_waiting"
        ids, epochs = [id_ for id_, _ in left], [epoch for _, epoch in left]
        rows = await db.fetch(statement, instance, ids, epochs, until, length)
        times = Times(*rows[0][3:])
        left = [(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and busy]
        lost |= {(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and not busy}
    return Renewed([lease.execution_id for lease in leases if (lease.execution_id, lease.epoch) in lost], times)


class PostgresRenewals:
    """Renews leases over one connection, on an event loop of its own."""

    def __init__(self, address: Address, now: Callable[[], int] | None) -> None:
        self._address = address
        self._now = now  # by the server's clock; None if it is not used
        self._sql = statements(address.schema)
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None

    def renew(self, instance: str, leases: Sequence[LeaseRow], until: int, timeout: float) -> list[str]:
        """Keep what is driven; return what was lost.

        A connection from before may have gone silent: then another one is tried at once, for there is little time left.
        """
        if self._connection is not None:
            try:
                return self._runner.run(self._within(timeout, instance, leases, until))
            except StoreUnavailable:
                self._drop()
        return self._runner.run(self._within(timeout, instance, leases, until))

    def close(self) -> None:
        """Close the connection."""
        self._drop()
        self._runner.close()

    async def _within(self, seconds: float, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        try:
            async with asyncio.timeout(seconds):
                if self._connection is None or self._connection.is_closed():
                    self._connection = await connect(self._address, "layover leases")
                length = None if self._now is None else until - self._now()
                db = Transaction(self._connection, self._sql)
                return (await renew_leases(db, instance, leases, until, length)).lost
        except StoreError:
            raise
        except OF_DRIVER as error:
            self._drop()
            raise store_error(error, self._address.shown) from error

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
