"""Lease renewals from another thread, over a connection of their own.

A connection that was silent for too long is not asked again: another one is opened.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.postgres import claims
from layover.stores.postgres.connections import connect
from layover.stores.postgres.database import Transaction
from layover.stores.postgres.errors import OF_DRIVER, store_error
from layover.stores.postgres.statements import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import asyncpg

    from layover.ports.records import Lease
    from layover.stores.postgres.address import Address


class PostgresRenewals:
    """Renews leases over one connection, on an event loop of its own."""

    def __init__(self, address: Address, now: Callable[[], int] | None) -> None:
        self._address = address
        self._now = now  # by the server's clock; None if nobody goes by that
        self._sql = statements(address.schema)
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None

    def renew(self, instance: str, leases: Sequence[Lease], until: int, timeout: float) -> list[str]:
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

    async def _within(self, seconds: float, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        try:
            async with asyncio.timeout(seconds):
                if self._connection is None or self._connection.is_closed():
                    self._connection = await connect(self._address, "layover leases")
                length = None if self._now is None else until - self._now()
                db = Transaction(self._connection, self._sql)
                return (await claims.renew(db, instance, leases, until, length)).lost
        except StoreError:
            raise
        except OF_DRIVER as error:
            self._drop()
            raise store_error(error, self._address.shown) from error

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
