"""Commands and answers from outside.

A command is written by one statement, under the lock of its execution's head. An answer is judged here and not in the
database, so it is read, judged, and written only if nothing has moved meanwhile; who is overtaken again and again has
the head locked first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from layover.core.engine.answers import Refused, reserve
from layover.ports.errors import StoreError, StoreUnusable
from layover.ports.records import CLOSED, Claimed, Command, Enqueued, Refusal, Reserved
from layover.stores.postgres.rows import HEAD_COLUMNS, command_of, head_of, point_of
from layover.stores.refusals import execution_closed, point_closed, unknown_execution, unknown_point

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Point
    from layover.ports.records import Claim, Enqueue, Head
    from layover.stores.postgres.database import Database, Row, Runs

T = TypeVar("T")

_TRIES = 3
_POINT_COLUMNS = 7


async def enqueue(db: Runs, commands: Sequence[Enqueue], now: int) -> list[Enqueued | Refusal]:
    """Take commands for executions that are not closed."""
    if not commands:
        return []
    values = (
        [command.execution_id for command in commands],
        [command.kind for command in commands],
        [command.body for command in commands],
        [command.source for command in commands],
        [command.source_n for command in commands],
    )
    rows = await until_seen(lambda: db.fetch("enqueue", *values, now))
    return [_enqueued(command, row) for command, row in zip(commands, rows, strict=True)]


def _enqueued(command: Enqueue, row: Row) -> Enqueued | Refusal:
    status, owner, n, repeated = row
    if status is None:
        return unknown_execution(command.execution_id)
    if n is None:
        return execution_closed(status)
    return Enqueued(n=n, owner=owner, repeated=repeated)


async def until_seen(work: Callable[[], Awaitable[T]]) -> T:
    """Do something that writes commands; again, if the same command came in by another way at the same moment.

    A statement does not see what was written after it began, even if it had to wait for it; the next time it does. In a
    transaction this has to be around all of it.
    """
    while True:
        try:
            return await work()
        except StoreError as error:
            if error.code != "command_exists":
                raise


async def answer(db: Database, given: Answer, source: str, now: int, wish: Claim | None) -> Reserved | Refusal:
    """Take an answer if its point is open, this person may give it, and it fits."""

    async def attempt() -> Reserved | Refusal | None:
        return await _attempt(db, given, source, now, wish)

    async def locking(tx: Runs) -> Reserved | Refusal | None:
        await tx.fetch("lock_head_of_point", given.point)
        return await _attempt(tx, given, source, now, wish)

    for _ in range(_TRIES):
        taken = await until_seen(attempt)
        if taken is not None:
            return taken
    while True:  # under the lock nothing moves, so this is once, unless what was locked has just been purged
        taken = await until_seen(lambda: db.transact(locking))
        if taken is not None:
            return taken


async def _attempt(db: Runs, given: Answer, source: str, now: int, wish: Claim | None) -> Reserved | Refusal | None:
    """Read, judge and write; None if something else came first, and nothing was written."""
    row = await db.fetchrow("answerable", given.point, source)
    if row is None:
        return unknown_point(given.point)
    found, kept, before = point_of(row[:_POINT_COLUMNS]), row[_POINT_COLUMNS:-1], row[-1]
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
    return await _take(db, head, point, command, wish)


async def _take(db: Runs, read: Head, point: Point, command: Command, wish: Claim | None) -> Reserved | None:
    """Write an answer if the head is as it was read; claim the execution for who wishes it, if nobody drives it."""
    rows = await db.fetch(
        "answer",
        read.execution_id,
        read.last_seq,
        read.commands_seq,
        read.status,
        point.id,
        point.status,
        msgspec.json.encode(point),
        command.at,
        command.kind,
        command.body,
        command.source,
        command.source_n,
        wish.instance if wish is not None else None,
        wish.lease_until if wish is not None else command.at,
    )
    if not rows:
        return None
    head = head_of(rows[0][:HEAD_COLUMNS])
    taken = _reserved(head, point, command.n)
    if wish is None or head.owner is not None:
        return taken
    claimed = replace(head, commands_seq=command.n, owner=wish.instance, epoch=head.epoch + 1, wake_at=wish.lease_until)
    unread = [command_of(row[HEAD_COLUMNS:]) for row in rows if row[HEAD_COLUMNS] is not None]
    return replace(taken, claimed=Claimed(head=claimed, commands=(*unread, command)))


def _reserved(head: Head, point: Point, n: int, *, repeated: bool = False) -> Reserved:
    return Reserved(execution_id=head.execution_id, point=point, n=n, owner=head.owner, repeated=repeated)
