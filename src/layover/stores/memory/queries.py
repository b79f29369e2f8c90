"""Queries: go through everything, filter, sort, cut."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from layover.core.engine.state import PEOPLE
from layover.ports.trigger_records import TRIGGER_STATES
from layover.ports.view_records import ExecutionRow, Gauges, Loaded, PointFilter, Standing
from layover.stores.checks import at_most, check_ids
from layover.stores.execution_search import fits
from layover.stores.execution_waits import KINDS, awaited_counts, of_those_that_wait, those_that_wait
from layover.stores.filters import check_conditions, document_fulfils
from layover.stores.json_contains import check_where, document_contains
from layover.stores.memory.search_terms import may_be_found
from layover.stores.resting import OPEN, resting_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Entry, Head, PointRow, Wait
    from layover.ports.view_records import AwaitedCounts, ExecutionFilter, PausedFilter, RestingCounts
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryQueries:
    """Reads executions and pause points in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        return load(await self._session.turn(), execution_ids)

    async def read_heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read heads."""
        return heads(await self._session.turn(), execution_ids)

    async def find_execution(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        return get(await self._session.turn(), execution_id)

    async def list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return page(await self._session.turn(), wanted)

    async def list_paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions."""
        return paused(await self._session.turn(), wanted)

    async def read_standings(self, execution_ids: Sequence[str]) -> list[Standing | None]:
        """Read where executions stand."""
        return standings(await self._session.turn(), execution_ids)

    async def read_history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        return history(await self._session.turn(), execution_id, since, limit)

    async def list_points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        return points(await self._session.turn(), wanted)

    async def find_point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return (await self._session.turn()).points.get(point_id)

    async def find_token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        return (await self._session.turn()).tokens.get(hash_)

    async def count_by_status(self) -> dict[str, int]:
        """Count executions by status."""
        return counts(await self._session.turn())

    async def count_awaited(self, most: int) -> AwaitedCounts:
        """Count executions by what they wait on."""
        return awaited(await self._session.turn(), most)

    async def count_resting(self, workflow: str, most: int) -> RestingCounts:
        """Count what has not ended of a workflow."""
        return resting(await self._session.turn(), workflow, most)

    async def read_gauges(self, now: int, before: int, workflows: int) -> Gauges:
        """Count what has not ended or waits."""
        return gauges(await self._session.turn(), now, before, workflows)


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


def heads(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[Head | None]:
    """Read the heads of executions."""
    check_ids(execution_ids)
    return [db.heads.get(id_) for id_ in execution_ids]


def get(db: MemoryDatabase, execution_id: str) -> ExecutionRow | None:
    """Find an execution."""
    check_ids([execution_id])
    return _execution(db, execution_id) if execution_id in db.heads else None


def _execution(db: MemoryDatabase, execution_id: str) -> ExecutionRow:
    finished_at, closed = db.ends.get(execution_id, (None, None))
    info = db.infos[execution_id]
    numbers = (one.number for one in db.versions if (one.workflow, one.hash) == (info.workflow, info.hash))
    return ExecutionRow(
        head=db.heads[execution_id],
        info=info,
        version=min(numbers),
        finished_at=finished_at,
        closed=closed,
        resume_count=db.resumes.get(execution_id, 0),
    )


def page(db: MemoryDatabase, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions, newest first."""
    check_ids([wanted.parent_id] if wanted.parent_id is not None else [])
    check_ids([wanted.after[1]] if wanted.after is not None else [])
    check_where(wanted.where)
    check_conditions(wanted.conditions)
    narrowed = of_those_that_wait(wanted)
    if narrowed is None:
        return []
    terms = wanted.terms if wanted.q is None else None
    ids = [id_ for id_ in db.heads if terms is None or may_be_found(db, id_, terms)]
    rows = [_execution(db, execution_id) for execution_id in ids]
    found = [row for row in rows if _is_wanted(row, narrowed) and _began_with(db, row, narrowed)]
    if narrowed.on:
        found = those_that_wait(found, _open_kinds(db), narrowed)
    return sorted(found, key=_age, reverse=True)[: at_most(wanted.limit)]


def _open_kinds(db: MemoryDatabase) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for row in db.points.values():
        if row.status == "open":
            kinds.setdefault(row.execution_id, set()).add(row.point.kind)
    return kinds


def _is_wanted(row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    return fits(row, wanted) and (wanted.after is None or _age(row) < wanted.after)


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


def standings(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[Standing | None]:
    """Read where executions stand."""
    check_ids(execution_ids)
    return [_standing(db, id_) if db.logs.get(id_) else None for id_ in execution_ids]


def _standing(db: MemoryDatabase, execution_id: str) -> Standing:
    rows = [row for row in db.points.values() if row.execution_id == execution_id]
    newest = sorted(rows, key=_point_age, reverse=True)[:100]
    found = sorted(
        (row for row in newest if row.status == "open"),
        key=lambda row: (row.point.kind not in PEOPLE, *_point_age(row)),
    )
    return Standing(
        updated_at=db.logs[execution_id][-1].at,
        points=len(found),
        point=replace(found[0], schema=None) if found else None,
    )


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


def awaited(db: MemoryDatabase, most: int) -> AwaitedCounts:
    """Count executions by what they wait on."""
    counted: dict[str, tuple[int, int]] = {}
    for word, kinds in KINDS.items():
        rows = [row for row in db.points.values() if row.point.kind in kinds and row.status in ("open", "answered")]
        rows = sorted(rows, key=_point_age)[:most]
        counted[word] = len({row.execution_id for row in rows if row.status == "open"}), len(rows)
    kinds_of = _open_kinds(db)
    waiting = [one for one in db.heads.values() if one.status == "waiting"][:most]
    retrying = [one for one in waiting if one.wake_at is not None and one.execution_id not in kinds_of]
    paused = [one for one in db.heads.values() if one.status == "paused"][:most]
    held = [one for one in paused if PEOPLE.isdisjoint(kinds_of.get(one.execution_id, ()))]
    counted |= {"retry": (len(retrying), len(waiting)), "operator": (len(held), len(paused))}
    return awaited_counts(counted, most)


def resting(db: MemoryDatabase, workflow: str, most: int) -> RestingCounts:
    """Count what has not ended of a workflow."""
    heads = {status: [one for one in db.heads.values() if one.status == status][:most] for status in OPEN}
    counted = {status: (len(found), sum(one.workflow == workflow for one in found)) for status, found in heads.items()}
    rows = points(db, PointFilter(workflow=workflow, status=("open", "answered"), limit=most))
    return resting_counts(counted, [(row.point.node, row.point.kind, row.point.opened_at) for row in rows], most)


def gauges(db: MemoryDatabase, now: int, before: int, workflows: int) -> Gauges:
    """Count what has not ended or waits."""
    heads = list(db.heads.values())
    due = [head for head in heads if head.wake_at is not None and head.wake_at <= now]
    paused = [head for head in heads if head.paused_at is not None]
    messages = [message.due_at for message in db.outbox.values()]
    return Gauges(
        executions=dict.fromkeys(OPEN, 0) | Counter(head.status for head in heads if head.status in OPEN),
        paused=dict(sorted(Counter(head.workflow for head in paused).items())[:workflows]),
        paused_long=sum(head.paused_at < before for head in paused if head.paused_at is not None),
        oldest_paused=min((head.paused_at for head in paused if head.paused_at is not None), default=None),
        due=len(due),
        oldest_due=min((head.wake_at for head in due if head.wake_at is not None), default=None),
        commands=sum(head.commands_seq - head.commands_done for head in due),
        messages=len(messages),
        oldest_message=min(messages, default=None),
        triggers={state: sum(row.state == state for row in db.triggers.values()) for state in TRIGGER_STATES},
        pending_inputs=_pending_inputs(db, workflows),
        unindexed=len(db.unindexed),
    )


def _pending_inputs(db: MemoryDatabase, most: int) -> dict[str, int]:
    inputs = Counter(one.trigger_id for one in db.trigger_inputs.values() if one.state == "pending")
    named = sorted(inputs.items())[:most]
    rows = [(db.triggers[id_], count) for id_, count in named if id_ in db.triggers]
    return {f"{row.workflow}/{row.name}": count for row, count in rows}
