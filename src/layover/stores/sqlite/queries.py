"""Queries. Each function runs on a reader's connection and sees one moment of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from layover.ports.view_records import Loaded, Standing
from layover.stores.checks import at_most
from layover.stores.execution_waits import KINDS, awaited_counts
from layover.stores.ids import key
from layover.stores.read_times import TimedQueries, timed
from layover.stores.resting import BEGINNING, OPEN, node_of_body, resting_counts
from layover.stores.rows import command_of, entry_of
from layover.stores.sqlite.gauges import read_gauges
from layover.stores.sqlite.paging import page
from layover.stores.sqlite.rows import execution_of, head_of, point_of, wait_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    import apsw

    from layover.ports.records import Entry, Head, PointRow, QueuedCommand, Wait
    from layover.ports.view_records import (
        AwaitedCounts,
        ExecutionFilter,
        ExecutionRow,
        Gauges,
        PausedFilter,
        PointFilter,
        RestingCounts,
    )
    from layover.stores.sqlite.session import SqliteSession


# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_OLDEST = (-(2**63), "")
_LONGEST = (-(2**63), b"")
_FEW = 4  # executions, or entries of a log, that are read at a glance; more could hold up the event loop
_SOME_HEADS = 50  # heads that are read at a glance; each takes microseconds
_WAITING = frozenset({"open", "answered"})
_EXECUTION = SQL["execution_by_id"]  # values go in by position: that is faster than by name
_HEAD = SQL["head_by_id"]


class SqliteQueries(TimedQueries):
    """Reads executions and pause points of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    @timed
    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        if len(execution_ids) > _FEW:
            return await self._session.read(lambda db: load(db, execution_ids))
        return await self._session.glance(lambda db: load(db, execution_ids), statements=3 * len(execution_ids))

    @timed
    async def read_heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read heads."""
        ids = [key(id_) for id_ in execution_ids]
        if len(ids) > _SOME_HEADS:
            return await self._session.read(lambda db: heads(db, ids))
        return await self._session.glance(lambda db: heads(db, ids), statements=len(ids))

    @timed
    def find_execution(self, execution_id: str) -> Awaitable[ExecutionRow | None]:
        """Find an execution."""
        return self._session.glance(lambda db: get(db, execution_id))

    @timed
    async def list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return await self._session.read(lambda db: page(db, wanted))

    @timed
    async def list_paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions."""
        return await self._session.read(lambda db: paused(db, wanted))

    @timed
    async def read_standings(self, execution_ids: Sequence[str]) -> list[Standing | None]:
        """Read where executions stand."""
        ids = [key(id_) for id_ in execution_ids]
        return await self._session.read(lambda db: standings(db, ids))

    @timed
    async def read_history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        read = self._session.glance if limit <= _FEW else self._session.read
        return await read(lambda db: history(db, execution_id, since, limit))

    @timed
    async def list_points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        read = self._session.glance if wanted.execution_id is not None else self._session.read
        return await read(lambda db: points(db, wanted))

    @timed
    async def find_point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return await self._session.glance(lambda db: point_by_id(db, point_id))

    @timed
    async def find_token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        return await self._session.glance(lambda db: point_of_token(db, hash_))

    @timed
    async def count_by_status(self) -> dict[str, int]:
        """Count executions by status."""
        return await self._session.read(counts)

    @timed
    async def count_awaited(self, most: int) -> AwaitedCounts:
        """Count executions by what they wait on."""
        return await self._session.read(lambda db: awaited(db, most))

    @timed
    async def count_resting(self, workflow: str, most: int) -> RestingCounts:
        """Count what has not ended of a workflow."""
        return await self._session.read(lambda db: resting(db, workflow, most))

    @timed
    async def read_gauges(self, now: int, before: int, workflows: int) -> Gauges:
        """Count what has not ended or waits."""
        return await self._session.read(lambda db: read_gauges(db, self._session.path, now, before, workflows))


def load(db: apsw.Connection, execution_ids: Sequence[str]) -> list[Loaded | None]:
    """Read the snapshots and entries from which states are rebuilt."""
    return [_load(db, key(execution_id)) for execution_id in execution_ids]


def _load(db: apsw.Connection, id_: bytes) -> Loaded | None:
    row = db.execute(_EXECUTION, (id_,)).fetchone()
    if row is None:
        return None
    seq, body = db.execute(SQL["snapshot_of_execution"], (id_,)).fetchone() or (-1, None)
    entries = tuple(map(entry_of, db.execute(SQL["entries_after"], (id_, seq))))
    return Loaded(**asdict(execution_of(row)), snapshot=body, entries=entries)


def head_by_id(db: apsw.Connection, id_: bytes) -> Head | None:
    """Find the head of an execution."""
    row = db.execute(_HEAD, (id_,)).fetchone()
    return head_of(row) if row is not None else None


def commands_after(db: apsw.Connection, id_: bytes, after: int) -> list[QueuedCommand]:
    """Read the commands of an execution after one of them."""
    return [command_of(row) for row in db.execute(SQL["commands_after"], {"id": id_, "after": after})]


def awaited(db: apsw.Connection, most: int) -> AwaitedCounts:
    """Count executions by what they wait on."""
    counted: dict[str, tuple[int, int]] = {}
    for word, kinds in KINDS.items():
        counted[word] = db.execute(SQL["count_waiting_on"], {"kinds": _list(kinds), "most": most}).fetchall()[0]  # type: ignore[assignment]  # as the tables are
    for word, name in (("retry", "count_retrying"), ("operator", "count_held")):
        counted[word] = db.execute(SQL[name], {"most": most}).fetchall()[0]  # type: ignore[assignment]  # the same
    return awaited_counts(counted, most)


def resting(db: apsw.Connection, workflow: str, most: int) -> RestingCounts:
    """Count what has not ended of a workflow."""
    values: dict[str, apsw.SQLiteValue] = {"workflow": workflow, "most": most}
    counted = {
        status: db.execute(SQL["count_open_of_workflow"], {**values, "status": status}).fetchall()[0] for status in OPEN
    }
    rows = db.execute(SQL["resting_points_of_workflow"], {**values, "beginning": BEGINNING})
    return resting_counts(counted, ((node_of_body(body), kind, at) for body, kind, at in rows), most)  # type: ignore[arg-type]  # as the tables are


def heads(db: apsw.Connection, ids: Sequence[bytes]) -> list[Head | None]:
    """Read the heads of executions."""
    return [head_by_id(db, id_) for id_ in ids]


def get(db: apsw.Connection, execution_id: str) -> ExecutionRow | None:
    """Find an execution."""
    row = db.execute(_EXECUTION, (key(execution_id),)).fetchone()
    return execution_of(row) if row is not None else None


def paused(db: apsw.Connection, wanted: PausedFilter) -> list[ExecutionRow]:
    """List paused executions, the one paused longest first."""
    after_at, after_id = (wanted.after[0], key(wanted.after[1])) if wanted.after is not None else _LONGEST
    values: dict[str, apsw.SQLiteValue] = {
        "after_at": after_at,
        "after_id": after_id,
        "limit": at_most(wanted.limit),
    }
    statement = SQL["list_paused_executions"]
    if wanted.workflow is not None:
        values["workflow"] = wanted.workflow
        statement = SQL["list_paused_executions_of_workflow"]
    return [execution_of(row) for row in db.execute(statement, values)]


def standings(db: apsw.Connection, ids: Sequence[bytes]) -> list[Standing | None]:
    """Read where executions stand."""
    found: list[Standing | None] = [None] * len(ids)
    keys = msgspec.json.encode([id_.hex() for id_ in ids]).decode()
    for place, updated_at, points, *row in db.execute(SQL["standings_of_executions"], (keys,)):
        point = point_of(row) if row[0] is not None else None
        found[place] = Standing(updated_at=updated_at, points=points, point=point)
    return found


def history(db: apsw.Connection, execution_id: str, since: int, limit: int) -> list[Entry]:
    """Read the log, beginning with the entry that holds an event."""
    rows = db.execute(SQL["history"], (key(execution_id), since, at_most(limit)))
    return [entry_of(row) for row in rows]


def points(db: apsw.Connection, wanted: PointFilter) -> list[PointRow]:
    """List pause points, oldest first."""
    after_at, after_id = wanted.after or _OLDEST
    values: dict[str, apsw.SQLiteValue] = {
        "workflow": wanted.workflow,
        "kind": wanted.kind,
        "status": _list(wanted.status),
        "after_at": after_at,
        "after_id": after_id,
        "limit": at_most(wanted.limit),
    }
    if wanted.execution_id is not None:
        values["execution_id"] = key(wanted.execution_id)
        statement = SQL["list_points_of_execution"]
    elif wanted.status and _WAITING.issuperset(wanted.status):
        statement = SQL[_waiting(wanted)]
    else:
        statement = SQL["list_points"]
    return [point_of(row) for row in db.execute(statement, values)]


def _waiting(wanted: PointFilter) -> str:
    """Return the statement that lists open or answered points."""
    if wanted.workflow is None:
        return "list_waiting_points" if wanted.kind is None else "list_waiting_points_of_kind"
    return "list_waiting_points_of_workflow" if wanted.kind is None else "list_waiting_points_of_workflow_and_kind"


def point_by_id(db: apsw.Connection, point_id: str) -> PointRow | None:
    """Find a pause point, also a closed one."""
    row = db.execute(SQL["point_by_id"], {"point": point_id}).fetchone()
    return point_of(row) if row is not None else None


def point_of_token(db: apsw.Connection, hash_: bytes) -> Wait | None:
    """Find the point that a token belongs to."""
    row = db.execute(SQL["point_of_token"], {"hash": hash_}).fetchone()
    return wait_of(row) if row is not None else None


def counts(db: apsw.Connection) -> dict[str, int]:
    """Count executions by status."""
    return {status: count for status, count in db.execute(SQL["count_executions"]) if count}


def _list(values: Sequence[str]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None
