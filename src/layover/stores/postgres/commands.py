"""Commands, written by one statement under the locks of the heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.ports.errors import StoreError
from layover.ports.records import Enqueued, Refusal
from layover.stores.checks import check_ids
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.queries import commands_after
from layover.stores.refusals import execution_closed, superseded, unknown_execution
from layover.stores.rows import workflow_status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Enqueue, QueuedCommand
    from layover.stores.postgres.database import PostgresSchema, Row, StatementRunner, Transaction
    from layover.stores.postgres.session import PostgresSession

T = TypeVar("T")


class PostgresCommands:
    """Commands of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        db = self._session.db
        if status is not None:
            return await enqueue_while(db, commands, now, status)
        return await enqueue(db, commands, now)

    async def list_after(self, execution_id: str, after: int) -> list[QueuedCommand]:
        """Read commands."""
        check_ids([execution_id])
        return await commands_after(self._session.db, execution_id, after)

    async def is_enqueued(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        check_ids([execution_id])
        return await self._session.db.fetchval("command_by_source", execution_id, source) is not None

    async def find_unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands."""
        ids = [execution_id for execution_id, _ in seen]
        check_ids(ids)
        rows = await self._session.db.fetch("executions_with_unread_commands", ids, [n for _, n in seen])
        return [row[0] for row in rows]


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
    db: PostgresSchema, commands: Sequence[Enqueue], now: int, status: WorkflowStatus
) -> list[Enqueued | Refusal]:
    """Enqueue commands only while the workflow has a status, which cannot change before they are written."""

    async def work(tx: Transaction) -> list[Enqueued | Refusal]:
        row = await tx.fetchrow("lock_workflow_status", status.workflow)
        if row is None or workflow_status_of(row) != status:
            return [superseded(status.workflow)] * len(commands)
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
