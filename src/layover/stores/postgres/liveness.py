"""Liveness of instances on the same machine: when one dies, the others know at once and need not wait for its leases.

Each holds a lock in a folder that only its user can write to. Instances on other machines have other folders. Without
such a folder, an instance does without.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import stat
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from layover.ports.errors import StoreError
from layover.stores.instance_locks import InstanceLocks, is_held

if TYPE_CHECKING:
    from layover.stores.postgres.address import Address
    from layover.stores.postgres.database import PostgresSchema

_BETWEEN_LOOKS = 0.5  # seconds

_log = logging.getLogger("layover.postgres")


class LocalInstances:
    """The lock of this instance, and now and then a look at those of the others."""

    def __init__(self, db: PostgresSchema, instance: str) -> None:
        self._db = db
        self._instance = instance
        self._locks: InstanceLocks | None = None
        self._looked_at = 0.0

    async def enter(self) -> None:
        """Take the lock of this instance."""
        try:
            self._locks = await asyncio.to_thread(_hold_locks, self._db.address, self._instance)
        except (OSError, StoreError) as error:
            _log.info("neighbours_unknown error=%s", error)

    async def look(self, now: int) -> None:
        """Expire the leases of instances that died on this machine; now and then is enough."""
        if self._locks is None or monotonic() - self._looked_at < _BETWEEN_LOOKS:
            return
        self._looked_at = monotonic()
        with self._locks.dead() as dead:
            if dead:
                await self._db.fetch("expire_leases", dead, now)
                await self._db.fetch("delete_instances", dead)

    def leave(self) -> None:
        """Release the lock of this instance."""
        if self._locks is not None:
            self._locks.let_go()
            self._locks = None


def _hold_locks(address: Address, instance: str) -> InstanceLocks:
    locks = InstanceLocks(folder_of(address), instance)
    locks.hold(patience=1)
    return locks


def is_dead_here(address: Address, instance: str) -> bool:
    """Return whether an instance has died on this machine; False for instances on other machines."""
    try:
        return is_held(folder_of(address), instance) is False
    except OSError:
        return False


def folder_of(address: Address) -> Path:
    """Return the folder for the locks of a database on this machine; raise an error if other users can write to it."""
    private = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"layover-{os.geteuid()}"
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = private.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{private} is not a folder of this user alone")
    parts = urlsplit(address.dsn)
    place = f"{parts.netloc.rpartition('@')[2]}{parts.path}?{parts.query}#{address.schema}"
    return private / hashlib.sha256(place.encode()).hexdigest()[:16]
