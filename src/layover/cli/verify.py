"""`layover verify`: hold a whole database against everything that must be true of it, without changing anything."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console

from layover.bootstrap import inspectable_store
from layover.core.errors import LayoverError
from layover.runtime.verify import Progress, Violation, verify

if TYPE_CHECKING:
    from collections.abc import Callable

CLEAN = 0
FOUND = 1
UNREADABLE = 2

_BETWEEN_UPDATES = 50

Database = Annotated[str, Parameter(help="The path of a database, or its address such as sqlite:///app.db.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]


def verify_database(db: Database, *, json: Json = False) -> int:
    """Check everything that must hold of a database. Exit code 0, 1 if something does not, 2 if it cannot be read.

    It only reads, and may be used while engines are running.
    """
    out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)
    report = _Report(out, err, json=json)
    try:
        asyncio.run(_verify(db, report))
    except (LayoverError, msgspec.MsgspecError) as error:
        err.print(f"{db}: {error}", style="red", markup=False)
        return UNREADABLE
    report.end()
    return FOUND if report.found else CLEAN


class _Report:
    """What a person reads as it is found, or what a machine reads at the end."""

    def __init__(self, out: Console, err: Console, *, json: bool) -> None:
        self._out = out
        self._json = json
        self._status = err.status("") if err.is_terminal and not json else None
        self._progress = Progress()
        self.found: list[Violation] = []

    def add(self, violation: Violation) -> None:
        self.found.append(violation)
        if not self._json:
            where = violation.execution_id or "database"
            self._out.print(f"{where}: {violation.message} [{violation.code}]", style="red", markup=False)

    def tell(self, progress: Progress) -> None:
        if self._status is not None and progress.executions % _BETWEEN_UPDATES == 1:
            self._status.start()
            self._status.update(f"{progress.executions:,} of {progress.total:,} executions")
        self._progress = progress

    def end(self) -> None:
        if self._status is not None:
            self._status.stop()
        done = self._progress
        if self._json:
            said = {
                "ok": not self.found,
                "executions": done.executions,
                "events": done.events,
                "moving": done.moving,
                "violations": self.found,
            }
            sys.stdout.write(msgspec.json.format(msgspec.json.encode(said)).decode() + "\n")
            return
        sum_ = _plural(len(self.found), "violation") if self.found else "no violations"
        line = f"{_plural(done.executions, 'execution')}, {_plural(done.events, 'event')}: {sum_}"
        self._out.print(line, style="red" if self.found else "green", markup=False)
        if done.moving:
            told = f"{_plural(done.moving, 'execution')} went on too fast: their points and commands were not checked"
            self._out.print(told, style="yellow", markup=False)


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


async def _verify(db: str, report: _Report) -> None:
    store = inspectable_store(db)
    await store.open_to_read()
    try:
        tell: Callable[[Progress], None] = report.tell
        async for violation in verify(store, tell):
            report.add(violation)
    finally:
        await store.close()
