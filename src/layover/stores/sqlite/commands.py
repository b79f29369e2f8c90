"""Commands and answers. Runs on the writer's connection, inside its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.engine.answers import Refused, reserve
from layover.ports.errors import StoreUnusable
from layover.ports.records import CLOSED, ChangedPoint, Claimed, Command, Enqueue, Enqueued, Head, Refusal, Reserved
from layover.stores.ids import key
from layover.stores.refusals import execution_closed, point_closed, superseded, unknown_execution, unknown_point
from layover.stores.sqlite.appends import change_point
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.queries import commands_after, head_by_id, point_by_id
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.workflow_status import workflow_statuses

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Point
    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry, Claim


def enqueue(
    db: apsw.Connection, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
) -> list[Enqueued | Refusal]:
    """Enqueue commands to executions that are open; with a standing, only while the workflow has that status."""
    if standing is not None and workflow_statuses(db, [standing.workflow]) != [standing]:
        return [superseded(standing.workflow)] * len(commands)
    return [_enqueue(db, command, now) for command in commands]


def _enqueue(db: apsw.Connection, command: Enqueue, now: int) -> Enqueued | Refusal:
    id_ = key(command.execution_id)
    head = head_by_id(db, id_)
    if head is None:
        return unknown_execution(command.execution_id)
    before = _seen_before(db, id_, command.source, command.source_n)
    if before is not None:
        return Enqueued(n=before, owner=head.owner, repeated=True)
    if head.status in CLOSED:
        return execution_closed(head.status)
    write_audit(db, command.audit)
    return Enqueued(n=_take(db, head, command, now), owner=head.owner)


def _take(db: apsw.Connection, head: Head, command: Enqueue, now: int) -> int:
    db.execute(SQL["bump_commands_seq"], {"id": key(head.execution_id), "now": now})
    return _insert(db, head, command, now).n


def _take_claiming(db: apsw.Connection, head: Head, command: Enqueue, wish: Claim, now: int) -> Claimed:
    """Enqueue a command and claim its execution, which no instance drives, with all its unread commands."""
    id_ = key(head.execution_id)
    db.execute(SQL["bump_commands_seq_and_claim"], (head.commands_seq + 1, wish.instance, wish.lease_until, id_))
    taken = _insert(db, head, command, now)
    unread = (taken,) if head.commands_done == taken.n - 1 else tuple(commands_after(db, id_, head.commands_done))
    claimed = replace(head, commands_seq=taken.n, owner=wish.instance, epoch=head.epoch + 1, wake_at=wish.lease_until)
    return Claimed(head=claimed, commands=unread)


def _insert(db: apsw.Connection, head: Head, command: Enqueue, now: int) -> Command:
    n = head.commands_seq + 1
    # A command without an idempotency key is identified by its position.
    source_n = command.source_n if command.source else n
    taken = Command(n=n, at=now, kind=command.kind, body=command.body, source=command.source, source_n=source_n)
    values = (key(head.execution_id), n, now, command.kind, command.body, command.source, source_n)
    db.execute(SQL["insert_commands"], values)
    return taken


def take_answer(
    db: apsw.Connection, given: Answer, source: str, now: int, wish: Claim | None, audit: AuditEntry | None
) -> Reserved | Refusal:
    """Take an answer if its point is open, the user may answer it, and the answer is valid."""
    found = point_by_id(db, given.point)
    if found is None:
        return unknown_point(given.point)
    id_ = key(found.execution_id)
    head = head_by_id(db, id_)
    if head is None:
        raise StoreUnusable(f"The pause point {given.point} belongs to no execution.", code="corrupt")
    before = _seen_before(db, id_, source, 0)
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
    change_point(db, id_, now, ChangedPoint(point=point))
    write_audit(db, audit)
    command = Enqueue(
        execution_id=head.execution_id, kind="Answer", body=msgspec.json.encode(given), source=source, source_n=0
    )
    if wish is None or head.owner is not None:
        return _reserved(head, point, _take(db, head, command, now))
    claimed = _take_claiming(db, head, command, wish, now)
    return replace(_reserved(head, point, claimed.head.commands_seq), claimed=claimed)


def _reserved(head: Head, point: Point, n: int, *, repeated: bool = False) -> Reserved:
    return Reserved(execution_id=head.execution_id, point=point, n=n, owner=head.owner, repeated=repeated)


def _seen_before(db: apsw.Connection, id_: bytes, source: str, source_n: int) -> int | None:
    if not source:
        return None
    found: int | None = db.execute(SQL["command_by_source"], {"id": id_, "source": source, "source_n": source_n}).get
    return found
