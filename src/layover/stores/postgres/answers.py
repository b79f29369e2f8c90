"""Answers to pause points, in batches: while one batch is being written, the next gathers.

Whether a user may answer is decided here and not in the database. So points are read, decided, and written only if
their executions have not moved meanwhile. An answer that is overtaken again and again locks the head first. A batch
writes one answer for each execution; another answer to the same execution is tried again afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from layover.core.engine.state import Point
from layover.ports.errors import StoreError, StoreUnusable
from layover.ports.records import Claimed, QueuedCommand, Refusal, Reserved
from layover.stores.answers import audit_of_answer, judge_answer, reserved
from layover.stores.checks import check_texts
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.commands import until_seen
from layover.stores.postgres.rows import HEAD_COLUMNS, head_of, point_of
from layover.stores.refusals import unknown_point
from layover.stores.rows import command_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from layover.core.engine.commands import PointAct
    from layover.ports.records import AuditRow, Claim, Head, PointRow
    from layover.stores.postgres.database import PostgresSchema, Row, StatementRunner, Transaction
    from layover.stores.postgres.session import PostgresSession

Answered: TypeAlias = "Reserved | Refusal"

_TRIES = 3
_POINT_COLUMNS = 7


class AnswerRequest(NamedTuple):
    """An answer, and the claim of the instance that wishes to drive the execution because of it."""

    answer: PointAct
    source: str
    now: int
    claim: Claim | None
    audit: AuditRow | None = None
    length: int | None = None  # of the lease, if the server's clock counts


class PostgresAnswers:
    """Answers to the pause points of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self.start_anew()

    def start_anew(self) -> None:
        """Begin with new batches: those of before may belong to an event loop that has ended."""
        self._batcher = Batcher(self._attempt_all)

    async def reserve(
        self, answer: PointAct, source: str, now: int, claim: Claim | None = None, audit: AuditRow | None = None
    ) -> Reserved | Refusal:
        """Reserve a pause point for an answer, and enqueue it."""
        check_texts(answer.point, source)
        length: int | None = None
        if claim is not None:
            lease_until, length = self._session.lease(claim.now, claim.lease_until)
            claim = replace(claim, lease_until=lease_until)
        request = AnswerRequest(answer, source, now, claim, audit, length)
        for _ in range(_TRIES):
            try:
                result = await self._batcher.ask(request)
            except StoreError as error:
                if error.code != "command_exists":
                    raise
                break  # another instance wrote one of the same answers at the same moment
            if result is not None:
                return result
        return await take_locking(self._session.db, request)

    def _attempt_all(self, group: Sequence[AnswerRequest]) -> Awaitable[list[Answered | None]]:
        return attempt(self._session.db, group)


async def take_locking(db: PostgresSchema, request: AnswerRequest) -> Answered:
    """Take an answer under a lock on the head of its execution."""

    async def locking(tx: Transaction) -> Answered | None:
        await tx.fetch("lock_head_of_point", request.answer.point)
        (result,) = await attempt(tx, [request])
        return result

    while True:  # once is enough, since nothing moves under the lock; unless the execution was purged just before
        result = await until_seen(lambda: db.transact(locking))
        if result is not None:
            return result


class _Judged(NamedTuple):
    """An answer to be written: the point with the answer, and the command."""

    place: int
    head: Head
    found: PointRow
    point: Point
    command: QueuedCommand
    claim: Claim | None
    audit: AuditRow | None
    length: int | None


async def attempt(db: StatementRunner, group: Sequence[AnswerRequest]) -> list[Answered | None]:
    """Read, decide and write; None for each answer that was overtaken, which is not written."""
    found = {row[0] - 1: row for row in await db.fetch("points_to_answer", *_keys_of(group))}
    results: list[Answered | None] = [None] * len(group)
    judged: dict[str, _Judged] = {}
    for place, request in enumerate(group):
        verdict = _judge(place, request, found.get(place))
        if not isinstance(verdict, _Judged):
            results[place] = verdict
        elif verdict.head.execution_id not in judged:
            judged[verdict.head.execution_id] = verdict
    for one, answer in await _write(db, list(judged.values())) if judged else ():
        results[one.place] = answer
    return results


def _keys_of(group: Sequence[AnswerRequest]) -> tuple[list[str], list[str]]:
    return [request.answer.point for request in group], [request.source for request in group]


def _judge(place: int, request: AnswerRequest, row: Row | None) -> Answered | _Judged:
    given, source, now, claim, audit, length = request
    if row is None:
        return unknown_point(given.point)
    found, kept, before = point_of(row[1 : _POINT_COLUMNS + 1]), row[_POINT_COLUMNS + 1 : -1], row[-1]
    if kept[0] is None:
        raise StoreUnusable(f"The pause point {given.point} belongs to no execution.", code="corrupt")
    head = head_of(kept)
    point = judge_answer(found, head, before, given, now)
    if not isinstance(point, Point):
        return point
    n = head.commands_seq + 1
    # A command without an idempotency key is identified by its position.
    source_n = 0 if source else n
    body = msgspec.json.encode(given)
    command = QueuedCommand(n=n, at=now, kind=type(given).__name__, body=body, source=source, source_n=source_n)
    return _Judged(place, head, found, point, command, claim, audit_of_answer(audit, head.execution_id), length)


async def _write(db: StatementRunner, judged: list[_Judged]) -> list[tuple[_Judged, Reserved]]:
    """Write answers whose heads have not changed; claim executions that no instance drives, where a claim was given."""
    values = (
        [one.head.execution_id for one in judged],
        [one.head.last_seq for one in judged],
        [one.head.commands_seq for one in judged],
        [one.head.status for one in judged],
        [one.point.id for one in judged],
        [one.point.status for one in judged],
        [msgspec.json.encode(one.point) for one in judged],
        [one.command.at for one in judged],
        [one.command.kind for one in judged],
        [one.command.body for one in judged],
        [one.command.source for one in judged],
        [one.command.source_n for one in judged],
        [one.claim.instance if one.claim is not None else None for one in judged],
        [one.claim.lease_until if one.claim is not None else one.command.at for one in judged],
        [one.length for one in judged],
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
    return [(one, _reserved_answer(one, written[one.head.execution_id])) for one in passed]


def _reserved_answer(one: _Judged, rows: list[Row]) -> Reserved:
    head, claim, command = head_of(rows[0][:HEAD_COLUMNS]), one.claim, one.command
    taken = reserved(head, one.found, one.point, command.n)
    if claim is None or head.owner is not None:
        return taken
    *_, lease_until = rows[0]
    claimed = replace(head, commands_seq=command.n, owner=claim.instance, epoch=head.epoch + 1, wake_at=lease_until)
    unread = [command_of(row[HEAD_COLUMNS:-1]) for row in rows if row[HEAD_COLUMNS] is not None]
    return replace(taken, claimed=Claimed(head=claimed, commands=(*unread, command)))
