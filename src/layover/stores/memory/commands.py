"""Commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import CLOSED, Enqueue, Enqueued, QueuedCommand, Refusal
from layover.stores.checks import check_ids
from layover.stores.memory.audit import write_audit
from layover.stores.refusals import execution_closed, superseded, unknown_execution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Head
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryCommands:
    """Commands in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        return enqueue(await self._session.turn(), commands, now, status)

    async def list_after(self, execution_id: str, after: int) -> list[QueuedCommand]:
        """Read commands."""
        check_ids([execution_id])
        return [command for command in (await self._session.turn()).commands.get(execution_id, []) if command.n > after]

    async def is_enqueued(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        check_ids([execution_id])
        sent = (await self._session.turn()).commands.get(execution_id, ())
        return any((one.source, one.source_n) == (source, 0) for one in sent)

    async def find_unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands."""
        check_ids(id_ for id_, _ in seen)
        heads = (await self._session.turn()).heads
        return [id_ for id_, n in seen if id_ in heads and heads[id_].commands_seq > n]


def enqueue(
    db: MemoryDatabase, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
) -> list[Enqueued | Refusal]:
    """Enqueue commands to executions that are open; with a status, only while the workflow has that status."""
    if status is not None and db.workflow_statuses.get(status.workflow) != status:
        return [superseded(status.workflow)] * len(commands)
    return [_enqueue(db, command, now) for command in commands]


def _enqueue(db: MemoryDatabase, command: Enqueue, now: int) -> Enqueued | Refusal:
    head = db.heads.get(command.execution_id)
    if head is None:
        return unknown_execution(command.execution_id)
    before = seen_before(db, command.execution_id, command.source, command.source_n)
    if before is not None:
        return Enqueued(n=before, owner=head.owner, repeated=True)
    if head.status in CLOSED:
        return execution_closed(head.status)
    write_audit(db, command.audit)
    return Enqueued(n=take(db, head, command, now), owner=head.owner)


def take(db: MemoryDatabase, head: Head, command: Enqueue, now: int) -> int:
    """Enqueue a command; return its number."""
    id_, n = head.execution_id, head.commands_seq + 1
    db.heads[id_] = replace(head, commands_seq=n, wake_at=now if head.owner is None else head.wake_at)
    # A command without an idempotency key is identified by its position.
    source_n = command.source_n if command.source else n
    taken = QueuedCommand(n=n, at=now, kind=command.kind, body=command.body, source=command.source, source_n=source_n)
    db.commands[id_].append(taken)
    return n


def seen_before(db: MemoryDatabase, execution_id: str, source: str, source_n: int) -> int | None:
    """Return the number of the command from a source, if there is one."""
    taken = db.commands[execution_id] if source else []
    return next((one.n for one in taken if (one.source, one.source_n) == (source, source_n)), None)
