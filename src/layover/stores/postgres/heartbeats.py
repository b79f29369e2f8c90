"""Heartbeats: by them an instance is known to live, and has the time of the server and of the other instances."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.postgres import weekly_partitions
from layover.stores.postgres.server_clock import running

if TYPE_CHECKING:
    from layover.stores.postgres.database import PostgresSchema
    from layover.stores.postgres.session import PostgresSession

_HEARTBEAT = 10  # seconds
_LOOKS, _BETWEEN_LOOKS = 40, 0.05  # for longer than a second, in seconds
_GONE_AFTER = 30_000  # milliseconds without a word, and the name of an instance may be taken again

_log = logging.getLogger("layover.postgres")


class Heartbeats:
    """The heartbeats of one instance, and the clock that it sets by them."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._sending: asyncio.Task[None] | None = None

    async def set_clock(self, db: PostgresSchema) -> None:
        """Ask the server for its time."""
        asked_at = running()
        self._session.server_clock.hear(asked_at, await db.fetchval("server_time"))

    async def join(self, db: PostgresSchema) -> None:
        """Have the time of the instances that live.

        Where the server's clock does not tell it, they say it every second: what they said last may be old.
        """
        session = self._session
        latest = await self._keep_up(db)
        for _ in range(_LOOKS if session.server_clock.goes_ahead and session.uses_server_clock else 0):
            await asyncio.sleep(_BETWEEN_LOOKS)
            if await self._keep_up(db) != latest:
                return

    async def register(self, db: PostgresSchema, instance: str, now: int) -> None:
        """Register an instance, the only one of its name."""
        if await db.fetchval("register_instance", instance, now, now - _GONE_AFTER) is None:
            raise StoreUnavailable(f"An instance {instance} is running already.", code="instance_taken")
        self._session.instance = instance

    def start(self, db: PostgresSchema) -> None:
        """Send heartbeats from now on."""
        self._sending = asyncio.get_running_loop().create_task(self._send(db))

    async def stop(self) -> bool:
        """Send no more; return whether any were sent."""
        sending, self._sending = self._sending, None
        if sending is None:
            return False
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        return True

    async def unregister(self, db: PostgresSchema) -> None:
        """Free the name of the instance."""
        with suppress(StoreError):  # then the name is free once the heartbeat is old
            await db.fetch("delete_instances", [self._session.instance])

    async def _keep_up(self, db: PostgresSchema) -> int | None:
        """Have at least the time that instances had when they last said that they live; return that."""
        latest: int | None = await db.fetchval("latest_heartbeat")
        if latest is not None:
            self._session.server_clock.keep_up(latest)
        return latest

    async def _send(self, db: PostgresSchema) -> None:
        """Send heartbeats until the task is cancelled."""
        session = self._session
        while True:
            for _ in range(_HEARTBEAT):
                await asyncio.sleep(1)
                if session.server_clock.goes_ahead:
                    break  # an instance that starts now can take the time only from our heartbeat
            asked_at = running()
            try:
                session.server_clock.hear(asked_at, await db.fetchval("heartbeat", session.instance, session.now()))
                await self._keep_up(db)
                await weekly_partitions.prepare(db, session.now())
            except StoreError as error:
                _log.warning("heartbeat_failed error=%s", error.message)
            except Exception:  # noqa: BLE001 - an instance that says no more is taken for dead
                _log.exception("heartbeat_failed")
