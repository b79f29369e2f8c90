"""Commands and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.engine.answers import Refused, reserve
from layover.ports.records import CLOSED, ChangedPoint, Command, Enqueue, Enqueued, Refusal, Reserved
from layover.stores.memory.appends import change_point
from layover.stores.memory.audit import write_audit
from layover.stores.memory.claims import claim
from layover.stores.refusals import execution_closed, point_closed, superseded, unknown_execution, unknown_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Point
    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry, Claim, Head
    from layover.stores.memory.database import MemoryDatabase


def enqueue(
    db: MemoryDatabase, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
) -> list[Enqueued | Refusal]:
    """Enqueue commands to executions that are open; with a standing, only while the workflow has that status."""
    if standing is not None and db.standings.get(standing.workflow) != standing:
        return [superseded(standing.workflow)] * len(commands)
    return [_enqueue(db, command, now) for command in commands]


def _enqueue(db: MemoryDatabase, command: Enqueue, now: int) -> Enqueued | Refusal:
    head = db.heads.get(command.execution_id)
    if head is None:
        return unknown_execution(command.execution_id)
    before = _seen_before(db, command.execution_id, command.source, command.source_n)
    if before is not None:
        return Enqueued(n=before, owner=head.owner, repeated=True)
    if head.status in CLOSED:
        return execution_closed(head.status)
    write_audit(db, command.audit)
    return Enqueued(n=_take(db, head, command, now), owner=head.owner)


def _take(db: MemoryDatabase, head: Head, command: Enqueue, now: int) -> int:
    id_, n = head.execution_id, head.commands_seq + 1
    db.heads[id_] = replace(head, commands_seq=n, wake_at=now if head.owner is None else head.wake_at)
    source_n = (
        command.source_n if command.source else n
    )  # a command without an idempotency key is identified by its position
    taken = Command(n=n, at=now, kind=command.kind, body=command.body, source=command.source, source_n=source_n)
    db.commands[id_].append(taken)
    return n


def take_answer(
    db: MemoryDatabase, given: Answer, source: str, now: int, wish: Claim | None, audit: AuditEntry | None
) -> Reserved | Refusal:
    """Take an answer if its point is open, the user may answer it, and the answer is valid."""
    found = db.points.get(given.point)
    if found is None:
        return unknown_point(given.point)
    head = db.heads[found.execution_id]
    before = _seen_before(db, found.execution_id, source, 0)
    if before is not None:
        return _reserved(head, found.point, before, repeated=True)
    if found.closed_at is not None:
        return point_closed(found.status)
    if head.status in CLOSED:
        return execution_closed(head.status)
    point = reserve(found.point, found.schema, given, now)
    if isinstance(point, Refused):
        return point
    if point is found.point:  # the same user gave the same answer before
        return _reserved(head, point, head.commands_seq, repeated=True)
    change_point(db, found.execution_id, now, ChangedPoint(point=point))
    write_audit(db, audit)
    command = Enqueue(execution_id=found.execution_id, kind="Answer", body=msgspec.json.encode(given), source=source)
    taken = _reserved(head, point, _take(db, head, command, now))
    if wish is None or head.owner is not None:
        return taken
    (claimed,) = claim(db, replace(wish, execution_id=head.execution_id)).claimed
    return replace(taken, claimed=claimed)


def _reserved(head: Head, point: Point, n: int, *, repeated: bool = False) -> Reserved:
    return Reserved(execution_id=head.execution_id, point=point, n=n, owner=head.owner, repeated=repeated)


def _seen_before(db: MemoryDatabase, execution_id: str, source: str, source_n: int) -> int | None:
    taken = db.commands[execution_id] if source else []
    return next((one.n for one in taken if (one.source, one.source_n) == (source, source_n)), None)
