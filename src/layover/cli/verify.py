"""`layover verify`: hold a whole database against everything that must be true of it, without changing anything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from layover.bootstrap import inspectable_store
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.options import DEFAULT_DB, Json
from layover.cli.screen import ERR, plural, print_json, say
from layover.runtime.maintenance.verify import Progress, Violation, verify

if TYPE_CHECKING:
    from collections.abc import Callable

_BETWEEN_UPDATES = 50

Database = Annotated[
    str,
    Parameter(env_var="LAYOVER_DB", help="The path of a database, or its address such as sqlite:///app.db."),
]


def verify_database(db: Database = DEFAULT_DB, *, json: Json = False) -> int:
    """Check everything that must hold of a database. Exit code 0, 1 if something does not, 2 if it cannot be read.

    It only reads, and may be used while engines are running.
    """
    report = _Report(json=json)
    try:
        asyncio.run(_verify(db, report))
    except msgspec.MsgspecError as error:
        raise Stop(f"{db}: {error}") from error
    report.end()
    return FAILED if report.found else DONE


class _Report:
    """What a person reads as it is found, or what a machine reads at the end."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self._status = ERR.status("") if ERR.is_terminal and not json else None
        self._progress = Progress()
        self.found: list[Violation] = []

    def add(self, violation: Violation) -> None:
        self.found.append(violation)
        if not self._json:
            where = violation.execution_id or "database"
            say(f"{where}: {violation.message} [{violation.code}]", "red")

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
            print_json(said)
            return
        sum_ = plural(len(self.found), "violation") if self.found else "no violations"
        line = f"{plural(done.executions, 'execution')}, {plural(done.events, 'event')}: {sum_}"
        say(line, "red" if self.found else "green")
        if done.moving:
            told = f"{plural(done.moving, 'execution')} went on too fast: their points and commands were not checked"
            say(told, "yellow")


async def _verify(db: str, report: _Report) -> None:
    store = inspectable_store(db)
    await store.open_to_read()
    try:
        tell: Callable[[Progress], None] = report.tell
        async for violation in verify(store, tell):
            report.add(violation)
    finally:
        await store.close()
