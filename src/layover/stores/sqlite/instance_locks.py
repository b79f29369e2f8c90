"""How instances on one machine learn at once that another is dead: each holds a lock that ends with its process.

The lock is on a file beside the database, named by the instance. Whoever can take it knows that nobody holds it any
more, however the holder ended, and need not wait for the end of its leases.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIX = ".lock"


class InstanceLocks:
    """The lock of this instance, and a look at those of others."""

    def __init__(self, database: Path, instance: str) -> None:
        self._folder = database.with_name(f"{database.name}-instances")
        self._instance = instance
        self._held: int | None = None

    def hold(self) -> None:
        """Take our own lock, for as long as this process lives."""
        self._folder.mkdir(exist_ok=True)
        self._held = os.open(self._file(self._instance), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def let_go(self) -> None:
        """Give our own lock back."""
        if self._held is not None:
            self._file(self._instance).unlink(missing_ok=True)
            os.close(self._held)
            self._held = None
            with suppress(OSError):  # others are still there
                self._folder.rmdir()

    def others(self) -> list[str]:
        """Return the instances beside ours that have a lock file, dead or alive."""
        with suppress(FileNotFoundError):
            return [
                file.name.removesuffix(_SUFFIX)
                for file in self._folder.iterdir()
                if file.name != f"{self._instance}{_SUFFIX}"
            ]
        return []

    def is_dead(self, instance: str) -> bool:
        """Return whether nobody holds the lock of an instance; one without a file has given it back."""
        try:
            found = os.open(self._file(instance), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(found)
        return True

    def bury(self, instance: str) -> None:
        """Remove the lock file of a dead instance."""
        self._file(instance).unlink(missing_ok=True)

    def _file(self, instance: str) -> Path:
        return self._folder / f"{instance}{_SUFFIX}"
