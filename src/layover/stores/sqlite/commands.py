"""Commands. They are written on the writer's connection, inside its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import CLOSED, Claimed, Enqueue, Enqueued, Head, QueuedCommand, Refusal
from layover.stores.checks import check_ids
from layover.stores.ids import key
from layover.stores.refusals import execution_closed, superseded, unknown_execution
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.queries import commands_after, head_by_id
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.workflow_status import workflow_statuses

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Claim
    from layover.stores.sqlite.session import SqliteSession


class SqliteCommands:
    """Commands of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        return await self._session.write(lambda db: enqueue(db, commands, now, status))

    async def list_after(self, execution_id: str, after: int) -> list[QueuedCommand]:
        """Read commands."""
        return await self._session.glance(lambda db: commands_after(db, key(execution_id), after))

    async def is_enqueued(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        return await self._session.glance(lambda db: seen_before(db, key(execution_id), source, 0)) is not None

    async def find_unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands, also of a process that has ended meanwhile."""
        return await self._session.read(lambda db: _unread(db, seen))


def enqueue(
    db: apsw.Connection, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
) -> list[Enqueued | Refusal]:
    """Enqueue commands to executions that are open; with a status, only while the workflow has that status."""
    if status is not None and workflow_statuses(db, [status.workflow]) != [status]:
        return [superseded(status.workflow)] * len(commands)
    return [_enqueue(db, command, now) for command in commands]


def _enqueue(db: apsw.Connection, command: Enqueue, now: int) -> Enqueued | Refusal:
    id_ = key(command.execution_id)
    head = head_by_id(db, id_)
    if head is None:
        return unknown_execution(command.execution_id)
    before = seen_before(db, id_, command.source, command.source_n)
    if before is not None:
        return Enqueued(n=before, owner=head.owner, repeated=True)
    if head.status in CLOSED:
        return execution_closed(head.status)
    write_audit(db, command.audit)
    return Enqueued(n=take(db, head, command, now), owner=head.owner)


def take(db: apsw.Connection, head: Head, command: Enqueue, now: int) -> int:
    """Enqueue a command; return its number."""
    db.execute(SQL["bump_commands_seq"], {"id": key(head.execution_id), "now": now})
    return _insert(db, head, command, now).n


def take_claiming(db: apsw.Connection, head: Head, command: Enqueue, claim: Claim, now: int) -> Claimed:
    """Enqueue a command and claim its execution, which no instance drives, with all its unread commands."""
    id_ = key(head.execution_id)
    db.execute(SQL["bump_commands_seq_and_claim"], (head.commands_seq + 1, claim.instance, claim.lease_until, id_))
    taken = _insert(db, head, command, now)
    unread = (taken,) if head.commands_done == taken.n - 1 else tuple(commands_after(db, id_, head.commands_done))
    claimed = replace(head, commands_seq=taken.n, owner=claim.instance, epoch=head.epoch + 1, wake_at=claim.lease_until)
    return Claimed(head=claimed, commands=unread)


def _insert(db: apsw.Connection, head: Head, command: Enqueue, now: int) -> QueuedCommand:
    n = head.commands_seq + 1
    # A command without an idempotency key is identified by its position.
    source_n = command.source_n if command.source else n
    taken = QueuedCommand(n=n, at=now, kind=command.kind, body=command.body, source=command.source, source_n=source_n)
    values = (key(head.execution_id), n, now, command.kind, command.body, command.source, source_n)
    db.execute(SQL["insert_commands"], values)
    return taken


def _unread(db: apsw.Connection, seen: Sequence[tuple[str, int]]) -> list[str]:
    return [
        id_ for id_, n in seen if db.execute(SQL["has_unread_commands"], {"id": key(id_), "seen": n}).get is not None
    ]


def seen_before(db: apsw.Connection, id_: bytes, source: str, source_n: int) -> int | None:
    """Return the number of the command from a source, if there is one."""
    if not source:
        return None
    found: int | None = db.execute(SQL["command_by_source"], {"id": id_, "source": source, "source_n": source_n}).get
    return found
