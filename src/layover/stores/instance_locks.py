"""Locks by which instances on one machine learn at once that another instance is dead.

Each instance locks a file with its name in a shared folder. The operating system releases the lock when the process
ends, however it ends. An instance that can take the lock of another therefore knows that the other is dead, and need
not wait until its leases end. It keeps the lock until it has expired those leases, so that no process starts under the
same name meanwhile. A lock counts only while the file still has its name: the file may be removed while a process waits
for it.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from layover.ports.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SUFFIX = ".lock"
_BETWEEN_TRIES = 0.01


class Note(NamedTuple):
    """What an instance writes into its lock file, in milliseconds of the monotonic clock that the machine shares."""

    ahead: int  # how far its time is ahead of that clock
    leased_until: int  # its leases end no earlier


class InstanceLocks:
    """The lock of this instance, and the locks of the others."""

    def __init__(self, folder: Path, instance: str) -> None:
        self._folder = folder
        self.instance = instance
        self._held: int | None = None
        self.alone = True

    def hold(self, patience: float) -> None:
        """Take our own lock until the process ends. Another instance may hold it for a moment, to look."""
        until = monotonic() + patience
        while self._held is None:
            with suppress(FileExistsError):
                self._folder.mkdir(mode=0o700)
            with suppress(FileNotFoundError):  # the last instance to leave has just removed the folder
                self._held = self._take(self.instance, os.O_RDWR | os.O_CREAT)
            if self._held is None:
                if monotonic() > until:
                    raise StoreUnavailable(f"An instance {self.instance} is running already.", code="instance_taken")
                sleep(_BETWEEN_TRIES)

    def note(self, note: Note) -> None:
        """Write a note for the other instances into our lock file."""
        if self._held is not None:
            os.pwrite(self._held, f"{note.ahead:020} {note.leased_until:020}\n".encode(), 0)

    def notes(self) -> list[Note]:
        """Return the notes of all living instances."""
        found = [self.note_of(instance) for instance in self._others()]
        return [note for note in found if note is not None]

    def note_of(self, instance: str) -> Note | None:
        """Return the note of an instance; None if it is dead or has written none."""
        if not is_held(self._folder, instance):
            return None
        try:
            ahead, leased_until = self._file(instance).read_text().split()
            return Note(int(ahead), int(leased_until))
        except (OSError, ValueError):
            return None

    def let_go(self) -> None:
        """Release our own lock."""
        if self._held is not None:
            self._file(self.instance).unlink(missing_ok=True)
            os.close(self._held)
            self._held = None
            with suppress(OSError):  # other instances still use it
                self._folder.rmdir()

    @contextmanager
    def dead(self) -> Iterator[list[str]]:
        """Yield dead instances and hold their locks meanwhile. Their files are then removed, unless something fails."""
        taken: dict[str, int] = {}
        others = self._others()
        try:
            for instance in others:
                with suppress(FileNotFoundError):  # it has just released its lock
                    lock = self._take(instance, os.O_RDWR)
                    if lock is not None:
                        taken[instance] = lock
            self.alone = len(taken) == len(others)
            yield list(taken)
            for instance in taken:
                self._file(instance).unlink(missing_ok=True)
        finally:
            for lock in taken.values():
                os.close(lock)

    def _others(self) -> list[str]:
        found: list[str] = []
        with suppress(FileNotFoundError):
            found = [unquote(file.name.removesuffix(_SUFFIX)) for file in self._folder.glob(f"*{_SUFFIX}")]
        return [instance for instance in found if instance != self.instance]

    def _take(self, instance: str, flags: int) -> int | None:
        """Return the lock of an instance; None if it is held."""
        file = self._file(instance)
        lock = os.open(file, flags | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_current = file.stat().st_ino == os.fstat(lock).st_ino
        except BlockingIOError:
            is_current = False
        except BaseException:
            os.close(lock)
            raise
        if not is_current:
            os.close(lock)
            return None
        return lock

    def _file(self, instance: str) -> Path:
        return _file_of(self._folder, instance)


def is_held(folder: Path, instance: str) -> bool | None:
    """Return whether an instance holds its lock; None if it has no lock file on this machine."""
    try:
        lock = os.open(_file_of(folder, instance), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # A shared lock: two instances that look at once must not take each other for the holder.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _file_of(folder: Path, instance: str) -> Path:
    return folder / f"{quote(instance, safe='')}{_SUFFIX}"
