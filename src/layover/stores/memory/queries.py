"""Queries: go through everything, filter, sort, cut."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.records import ExecutionRow, Loaded
from layover.stores.checks import at_most, check_ids
from layover.stores.filters import check_conditions, document_fulfils
from layover.stores.gauges import sum_gauges
from layover.stores.json_contains import check_where, document_contains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import (
        Command,
        Entry,
        ExecutionFilter,
        Gauges,
        Head,
        PausedFilter,
        PointFilter,
        PointRow,
    )
    from layover.stores.memory.database import MemoryDatabase


def load(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[Loaded | None]:
    """Read the snapshots and entries from which states are rebuilt."""
    check_ids(execution_ids)
    return [_load(db, execution_id) for execution_id in execution_ids]


def _load(db: MemoryDatabase, execution_id: str) -> Loaded | None:
    if execution_id not in db.heads:
        return None
    seq, body = db.snapshots.get(execution_id, (-1, None))
    return Loaded(
        **asdict(_execution(db, execution_id)),
        snapshot=body,
        entries=tuple(entry for entry in db.logs[execution_id] if entry.seq > seq),
    )


def commands(db: MemoryDatabase, execution_id: str, after: int) -> list[Command]:
    """Read the commands of an execution after one of them."""
    check_ids([execution_id])
    return [command for command in db.commands.get(execution_id, []) if command.n > after]


def is_taken(db: MemoryDatabase, execution_id: str, source: str) -> bool:
    """Return whether an execution has a command from a source."""
    check_ids([execution_id])
    return any((one.source, one.source_n) == (source, 0) for one in db.commands.get(execution_id, ()))


def heads(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[Head | None]:
    """Read the heads of executions."""
    check_ids(execution_ids)
    return [db.heads.get(id_) for id_ in execution_ids]


def unread(db: MemoryDatabase, seen: Sequence[tuple[str, int]]) -> list[str]:
    """Return the executions that have more commands than their driver has seen."""
    check_ids(id_ for id_, _ in seen)
    return [id_ for id_, n in seen if id_ in db.heads and db.heads[id_].commands_seq > n]


def get(db: MemoryDatabase, execution_id: str) -> ExecutionRow | None:
    """Find an execution."""
    check_ids([execution_id])
    return _execution(db, execution_id) if execution_id in db.heads else None


def _execution(db: MemoryDatabase, execution_id: str) -> ExecutionRow:
    finished_at, closed = db.ends.get(execution_id, (None, None))
    info = db.infos[execution_id]
    numbers = (one.number for one in db.versions if (one.workflow, one.hash) == (info.workflow, info.hash))
    return ExecutionRow(
        head=db.heads[execution_id], info=info, version=min(numbers), finished_at=finished_at, closed=closed
    )


def page(db: MemoryDatabase, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions, newest first."""
    check_ids([wanted.parent_id] if wanted.parent_id is not None else [])
    check_ids([wanted.after[1]] if wanted.after is not None else [])
    check_where(wanted.where)
    check_conditions(wanted.conditions)
    rows = [_execution(db, execution_id) for execution_id in db.heads]
    found = [row for row in rows if _is_wanted(row, wanted) and _began_with(db, row, wanted)]
    return sorted(found, key=_age, reverse=True)[: at_most(wanted.limit)]


def _is_wanted(row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    return (
        wanted.workflow in (None, row.head.workflow)
        and (not wanted.status or row.head.status in wanted.status)
        and (wanted.tag is None or wanted.tag in row.info.tags)
        and wanted.parent_id in (None, row.info.parent_id)
        and (wanted.after is None or _age(row) < wanted.after)
    )


def _began_with(db: MemoryDatabase, row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    given = db.inputs.get(row.head.execution_id)
    return (wanted.where is None or document_contains(given, wanted.where)) and (
        not wanted.conditions or document_fulfils(given, wanted.conditions)
    )


def _age(row: ExecutionRow) -> tuple[int, str]:
    return row.info.created_at, row.head.execution_id


def paused(db: MemoryDatabase, wanted: PausedFilter) -> list[ExecutionRow]:
    """List paused executions, the one paused longest first."""
    check_ids([wanted.after[1]] if wanted.after is not None else [])
    heads = [(head.paused_at, id_) for id_, head in db.heads.items() if wanted.workflow in (None, head.workflow)]
    found = sorted(
        (at, id_) for at, id_ in heads if at is not None and (wanted.after is None or (at, id_) > wanted.after)
    )
    return [_execution(db, id_) for _, id_ in found[: at_most(wanted.limit)]]


def history(db: MemoryDatabase, execution_id: str, since: int, limit: int) -> list[Entry]:
    """Read the log, beginning with the entry that holds an event."""
    check_ids([execution_id])
    entries = [entry for entry in db.logs.get(execution_id, []) if entry.seq + entry.count > since]
    return entries[: at_most(limit)]


def points(db: MemoryDatabase, wanted: PointFilter) -> list[PointRow]:
    """List pause points, oldest first."""
    check_ids([wanted.execution_id] if wanted.execution_id is not None else [])
    found = [row for row in db.points.values() if _is_wanted_point(row, wanted)]
    return sorted(found, key=_point_age)[: at_most(wanted.limit)]


def _is_wanted_point(row: PointRow, wanted: PointFilter) -> bool:
    return (
        wanted.execution_id in (None, row.execution_id)
        and wanted.workflow in (None, row.workflow)
        and wanted.kind in (None, row.point.kind)
        and (not wanted.status or row.status in wanted.status)
        and (wanted.after is None or _point_age(row) > wanted.after)
    )


def _point_age(row: PointRow) -> tuple[int, str]:
    return row.point.opened_at, row.point.id


def counts(db: MemoryDatabase) -> dict[str, int]:
    """Count executions by status."""
    return dict(Counter(head.status for head in db.heads.values()))


def gauges(db: MemoryDatabase, now: int, before: int) -> Gauges:
    """Count executions by status, due ones, unread commands and long pauses."""
    rows = [
        (
            head.status,
            1,
            head.commands_seq - head.commands_done,
            int(head.wake_at is not None and head.wake_at <= now),
            int(head.paused_at is not None and head.paused_at < before),
            head.paused_at,
        )
        for head in db.heads.values()
    ]
    return sum_gauges(rows)
