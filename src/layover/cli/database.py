"""What can be seen of a database file from beside it: who has it open, and the shape of its tables.

It is asked without opening the store, also of a file that this release cannot use.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from layover.cli.options import address_of
from layover.stores.sqlite.connection import connect, translated
from layover.stores.sqlite.migrations import APPLICATION_ID, migrations

_SUFFIX = ".lock"
_COMMANDS = ("purge-", "migrate-")  # they have the file open for a while, and drive nothing


class Shape(NamedTuple):
    """The last migration that a file has taken, none if it is not ours; and the last that this release knows."""

    taken: int | None
    newest: int


def path_of(db: str) -> Path | None:
    """Return the file behind an address, if it is one in a file."""
    scheme, _, rest = address_of(db).partition(":///")
    return Path(rest) if scheme == "sqlite" and rest else None


def living_instances(db: str, *, but: str = "") -> list[str]:
    """Return the instances that have a database open and drive executions."""
    path = path_of(db)
    if path is None:
        return []
    folder = path.with_name(f"{path.name}-instances")
    found = [file for file in folder.glob(f"*{_SUFFIX}") if _is_held(file)]
    names = sorted(unquote(file.name.removesuffix(_SUFFIX)) for file in found)
    return [name for name in names if name != but and not name.startswith(_COMMANDS)]


def shape_of(db: str) -> Shape:
    """Return how far the tables of a file are."""
    path, newest = path_of(db), migrations()[-1].number
    if path is None or not path.is_file() or not path.stat().st_size:
        return Shape(None, newest)
    with closing(connect(path, readonly=True)) as connection, translated(path):
        if connection.pragma("application_id") != APPLICATION_ID:
            return Shape(None, newest)
        return Shape(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get, newest)


def _is_held(file: Path) -> bool:
    with suppress(OSError):
        lock = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            # Shared, so that those who look do not take each other for the holder.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
    return False
