"""Connections to a database file: their settings, and the translation of their errors."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING

import apsw

from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.stores.filters import decode_conditions, document_fulfils
from layover.stores.json_contains import document_contains

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_MS = 5_000
CACHE_KB = 2 * 1024
_BETWEEN_TRIES = 0.005
# Older libraries may reset a WAL that is still being read. Two connections on one file are enough for that.
_OLDEST_SAFE = (3, 51, 3)


def connect(path: Path, *, readonly: bool = False, busy_ms: int = BUSY_MS) -> apsw.Connection:
    """Open a connection that waits for locks instead of failing, and for the disk on commit."""
    check_library()
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with translated(path):
        if not readonly:
            _create(path)
        db = apsw.Connection(str(path), flags=flags, statementcachesize=200)
        db.set_busy_timeout(busy_ms)
        # Plans do not depend on the values of parameters: else most statements would be compiled anew for each value.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        try:
            db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            db.execute("PRAGMA synchronous = FULL")
            register_functions(db)
        except BaseException:
            db.close()
            raise
        return db


def _create(path: Path) -> None:
    """Create a missing file for its owner alone; SQLite gives its other files the same permissions."""
    with suppress(OSError):  # it exists; or it cannot be created, and SQLite has the better error for that
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))


def register_functions(db: apsw.Connection) -> None:
    """Add the SQL functions that our statements use and SQLite does not have."""
    db.create_scalar_function("contains", _contains, 2, deterministic=True)
    db.create_scalar_function("fulfils", _fulfils, 2, deterministic=True)


def _contains(*values: apsw.SQLiteValue) -> bool:
    document, where = values
    return isinstance(document, bytes) and isinstance(where, bytes) and document_contains(document, where)


def _fulfils(*values: apsw.SQLiteValue) -> bool:
    document, conditions = values
    return (
        isinstance(document, bytes)
        and isinstance(conditions, bytes)
        and document_fulfils(document, decode_conditions(conditions))
    )


def locks_beside(path: Path) -> Path:
    """Return the folder next to a file in which instances hold their locks."""
    return path.with_name(f"{path.name}-instances")


def write_ahead(db: apsw.Connection, path: Path, busy_ms: int = BUSY_MS) -> None:
    """Switch a file to WAL mode, in which readers do not block the writer. A file keeps it, so it has to be ours.

    SQLite does not wait here: it fails at once if another process is about to do the same.
    """
    until = monotonic() + busy_ms / 1000
    with translated(path):
        while (mode := _ask_for_wal(db, until)) is None:
            sleep(_BETWEEN_TRIES)
    if mode != "wal":
        raise StoreUnusable(f"{path} is on a file system that SQLite cannot share it on.", code="cannot_share")


def _ask_for_wal(db: apsw.Connection, until: float) -> str | None:
    try:
        return str(db.pragma("journal_mode", "wal"))
    except apsw.BusyError:
        if monotonic() > until:
            raise
        return None


def check_library() -> None:
    """Refuse a SQLite library that is known to lose data with several connections."""
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    if version < _OLDEST_SAFE:
        needed = ".".join(map(str, _OLDEST_SAFE))
        raise StoreUnusable(f"SQLite {apsw.sqlite_lib_version()} can corrupt its log; {needed} or newer is needed.")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate the errors of the driver into ours."""
    try:
        yield
    except apsw.Error as error:
        raise store_error(error, path) from error


def store_error(error: apsw.Error, path: Path) -> StoreError:
    """Return our error for an error of the driver."""
    match error:
        case apsw.FullError():
            return StoreUnavailable(f"The disk of {path} is full; nothing was written. Free some space.", code="full")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreUnavailable(f"{path} cannot be written: its file or folder is read-only.", code="read_only")
        case apsw.BusyError() | apsw.LockedError():
            return StoreUnavailable(f"{path} is locked by another program for too long.", code="locked")
        case apsw.CantOpenError():
            return StoreUnavailable(f"{path} cannot be opened: {_obstacle(path)}.")
        case apsw.NotADBError():
            return StoreUnusable(f"{path} is not a SQLite database.", code="not_a_database")
        case apsw.CorruptError():
            return StoreUnusable(f"{path} is damaged ({error}). Restore it from a backup.", code="corrupt")
        case apsw.IOError():
            return StoreUnavailable(f"{path} could not be read or written: {error}.", code="io_error")
        case _:
            return StoreError(f"{path}: {error}.")


def _obstacle(path: Path) -> str:
    """Return what keeps a file from being opened, as far as that can be seen."""
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    return "this user may not write in its folder, or may not read or write the file"
