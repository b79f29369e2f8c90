"""Administration of a database file: which instances have it open, its migrations, and whether its folder will do.

These functions do not open the store, so they also work on a file that this release cannot use.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import apsw

from layover.ports.errors import StoreUnavailable
from layover.stores.instance_locks import InstanceLocks, is_held
from layover.stores.migrations import Shape
from layover.stores.sqlite import monitoring
from layover.stores.sqlite.connection import check_library, connect, locks_beside, translated
from layover.stores.sqlite.migrations import APPLICATION_ID, migrations
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from layover.ports.vitals import Vitals

_SUFFIX = ".lock"
_PATIENCE_MS = 2_000  # that a writer may hold a file, of which each holds it for milliseconds
_COMMANDS = ("purge-", "migrate-")  # commands, which open the file for a while and drive nothing


def living_instances(path: Path, *, but: str = "") -> list[str]:
    """Return the instances that have a database open and drive executions."""
    folder = locks_beside(path)
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise StoreUnavailable(f"{folder} belongs to another user: who has {path} open cannot be seen.", code="denied")
    names = sorted(unquote(file.name.removesuffix(_SUFFIX)) for file in folder.glob(f"*{_SUFFIX}"))
    others = [name for name in names if name != but and not name.startswith(_COMMANDS)]
    return [name for name in others if is_held(folder, name)]


def shape_of(path: Path) -> Shape:
    """Return the last migration of a file."""
    newest = migrations()[-1].number
    if not path.is_file() or not path.stat().st_size:
        return Shape(None, newest)
    with closing(connect(path, readonly=True)) as connection, translated(path):
        if connection.pragma("application_id") != APPLICATION_ID:
            return Shape(None, newest)
        return Shape(connection.execute(SQL["newest_migration"]).get, newest)


def vitals_of(path: Path) -> Vitals:
    """Return how carefully a file keeps what is written; how often it waits for the disk is up to each connection."""
    with closing(connect(path, readonly=True)) as connection, translated(path):
        return monitoring.vitals_of(connection, path)


def library() -> str:
    """Return the version of the SQLite library; raise an error for one that is known to lose data."""
    check_library()
    return str(apsw.sqlite_lib_version())


def try_write(path: Path) -> None:
    """Raise an error if a file could not be written now; nothing is written."""
    if not os.access(path, os.W_OK):
        raise StoreUnavailable(f"{path} cannot be written: its file or folder is read-only.", code="read_only")
    with translated(path), closing(connect(path, busy_ms=_PATIENCE_MS)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


def try_lock(folder: Path) -> None:
    """Take a lock in a folder as an instance does; raise an error if it could be taken again."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".layover-try-") as place:
        path = Path(place) / "try.db"
        lock = InstanceLocks(locks_beside(path), "doctor")
        lock.hold(patience=0)
        try:
            if living_instances(path) != ["doctor"]:
                raise OSError("a lock that is held can be taken again; keep the database on another file system")
        finally:
            lock.let_go()
