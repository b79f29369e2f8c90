"""The database itself: whether it can be used, how carefully it keeps what is written, its tables and its clock."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Final

from layover.admin.addresses import file_of, without_password
from layover.admin.reading import opened_to_read
from layover.bootstrap import library, shape_of, try_lock, try_write, vitals_of
from layover.errors import LayoverError, Unavailable
from layover.model.diagnosis import Finding
from layover.runtime.examination.database import READ_ONLY, judge_clock, judge_space, judge_vitals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_REACH: Final = "Start it, and check the address: --db, LAYOVER_DB, or db in layover.toml."
_LOCAL: Final = "Keep the database in a folder of a local disk that may be written."
_HINTS: Final = {
    "missing_driver": 'Install the driver: pip install "layover[postgres]"',
    "unknown_database": "Correct the address: --db, LAYOVER_DB, or db in layover.toml.",
    "pooled": "Add `?pooler=transaction` to the address.",
    "unreadable": "`layover verify` tells how much of it can be read.",
    "locked": "End the program that holds it (`fuser -v FILE` names it), or wait until it is done.",
    "read_only": READ_ONLY,
    "full": "Free some space on its disk; executions go on by themselves.",
    "io_error": "Free some space if the disk is full; otherwise look at the disk and at `dmesg`.",
    "too_slow": "Look at its load, at the network and at the disk: it answers too late.",
    "denied": "Check user, password and grants.",
    "no_database": "Create the database first, or name another with --db.",
    "cannot_lock": _LOCAL,
    "cannot_share": _LOCAL,
    "old_server": "Upgrade the server.",
    "foreign_encoding": "Create a database that is encoded in UTF8.",
    "other_migration": "Install the release that made it; if its tables were changed by hand, restore a backup.",
    "store_error": "If its tables were changed by hand, restore a backup; `layover verify` tells what is damaged.",
    "not_a_database": "Name another file with --db.",
    "foreign": "Name another database with --db, or another schema with ?schema=.",
    "newer_database": "Install the release that wrote it, or a newer one.",
    "corrupt": "Restore it from a backup; `layover verify` tells how much of it can be read.",
    "old_database": "Bring it up to date with `layover migrate`.",
}


def hint_for(error: LayoverError) -> str:
    """Return what to do about a database that cannot be used."""
    return _HINTS.get(error.code, _REACH)


async def examine_library(db: str) -> Finding:
    """Look at what keeps the database, and its version; also whether a server can be reached."""
    try:
        what, version = await library(db)
    except LayoverError as error:
        return Finding("database" if file_of(db) is None else "sqlite", "problem", error.message, hint_for(error))
    return Finding(what, "ok", version)


def examine_file(db: str) -> Iterator[Finding]:
    """Look at the folder of a file: whether it is there, has space, and lets instances hold locks."""
    path = file_of(db)
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        yield Finding("folder", "problem", f"{folder} does not exist", "Create it, or name another with --db.")
        return
    yield judge_space(shutil.disk_usage(folder).free)
    yield _locks_in(folder)
    if path.is_dir():
        yield Finding("file", "problem", f"{path} is a folder", "Name a file in it with --db.")
    elif path.is_file():
        yield from _writable(path)


def _writable(path: Path) -> Iterator[Finding]:
    """Try to write; that a file is no database of ours is told when it is opened."""
    try:
        try_write(path)
    except Unavailable as error:
        yield Finding("file", "problem", error.message, hint_for(error))
    except LayoverError:
        return
    else:
        yield Finding("file", "ok", "can be written")


async def examine_database(db: str) -> list[Finding]:
    """Look at the tables, the settings and the clock of a database that is there."""
    return [*await _schema(db), *await _vitals(db), *await _clock(db)]


async def _schema(db: str) -> list[Finding]:
    with suppress(LayoverError):  # which is told when it is opened
        shape = await shape_of(db)
        if shape.taken is not None and shape.taken < shape.newest:
            hint = f"Bring it up to date: layover migrate --db {quote(without_password(db))}"
            return [Finding("schema", "problem", f"{shape.taken} of {shape.newest}", hint)]
        if shape.taken == shape.newest:
            return [Finding("schema", "ok", str(shape.taken))]
    return []


async def _vitals(db: str) -> list[Finding]:
    with suppress(LayoverError):
        found = await vitals_of(db)
        return list(judge_vitals(found)) if found is not None else []
    return []


async def _clock(db: str) -> list[Finding]:
    """Compare the clock of this machine with that of the database, by which deadlines are judged."""
    if file_of(db) is not None:
        return []  # it is the same
    with suppress(LayoverError):
        async with opened_to_read(db) as store:
            return [judge_clock(await store.now() - time.time_ns() // 1_000_000)]
    return []


def _locks_in(folder: Path) -> Finding:
    try:
        try_lock(folder)
    except (LayoverError, OSError) as error:
        return Finding("file locks", "problem", str(error), _LOCAL)
    return Finding("file locks", "ok", "work")
