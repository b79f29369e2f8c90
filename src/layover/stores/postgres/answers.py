"""Answers from outside, gathered as appends are: while some are on their way, those that come in go together.

Who may answer is judged here and not in the database, so points are read, judged, and written if their executions have
not moved meanwhile. Who is overtaken again and again has the head locked first. In a group each execution is answered
once; the next answer to it reads what the first has left.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from layover.core.engine.answers import Refused, reserve
from layover.ports.errors import StoreError, StoreUnusable
from layover.ports.records import CLOSED, Claimed, Command, Refusal, Reserved
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.commands import until_seen
from layover.stores.postgres.rows import HEAD_COLUMNS, command_of, head_of, point_of
from layover.stores.refusals import execution_closed, point_closed, unknown_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Point
    from layover.ports.records import AuditEntry, Claim, Head
    from layover.stores.postgres.database import Database, Row, StatementRunner, Transaction

Answered: TypeAlias = "Reserved | Refusal"

_TRIES = 3
_POINT_COLUMNS = 7


class AnswerRequest(NamedTuple):
    """Somebody answers; whoever wishes to drive the execution because of it may claim it."""

    answer: Answer
    source: str
    now: int
    wish: Claim | None
    audit: AuditEntry | None = None


class Answers:
    """Takes answers, in as few statements as there is time for."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._gathering = Batcher(partial(attempt, db))

    async def take(self, asked: AnswerRequest) -> Answered:
        """Take an answer if its point is open, this person may give it, and it fits."""
        for _ in range(_TRIES):
            try:
                told = await self._gathering.ask(asked)
            except StoreError as error:
                if error.code != "command_exists":
                    raise
                break  # one of those that went together came in by another way at the same moment
            if told is not None:
                return told
        return await take_locking(self._db, asked)


async def take_locking(db: Database, asked: AnswerRequest) -> Answered:
    """Take an answer under the lock of its execution's head."""

    async def locking(tx: Transaction) -> Answered | None:
        await tx.fetch("lock_head_of_point", asked.answer.point)
        (told,) = await attempt(tx, [asked])
        return told

    while True:  # under the lock nothing moves, so this is once, unless what was locked has just been purged
        told = await until_seen(lambda: db.transact(locking))
        if told is not None:
            return told


class _Judged(NamedTuple):
    """An answer that may be written: to the point as it stands then, and as a command."""

    place: int
    head: Head
    point: Point
    command: Command
    wish: Claim | None
    audit: AuditEntry | None


async def attempt(db: StatementRunner, group: Sequence[AnswerRequest]) -> list[Answered | None]:
    """Read, judge and write; None for each that something else came before, of which nothing was written."""
    found = {row[0] - 1: row for row in await db.fetch("points_to_answer", *_sought(group))}
    told: list[Answered | None] = [None] * len(group)
    judged: dict[str, _Judged] = {}
    for place, asked in enumerate(group):
        verdict = _judge(place, asked, found.get(place))
        if not isinstance(verdict, _Judged):
            told[place] = verdict
        elif verdict.head.execution_id not in judged:
            judged[verdict.head.execution_id] = verdict
    for one, answer in await _write(db, list(judged.values())) if judged else ():
        told[one.place] = answer
    return told


def _sought(group: Sequence[AnswerRequest]) -> tuple[list[str], list[str]]:
    return [asked.answer.point for asked in group], [asked.source for asked in group]


def _judge(place: int, asked: AnswerRequest, row: Row | None) -> Answered | _Judged:
    given, source, now, wish, audit = asked
    if row is None:
        return unknown_point(given.point)
    found, kept, before = point_of(row[1 : _POINT_COLUMNS + 1]), row[_POINT_COLUMNS + 1 : -1], row[-1]
    if kept[0] is None:
        raise StoreUnusable(f"The pause point {given.point} belongs to no execution.", code="corrupt")
    head = head_of(kept)
    if before is not None:
        return _reserved(head, found.point, before, repeated=True)
    if found.closed_at is not None:
        return point_closed(found.status)
    if head.status in CLOSED:
        return execution_closed(head.status)
    point = reserve(found.point, found.schema, given, now)
    if isinstance(point, Refused):
        return point
    if point is found.point:  # the same person said the same before
        return _reserved(head, point, head.commands_seq, repeated=True)
    n = head.commands_seq + 1
    # What nobody repeats is told apart by its place.
    source_n = 0 if source else n
    body = msgspec.json.encode(given)
    command = Command(n=n, at=now, kind="Answer", body=body, source=source, source_n=source_n)
    return _Judged(place, head, point, command, wish, audit)


async def _write(db: StatementRunner, judged: list[_Judged]) -> list[tuple[_Judged, Reserved]]:
    """Write answers whose heads are as they were read; claim executions for who wishes it, if nobody drives them."""
    values = (
        [one.head.execution_id for one in judged],
        [one.head.last_seq for one in judged],
        [one.head.commands_seq for one in judged],
        [one.head.status for one in judged],
        [one.point.id for one in judged],
        [one.point.status for one in judged],
        [msgspec.json.encode(one.point) for one in judged],
        [one.command.at for one in judged],
        [one.command.body for one in judged],
        [one.command.source for one in judged],
        [one.command.source_n for one in judged],
        [one.wish.instance if one.wish is not None else None for one in judged],
        [one.wish.lease_until if one.wish is not None else one.command.at for one in judged],
    )
    audited = [(one.head.execution_id, one.audit) for one in judged if one.audit is not None]
    if audited:
        entries = ([id_ for id_, _ in audited], *audit_columns([entry for _, entry in audited]))
        rows = await db.fetch("write_answers_audited", *values, *entries)
    else:
        rows = await db.fetch("write_answers", *values)
    written: dict[str, list[Row]] = {}
    for row in rows:
        written.setdefault(row[0], []).append(row)
    passed = [one for one in judged if one.head.execution_id in written]
    return [(one, _taken(one, written[one.head.execution_id])) for one in passed]


def _taken(one: _Judged, rows: list[Row]) -> Reserved:
    head, wish, command = head_of(rows[0][:HEAD_COLUMNS]), one.wish, one.command
    taken = _reserved(head, one.point, command.n)
    if wish is None or head.owner is not None:
        return taken
    claimed = replace(head, commands_seq=command.n, owner=wish.instance, epoch=head.epoch + 1, wake_at=wish.lease_until)
    unread = [command_of(row[HEAD_COLUMNS:]) for row in rows if row[HEAD_COLUMNS] is not None]
    return replace(taken, claimed=Claimed(head=claimed, commands=(*unread, command)))


def _reserved(head: Head, point: Point, n: int, *, repeated: bool = False) -> Reserved:
    return Reserved(execution_id=head.execution_id, point=point, n=n, owner=head.owner, repeated=repeated)
