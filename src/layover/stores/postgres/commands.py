"""Commands, written by one statement under the locks of the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.ports.errors import StoreError
from layover.ports.records import Enqueued, Refusal
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.rows import standing_of
from layover.stores.refusals import execution_closed, superseded, unknown_execution

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.ports.access import Standing
    from layover.ports.records import Enqueue
    from layover.stores.postgres.database import Database, Row, StatementRunner, Transaction

T = TypeVar("T")

_TRIES = 3
_POINT_COLUMNS = 7


async def enqueue(db: StatementRunner, commands: Sequence[Enqueue], now: int) -> list[Enqueued | Refusal]:
    """Enqueue commands to executions that are open."""
    if not commands:
        return []
    values = (
        [command.execution_id for command in commands],
        [command.kind for command in commands],
        [command.body for command in commands],
        [command.source for command in commands],
        [command.source_n for command in commands],
    )
    audited = [(place, one.audit) for place, one in enumerate(commands, start=1) if one.audit is not None]
    if audited:
        entries = ([place for place, _ in audited], *audit_columns([entry for _, entry in audited]))
        rows = await until_seen(lambda: db.fetch("enqueue_commands_audited", *values, now, *entries))
    else:
        rows = await until_seen(lambda: db.fetch("enqueue_commands", *values, now))
    return [_enqueued(command, row) for command, row in zip(commands, rows, strict=True)]


async def enqueue_while(
    db: Database, commands: Sequence[Enqueue], now: int, standing: Standing
) -> list[Enqueued | Refusal]:
    """Enqueue commands only while the workflow has a status, which cannot change before they are written."""

    async def work(tx: Transaction) -> list[Enqueued | Refusal]:
        row = await tx.fetchrow("lock_workflow_status", standing.workflow)
        if row is None or standing_of(row) != standing:
            return [superseded(standing.workflow)] * len(commands)
        return await enqueue(tx, commands, now)

    return await until_seen(lambda: db.transact(work))


def _enqueued(command: Enqueue, row: Row) -> Enqueued | Refusal:
    status, owner, n, repeated = row
    if status is None:
        return unknown_execution(command.execution_id)
    if n is None:
        return execution_closed(status)
    return Enqueued(n=n, owner=owner, repeated=repeated)


async def until_seen(work: Callable[[], Awaitable[T]]) -> T:
    """Run a write of commands; run it again if another instance wrote the same command at the same moment.

    A statement does not see rows that were written after it began, even if it had to wait for them; the next one does.
    This has to be around a whole transaction.
    """
    while True:
        try:
            return await work()
        except StoreError as error:
            if error.code != "command_exists":
                raise
