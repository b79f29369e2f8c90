"""How instances on one machine learn at once that another is dead: each holds a lock that ends with its process.

The lock is on a file in a folder that they share, named by the instance. Whoever can take it knows that nobody holds
it any more, however the holder ended, and need not wait for the end of its leases. Until what the dead one drove is
free, its lock is kept, so that nobody comes back under its name meanwhile. A lock counts only while its file has its
name: who has waited for a file that was then removed has locked nothing.
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
    """What an instance tells others on its machine, in milliseconds of the clock that they share and never jumps."""

    ahead: int  # its time is ahead of that clock by so much
    leased_until: int  # its leases last at least until then


class InstanceLocks:
    """The lock of this instance, and a look at those of others."""

    def __init__(self, folder: Path, instance: str) -> None:
        self._folder = folder
        self.instance = instance
        self._held: int | None = None
        self.alone = True

    def hold(self, patience: float) -> None:
        """Take our own lock, for as long as this process lives; somebody may just be looking whether we are dead."""
        until = monotonic() + patience
        while self._held is None:
            with suppress(FileExistsError):
                self._folder.mkdir(mode=0o700)
            with suppress(FileNotFoundError):  # whoever left last has just removed the folder
                self._held = self._take(self.instance, os.O_RDWR | os.O_CREAT)
            if self._held is None:
                if monotonic() > until:
                    raise StoreUnavailable(f"An instance {self.instance} is running already.", code="instance_taken")
                sleep(_BETWEEN_TRIES)

    def note(self, note: Note) -> None:
        """Write into our own lock what others may want to know of us."""
        if self._held is not None:
            os.pwrite(self._held, f"{note.ahead:020} {note.leased_until:020}\n".encode(), 0)

    def notes(self) -> list[Note]:
        """Return what the instances that live have noted."""
        found = [self.note_of(instance) for instance in self._others()]
        return [note for note in found if note is not None]

    def note_of(self, instance: str) -> Note | None:
        """Return what an instance has noted; None if it is dead, or has noted nothing."""
        if not is_held(self._folder, instance):
            return None
        try:
            ahead, leased_until = self._file(instance).read_text().split()
            return Note(int(ahead), int(leased_until))
        except (OSError, ValueError):
            return None

    def let_go(self) -> None:
        """Give our own lock back."""
        if self._held is not None:
            self._file(self.instance).unlink(missing_ok=True)
            os.close(self._held)
            self._held = None
            with suppress(OSError):  # others are still there
                self._folder.rmdir()

    @contextmanager
    def dead(self) -> Iterator[list[str]]:
        """Give the instances that are gone; unless something fails, they are forgotten afterwards."""
        taken: dict[str, int] = {}
        others = self._others()
        try:
            for instance in others:
                with suppress(FileNotFoundError):  # it has just given its lock back
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
        """Return the lock of an instance, or None if somebody holds it."""
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
    """Return whether an instance holds its lock; None if it has none here, since it never had or gave it back."""
    try:
        lock = os.open(_file_of(folder, instance), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # Shared, so that those who look do not take each other for the holder.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _file_of(folder: Path, instance: str) -> Path:
    return folder / f"{quote(instance, safe='')}{_SUFFIX}"
