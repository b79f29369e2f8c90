"""Queries. Each is one statement, and so sees one moment of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec.structs import asdict

from layover.core.engine.events import PointKind
from layover.ports.records import Loaded
from layover.stores.checks import at_most, check_ids
from layover.stores.gauges import sum_gauges
from layover.stores.postgres.rows import (
    EXECUTION_COLUMNS,
    command_of,
    entry_of,
    execution_of,
    head_of,
    point_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import (
        Command,
        Entry,
        ExecutionRow,
        Gauges,
        Head,
        PausedFilter,
        PointFilter,
        PointRow,
    )
    from layover.stores.postgres.database import Database, Row, StatementRunner, Transaction


# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_OLDEST = (-(2**63), "")
_LONGEST = (-(2**63), "00000000-0000-0000-0000-000000000000")
_WAITING = frozenset({"open", "answered"})
_KINDS: tuple[str, ...] = get_args(PointKind)


async def load_for_all(db: StatementRunner, wanted: Sequence[Sequence[str]]) -> list[list[Loaded | None]]:
    """Read the snapshots and entries from which states are rebuilt, for several callers.

    Head, snapshot and entries come from one statement: between two, the log could grow or be purged.
    """
    check_ids(execution_id for execution_ids in wanted for execution_id in execution_ids)
    distinct = list(dict.fromkeys(execution_id for execution_ids in wanted for execution_id in execution_ids))
    found = {row[0]: _loaded(row) for row in await db.fetch("load_executions", distinct)}
    return [[found.get(execution_id) for execution_id in execution_ids] for execution_ids in wanted]


def _loaded(row: Row) -> Loaded:
    snapshot, *columns = row[EXECUTION_COLUMNS:]
    return Loaded(
        **asdict(execution_of(row[:EXECUTION_COLUMNS])),
        snapshot=snapshot,
        # Without entries the columns are NULL.
        entries=tuple(map(entry_of, zip(*(column or () for column in columns), strict=True))),
    )


async def commands_after(db: StatementRunner, execution_id: str, after: int) -> list[Command]:
    """Read the commands of an execution after one of them."""
    check_ids([execution_id])
    return [command_of(row) for row in await db.fetch("commands_after", execution_id, after)]


async def commands_of_executions(
    db: StatementRunner, execution_ids: Sequence[str], afters: Sequence[int]
) -> dict[str, list[Command]]:
    """Read the commands of executions, each after one of them; executions without any are left out."""
    found: dict[str, list[Command]] = {}
    for execution_id, *columns in await db.fetch("commands_of_executions", execution_ids, afters):
        found.setdefault(execution_id, []).append(command_of(columns))
    return found


async def is_taken(db: StatementRunner, execution_id: str, source: str) -> bool:
    """Return whether an execution has a command from a source."""
    return await db.fetchval("command_by_source", execution_id, source) is not None


async def heads(db: StatementRunner, execution_ids: Sequence[str]) -> list[Head | None]:
    """Read the heads of executions."""
    found = {row[0]: head_of(row) for row in await db.fetch("heads_by_id", list(dict.fromkeys(execution_ids)))}
    return [found.get(id_) for id_ in execution_ids]


async def unread(db: StatementRunner, seen: Sequence[tuple[str, int]]) -> list[str]:
    """Return the executions that have more commands than their driver has seen."""
    ids = [execution_id for execution_id, _ in seen]
    check_ids(ids)
    return [row[0] for row in await db.fetch("executions_with_unread_commands", ids, [n for _, n in seen])]


async def get(db: StatementRunner, execution_id: str) -> ExecutionRow | None:
    """Find an execution."""
    check_ids([execution_id])
    row = await db.fetchrow("execution_by_id", execution_id)
    return execution_of(row) if row is not None else None


async def paused(db: StatementRunner, wanted: PausedFilter) -> list[ExecutionRow]:
    """List paused executions, the one paused longest first."""
    after = wanted.after if wanted.after is not None else _LONGEST
    check_ids([after[1]])
    usual = (at_most(wanted.limit), *after)
    if wanted.workflow is not None:
        rows = await db.fetch("list_paused_executions_of_workflow", *usual, wanted.workflow)
    else:
        rows = await db.fetch("list_paused_executions", *usual)
    return [execution_of(row) for row in rows]


async def history(db: StatementRunner, execution_id: str, since: int, limit: int) -> list[Entry]:
    """Read the log, beginning with the entry that holds an event."""
    check_ids([execution_id])
    return [entry_of(row) for row in await db.fetch("history", execution_id, since, at_most(limit))]


async def points(db: StatementRunner, wanted: PointFilter) -> list[PointRow]:
    """List pause points, oldest first, by the index that fits the filter best."""
    after = wanted.after if wanted.after is not None else _OLDEST
    usual = (wanted.workflow, wanted.kind, wanted.status or None, at_most(wanted.limit), *after)
    if wanted.execution_id is not None:
        return (await points_of_executions(db, [wanted]))[0]
    if wanted.status and _WAITING.issuperset(wanted.status):
        rows = await _waiting(db, wanted, (wanted.status, at_most(wanted.limit), *after))
    else:
        rows = await db.fetch("list_points", *usual)
    return [point_of(row) for row in rows]


async def points_of_executions(db: StatementRunner, wanted: Sequence[PointFilter]) -> list[list[PointRow]]:
    """List pause points of executions, for several callers."""
    execution_ids = [one.execution_id or "" for one in wanted]
    check_ids(execution_ids)
    after = [one.after if one.after is not None else _OLDEST for one in wanted]
    rows = await db.fetch(
        "list_points_of_executions",
        execution_ids,
        [one.workflow for one in wanted],
        [one.kind for one in wanted],
        [" ".join(one.status) or None for one in wanted],
        [at_most(one.limit) for one in wanted],
        [at for at, _ in after],
        [id_ for _, id_ in after],
    )
    found: list[list[PointRow]] = [[] for _ in wanted]
    for place, *row in rows:
        found[place - 1].append(point_of(row))
    return found


async def _waiting(db: StatementRunner, wanted: PointFilter, usual: tuple[object, ...]) -> list[Row]:
    """Read open or answered points."""
    match wanted.workflow, wanted.kind:
        case None, None:
            return await db.fetch("list_waiting_points", *usual)
        case None, kind:
            return await db.fetch("list_waiting_points_of_kind", *usual, kind)
        case workflow, None:
            return await db.fetch("list_waiting_points_of_workflow", *usual, workflow, _KINDS)
        case workflow, kind:
            return await db.fetch("list_waiting_points_of_workflow_and_kind", *usual, workflow, kind)


async def point_by_id(db: StatementRunner, point_id: str) -> PointRow | None:
    """Find a pause point, also a closed one."""
    row = await db.fetchrow("point_by_id", point_id)
    return point_of(row) if row is not None else None


async def gauges(db: Database, now: int, before: int) -> Gauges:
    """Count executions by status, due ones, unread commands and long pauses."""

    async def look(tx: Transaction) -> Gauges:
        await tx.fetch("allow_sequential_scans")
        return sum_gauges([tuple(row) for row in await tx.fetch("gauges", now, before)])

    return await db.transact(look)


async def counts(db: Database) -> dict[str, int]:
    """Count executions by status."""

    async def count(tx: Transaction) -> dict[str, int]:
        await tx.fetch("allow_sequential_scans")
        return {row["status"]: row["count"] for row in await tx.fetch("count_executions")}

    return await db.transact(count)
