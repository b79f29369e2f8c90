"""`layover doctor`: what keeps a database, or the executions in it, from working, and what to do about it."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Literal

import msgspec

from layover.bootstrap import file_of, inspectable_store, library, living_instances, shape_of, try_lock
from layover.cli.exits import DONE, FAILED
from layover.cli.options import DEFAULT_DB, Db, Json
from layover.cli.passive_engine import PassiveEngine
from layover.cli.screen import length, plural, print_json, say, without_password
from layover.core.errors import LayoverError
from layover.runtime.execution.unknown_commands import kinds_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from layover.ports.records import ExecutionRow

_LITTLE_SPACE = 500_000_000
_LATE = 60_000  # how long something may be due without being taken up
_PAGE = 1_000
_MOST_TOLD = 20
_OPEN = ("pending", "running", "pausing", "waiting", "paused")
_EARLIEST = 1_735_689_600_000  # the beginning of 2025: a clock before it is not set

Health = Literal["ok", "warning", "problem"]
_STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at, how it is, and what to do if it is not well."""

    what: str
    health: Health
    text: str
    hint: str = ""


def examine(*, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Look for what keeps a database or its executions from working; nothing is changed. Exit code 1 if there is."""
    found = asyncio.run(_examined(db))
    is_well = all(one.health != "problem" for one in found)
    if json:
        print_json({"ok": is_well, "findings": found})
        return DONE if is_well else FAILED
    for one in found:
        say(without_password(f"{one.health:7}  {one.what}: {one.text}"), _STYLES[one.health])
        if one.hint:
            say(without_password(f"         {one.hint}"))
    return DONE if is_well else FAILED


async def _examined(db: str) -> list[Finding]:
    kept = await _library(db)
    found = [*_machine(), kept, *_file(db)]
    if kept.health == "problem" and file_of(db) is None:
        return found  # what cannot be reached need not be asked more
    return [*found, *await _shape(db), *await _executions(db)]


async def _library(db: str) -> Finding:
    try:
        what, version = await library(db)
    except LayoverError as error:
        return Finding("database" if file_of(db) is None else "sqlite", "problem", error.message)
    return Finding(what, "ok", version)


def _machine() -> Iterator[Finding]:
    yield Finding("python", "ok", platform.python_version())
    now = time.time_ns() // 1_000_000
    is_set = now > _EARLIEST
    hint = "" if is_set else "Set it: deadlines and leases go by it."
    text = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now / 1000))
    yield Finding("clock", "ok" if is_set else "problem", text, hint)


def _file(db: str) -> Iterator[Finding]:
    path = file_of(db)
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        yield Finding("folder", "problem", f"{folder} does not exist", "Make it, or name another with --db.")
        return
    free = shutil.disk_usage(folder).free
    hint = "" if free >= _LITTLE_SPACE else "Free some space: nothing can be written to a full disk."
    yield Finding("disk", "ok" if not hint else "warning", f"{free / 1e9:.1f} GB free", hint)
    yield _checked("file locks", lambda: _locks_in(folder))


async def _shape(db: str) -> list[Finding]:
    with suppress(LayoverError):
        shape = await shape_of(db)
        if shape.taken is not None and shape.taken < shape.newest:
            hint = f"Bring it up to date: layover migrate --db {quote(without_password(db))}"
            return [Finding("schema", "problem", f"{shape.taken} of {shape.newest}", hint)]
        if shape.taken is not None:
            return [Finding("schema", "ok", str(shape.taken))]
    return []


async def _executions(db: str) -> list[Finding]:
    path, shown = file_of(db), without_password(db)
    absent = Finding("database", "ok", f"{shown} is not there yet; whatever runs first makes it")
    if path is not None and not path.exists():
        return [absent]
    try:
        store = inspectable_store(db)
        await store.open_to_read()
        await store.close()
        async with PassiveEngine(inspectable_store(db), acts=False) as client:
            living = await living_instances(db)
            counts = await client.counts()
            is_open = any(counts.get(status) for status in _OPEN)
            told = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
            found = [Finding("database", "ok", f"opens; executions: {told or 'none'}")]
            hint = f"Start one: layover worker --db {quote(shown)} --nodes MODULE" if is_open and not living else ""
            text = f"{plural(len(living), 'instance')} alive{': ' if living else ''}{', '.join(living)}"
            found.append(Finding("instances", "warning" if hint else "ok", text, hint))
            return [*found, *await _stuck(client)]
    except LayoverError as error:
        if path is None and error.code == "missing":
            return [absent]
        return [Finding("database", "problem", without_password(error.message))]


async def _stuck(client: PassiveEngine) -> list[Finding]:
    """Return executions that could go on and do not: due for long, left by dying instances, or without a function."""
    found: list[Finding] = []
    now, after = await client.now(), None
    while len(found) < _MOST_TOLD:
        page = await client.list(status=_OPEN, after=after, limit=_PAGE)
        for row in page:
            what = _trouble(row, now)
            if what:
                id_ = row.head.execution_id
                summary = (await client.why(id_)).summary
                found.append(Finding(f"execution {id_}", "warning", f"{what}: {summary}"))
        if len(page) < _PAGE:
            break
        after = (page[-1].info.created_at, page[-1].head.execution_id)
    return found[:_MOST_TOLD]


def _trouble(row: ExecutionRow, now: int) -> str:
    """Return what is wrong with an open execution at a glance; nothing if it rests as it should."""
    head = row.head
    if head.missing:
        since = f" for {length(now - head.missing_since)}" if head.missing_since is not None else ""
        if kinds := kinds_in(head.missing):
            return f"no instance understands the command {', '.join(kinds)}{since}"
        return f"no instance has a function and a free place for {', '.join(head.missing)}{since}"
    if head.takeovers > 1:
        return f"lost {head.takeovers} instances in a row"
    if head.wake_at is not None and now - head.wake_at > _LATE:
        return f"due for {length(now - head.wake_at)} and not taken up"
    return ""


def _locks_in(folder: Path) -> str:
    try_lock(folder)
    return "work"


def _checked(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "ok", check())
    except (LayoverError, OSError) as error:
        return Finding(what, "problem", str(error))
