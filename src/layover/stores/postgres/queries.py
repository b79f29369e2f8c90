"""Queries. Each is one statement, and so sees one moment of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec.structs import asdict

from layover.core.engine.events import PointKind
from layover.ports.view_records import Loaded, Standing
from layover.stores.checks import at_most, check_ids, check_texts
from layover.stores.execution_waits import KINDS, awaited_counts
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.gauges import read_gauges
from layover.stores.postgres.paging import page
from layover.stores.postgres.rows import EXECUTION_COLUMNS, execution_of, head_of, point_of, wait_of
from layover.stores.read_times import TimedQueries, timed
from layover.stores.resting import BEGINNING, OPEN, node_of_body, resting_counts
from layover.stores.rows import command_of, entry_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    from layover.stores.postgres.database import Row, StatementRunner, Transaction
    from layover.stores.postgres.session import PostgresSession


# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_OLDEST = (-(2**63), "")
_LONGEST = (-(2**63), "00000000-0000-0000-0000-000000000000")
_WAITING = frozenset({"open", "answered"})
_KINDS: tuple[str, ...] = get_args(PointKind)


class PostgresQueries(TimedQueries):
    """Reads executions and pause points of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self.start_anew()

    def start_anew(self) -> None:
        """Begin with new batches: those of before may belong to an event loop that has ended."""
        self._loads = Batcher(self._load_for_all)
        self._found_points = Batcher(self._find_points_for_all)
        self._points = Batcher(self._list_points_for_all)
        self._entries = Batcher(self._read_entries_for_all)

    @timed
    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        check_ids(execution_ids)
        return await self._loads.ask(execution_ids)

    async def _load_for_all(self, wanted: Sequence[Sequence[str]]) -> list[list[Loaded | None]]:
        """Read them for several callers.

        Head, snapshot and entries come from one statement: between two, the log could grow or be purged.
        """
        distinct = list(dict.fromkeys(execution_id for execution_ids in wanted for execution_id in execution_ids))
        found = {row[0]: _loaded(row) for row in await self._session.db.fetch("load_executions", distinct)}
        return [[found.get(execution_id) for execution_id in execution_ids] for execution_ids in wanted]

    @timed
    async def read_heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read the heads of executions."""
        check_ids(execution_ids)
        distinct = list(dict.fromkeys(execution_ids))
        found = {row[0]: head_of(row) for row in await self._session.db.fetch("heads_by_id", distinct)}
        return [found.get(id_) for id_ in execution_ids]

    @timed
    async def find_execution(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        check_ids([execution_id])
        row = await self._session.db.fetchrow("execution_by_id", execution_id)
        return execution_of(row) if row is not None else None

    @timed
    async def list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions, newest first."""
        return await page(self._session.db, wanted)

    @timed
    async def list_paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions, the one paused longest first."""
        db = self._session.db
        after = wanted.after if wanted.after is not None else _LONGEST
        check_ids([after[1]])
        usual = (at_most(wanted.limit), *after)
        if wanted.workflow is not None:
            rows = await db.fetch("list_paused_executions_of_workflow", *usual, wanted.workflow)
        else:
            rows = await db.fetch("list_paused_executions", *usual)
        return [execution_of(row) for row in rows]

    @timed
    async def read_standings(self, execution_ids: Sequence[str]) -> list[Standing | None]:
        """Read where executions stand."""
        check_ids(execution_ids)
        found: list[Standing | None] = [None] * len(execution_ids)
        for place, at, points, *row in await self._session.db.fetch("standings_of_executions", list(execution_ids)):
            standing = (
                Standing(updated_at=at)
                if points is None
                else Standing(updated_at=at, points=points, point=point_of(row))
            )
            found[place - 1] = standing
        return found

    @timed
    async def read_history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read the log, beginning with the entry that holds an event."""
        check_ids([execution_id])
        if limit == 1:
            return await self._entries.ask((execution_id, since))
        return [entry_of(row) for row in await self._session.db.fetch("history", execution_id, since, at_most(limit))]

    async def _read_entries_for_all(self, wanted: Sequence[tuple[str, int]]) -> list[list[Entry]]:
        """Read the entries that hold an event, for several callers."""
        ids, seqs = [id_ for id_, _ in wanted], [seq for _, seq in wanted]
        found: list[list[Entry]] = [[] for _ in wanted]
        for place, *row in await self._session.db.fetch("entries_with_events", ids, seqs):
            found[place - 1].append(entry_of(row))
        return found

    @timed
    async def list_points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points, oldest first, by the index that fits the filter best."""
        if wanted.execution_id is not None:
            check_ids([wanted.execution_id])
            return await self._points.ask(wanted)
        after = wanted.after if wanted.after is not None else _OLDEST
        if wanted.status and _WAITING.issuperset(wanted.status):
            rows = await self._list_waiting(wanted, (wanted.status, at_most(wanted.limit), *after))
        else:
            usual = (wanted.workflow, wanted.kind, wanted.status or None, at_most(wanted.limit), *after)
            rows = await self._session.db.fetch("list_points", *usual)
        return [point_of(row) for row in rows]

    async def _list_waiting(self, wanted: PointFilter, usual: tuple[object, ...]) -> list[Row]:
        """Read open or answered points."""
        db = self._session.db
        match wanted.workflow, wanted.kind:
            case None, None:
                return await db.fetch("list_waiting_points", *usual)
            case None, kind:
                return await db.fetch("list_waiting_points_of_kind", *usual, kind)
            case workflow, None:
                return await db.fetch("list_waiting_points_of_workflow", *usual, workflow, _KINDS)
            case workflow, kind:
                return await db.fetch("list_waiting_points_of_workflow_and_kind", *usual, workflow, kind)

    async def _list_points_for_all(self, wanted: Sequence[PointFilter]) -> list[list[PointRow]]:
        """List pause points of executions, for several callers."""
        after = [one.after if one.after is not None else _OLDEST for one in wanted]
        rows = await self._session.db.fetch(
            "list_points_of_executions",
            [one.execution_id for one in wanted],
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

    @timed
    async def find_point(self, point_id: str) -> PointRow | None:
        """Find a pause point, also a closed one."""
        check_texts(point_id)
        return await self._found_points.ask(point_id)

    async def _find_points_for_all(self, wanted: Sequence[str]) -> list[PointRow | None]:
        """Find pause points for several callers: who answers with an id in hand finds the point first."""
        rows = await self._session.db.fetch("points_by_id", list(dict.fromkeys(wanted)))
        found = {row[0]: point_of(row) for row in rows}
        return [found.get(point_id) for point_id in wanted]

    @timed
    async def find_token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        row = await self._session.db.fetchrow("point_of_token", hash_)
        return wait_of(row) if row is not None else None

    @timed
    async def count_by_status(self) -> dict[str, int]:
        """Count executions by status."""

        async def count(tx: Transaction) -> dict[str, int]:
            await tx.fetch("allow_sequential_scans")
            return {status: count for status, count in await tx.fetch("count_executions") if count}

        return await self._session.db.transact(count)

    @timed
    async def count_awaited(self, most: int) -> AwaitedCounts:
        """Count executions by what they wait on."""

        async def count(tx: Transaction) -> AwaitedCounts:
            counted: dict[str, tuple[int, int]] = {}
            for word, kinds in KINDS.items():
                counted[word] = _counted(await tx.fetchrow("count_waiting_on", list(kinds), most))
            for word, name in (("retry", "count_retrying"), ("operator", "count_held")):
                counted[word] = _counted(await tx.fetchrow(name, most))
            return awaited_counts(counted, most)

        return await self._session.db.transact(count)

    @timed
    async def count_resting(self, workflow: str, most: int) -> RestingCounts:
        """Count what has not ended of a workflow."""

        async def count(tx: Transaction) -> RestingCounts:
            counted = await tx.fetch("count_open_of_workflow", workflow, most, list(OPEN))
            rows = await tx.fetch("resting_points_of_workflow", workflow, most, BEGINNING)
            points = ((node_of_body(body), kind, at) for body, kind, at in rows)
            return resting_counts({status: (looked_at, fit) for status, looked_at, fit in counted}, points, most)

        return await self._session.db.transact(count)

    @timed
    async def read_gauges(self, now: int, before: int, workflows: int) -> Gauges:
        """Count what has not ended or waits."""
        return await self._session.db.transact(lambda tx: read_gauges(tx, now, before, workflows))


def _counted(row: Row | None) -> tuple[int, int]:
    count, looked_at = row or (0, 0)
    return count, looked_at


def _loaded(row: Row) -> Loaded:
    snapshot, *columns = row[EXECUTION_COLUMNS:]
    return Loaded(
        **asdict(execution_of(row[:EXECUTION_COLUMNS])),
        snapshot=snapshot,
        # Without entries the columns are NULL.
        entries=tuple(map(entry_of, zip(*(column or () for column in columns), strict=True))),
    )


async def commands_after(db: StatementRunner, execution_id: str, after: int) -> list[QueuedCommand]:
    """Read the commands of an execution after one of them."""
    check_ids([execution_id])
    return [command_of(row) for row in await db.fetch("commands_after", execution_id, after)]


async def commands_of_executions(
    db: StatementRunner, execution_ids: Sequence[str], afters: Sequence[int]
) -> dict[str, list[QueuedCommand]]:
    """Read the commands of executions, each after one of them; executions without any are left out."""
    found: dict[str, list[QueuedCommand]] = {}
    for execution_id, *columns in await db.fetch("commands_of_executions", execution_ids, afters):
        found.setdefault(execution_id, []).append(command_of(columns))
    return found
