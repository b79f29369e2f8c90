"""The folder in which the processes of one server keep what they share, such as their metrics.

It goes when its supervisor ends. A supervisor that is killed leaves it behind, so each one first removes those whose
supervisor is gone: a supervisor holds the lock of its folder for as long as it lives, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX = "layover-processes-"
_LOCK = "lock"
_SHARED = "shared"


@contextmanager
def process_folder() -> Iterator[Path]:
    """Make a folder that only its owner can read, and remove those that supervisors have left behind."""
    for path in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or one that another supervisor is removing
            _remove_if_abandoned(path)
    with TemporaryDirectory(prefix=_PREFIX) as name, _locked(Path(name)):
        shared = Path(name) / _SHARED
        shared.mkdir(mode=0o700)
        yield shared


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. It has its name only once it is held: before, it would look abandoned."""
    unnamed = folder / f"{_LOCK}.new"
    with unnamed.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unnamed.rename(folder / _LOCK)
        yield


def _remove_if_abandoned(folder: Path) -> None:
    found = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if folder.lstat().st_uid == os.geteuid():
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)  # its supervisor lives if this is refused
            shutil.rmtree(folder)
    finally:
        os.close(found)
