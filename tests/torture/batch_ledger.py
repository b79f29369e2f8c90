"""What a batch has left in a database, read with plain SQL: it shares no code with the engine that it judges.

Addresses are those of the engine. A file is read with the `sqlite3` of Python, a schema with a connection of its own.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import asyncpg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STARTED: Final = "SELECT execution_id FROM event_rows WHERE type = 'execution_created'"
_REWOUND: Final = "SELECT execution_id FROM event_rows WHERE type = 'rewound'"
_ANSWERED: Final = "SELECT execution_id FROM event_rows WHERE type = 'point_answered'"
_AUDITED_REWINDS: Final = "SELECT target, request_id FROM audit WHERE act = 'execution.rewind'"
_FIGURES: Final = "SELECT act, state, code, total, done, skipped, failed, position FROM batches"
_ITEMS: Final = """
    SELECT b.act, i.n, i.target, i.parent, i.state
    FROM batch_items AS i JOIN batches AS b ON b.id = i.batch_id
    ORDER BY b.act, i.n
"""


class Figures(NamedTuple):
    """The row of a batch."""

    state: str
    code: str
    total: int
    done: int
    skipped: int
    failed: int
    position: int


class Item(NamedTuple):
    """The row of an item."""

    n: int
    target: str
    execution: str
    state: str


class Ledger:
    """What is in the database at one moment."""

    def __init__(self, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        self.started = [one for (one,) in rows[_STARTED]]
        self.rewound = Counter(one for (one,) in rows[_REWOUND])
        self.answered = Counter(one for (one,) in rows[_ANSWERED])
        self.audited = Counter(target for target, _ in rows[_AUDITED_REWINDS])
        self.requests = {request for _, request in rows[_AUDITED_REWINDS]}
        self.batches = {act: Figures(*figures) for act, *figures in rows[_FIGURES]}
        self._items: dict[str, list[Item]] = {act: [] for act in self.batches}
        for act, *columns in rows[_ITEMS]:
            self._items[act].append(Item(*columns))

    def faults_of_rewinds(self) -> list[str]:
        """Return what speaks against one rewind of each execution."""
        faults = self._faults_of_completed("rewind")
        items = self._items["rewind"]
        faults += _differences("items", Counter(item.target for item in items), self.started)
        faults += _differences("rewinds", self.rewound, self.started)
        faults += _differences("audit entries", self.audited, self.started)
        if len(self.requests) != 1:
            faults.append(f"the rewinds were asked for by {len(self.requests)} batches")
        return faults

    def faults_of_canary(self, count: int) -> list[str]:
        """Return what speaks against a batch of answers that has stopped right behind its canary."""
        figures, items = self.batches["answer"], self._items["answer"]
        faults: list[str] = []
        wanted = Figures("stopped", "canary_failed", len(self.started), count, 0, 0, count)
        if figures != wanted:
            faults.append(f"the batch is {figures}, not {wanted}")
        faults += _differences("answers", self.answered, [item.execution for item in items if item.n <= count])
        touched = [item.n for item in items if item.n > count and item.state != "pending"]
        if touched:
            faults.append(f"{len(touched)} items behind the canary are not pending, such as {touched[0]}")
        return faults

    def faults_of_answers(self) -> list[str]:
        """Return what speaks against one answer to each execution."""
        return [*self._faults_of_completed("answer"), *_differences("answers", self.answered, self.started)]

    def _faults_of_completed(self, act: str) -> list[str]:
        number, figures, items = len(self.started), self.batches[act], self._items[act]
        wanted = Figures("completed", "", number, number, 0, 0, number)
        faults = [f"the batch is {figures}, not {wanted}"] if figures != wanted else []
        if [item.n for item in items] != list(range(1, number + 1)):
            faults.append(f"the {len(items)} items are not numbered from 1 to {number}")
        states = Counter(item.state for item in items)
        if states != {"done": number}:
            faults.append(f"the items are {dict(states)}")
        return faults


async def read_ledger(address: str) -> Ledger:
    """Read a database."""
    statements = (_STARTED, _REWOUND, _ANSWERED, _AUDITED_REWINDS, _FIGURES, _ITEMS)
    if address.startswith("sqlite:///"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as file:
            return Ledger({one: file.execute(one).fetchall() for one in statements})
    parts = urlsplit(address)
    schema = parse_qs(parts.query)["schema"][0]
    server = parts._replace(query="").geturl()
    connection = await asyncpg.connect(server, server_settings={"search_path": schema})
    try:
        return Ledger({one: [[*map(_plain, row)] for row in await connection.fetch(one)] for one in statements})
    finally:
        await connection.close()


def _plain(value: object) -> object:
    return value if isinstance(value, int | str) else str(value)


def _differences(what: str, found: Counter[str], wanted: Sequence[str]) -> list[str]:
    """Return what is there other than once for each that is wanted."""
    missing, foreign = {*wanted} - {*found}, {*found} - {*wanted}
    several = [one for one, times in found.items() if times > 1]
    sets = (("have none", missing), ("have several", several), ("should have none", foreign))
    return [f"{what}: {len(those)} {are}, such as {min(those)}" for are, those in sets if those]
