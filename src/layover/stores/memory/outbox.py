"""Messages between executions until they are delivered, and the tokens of callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import Outbox
from layover.stores.checks import at_most, check_ids
from layover.stores.memory.appends import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Message
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryOutbox:
    """Messages in memory that have not been delivered."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def read_due(self, now: int, most: int) -> Outbox:
        """Read messages that are due."""
        return outbox(await self._session.turn(), now, most)

    async def delete_delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        delete_delivered(await self._session.turn(), messages)

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        postpone(await self._session.turn(), message, due_at)

    async def list_undelivered(self, sender: str) -> list[Message]:
        """Read the messages of one execution."""
        check_ids([sender])
        return outgoing(await self._session.turn(), sender)


def outbox(db: MemoryDatabase, now: int, most: int) -> Outbox:
    """Read messages that are due, and when the next one will be."""
    turns = sorted((_turn(db, message), *name_of(message)) for message in db.outbox.values())
    due = [db.outbox[sender, n, destination] for turn, sender, n, destination in turns if turn <= now]
    later = [message.due_at for message in db.outbox.values() if message.due_at > now]
    return Outbox(
        due=tuple(due[: at_most(most)]),
        next_due=min(later, default=None),
        undispatched_since=min((db.signals[id_].at for id_ in db.undispatched), default=None),
    )


def _turn(db: MemoryDatabase, message: Message) -> int:
    """Return when a message is due: not before earlier messages of its sender to the same destination."""
    pair = (message.sender, message.destination)
    stream = (one for one in db.outbox.values() if (one.sender, one.destination) == pair)
    return max(one.due_at for one in stream if one.n <= message.n)


def delete_delivered(db: MemoryDatabase, messages: Sequence[Message]) -> None:
    """Delete messages that were delivered."""
    for message in messages:
        db.outbox.pop(name_of(message), None)


def postpone(db: MemoryDatabase, message: Message, due_at: int) -> None:
    """Postpone a message."""
    kept = db.outbox.get(name_of(message))
    if kept is not None:
        db.outbox[name_of(message)] = replace(kept, due_at=due_at)


def make_messages_due_sooner(db: MemoryDatabase, execution_id: str, due_at: int) -> None:
    """Make the messages of an execution to itself due at a moment, unless they are due earlier."""
    for name, message in db.outbox.items():
        if message.sender == message.destination == execution_id and message.due_at > due_at:
            db.outbox[name] = replace(message, due_at=due_at)


def outgoing(db: MemoryDatabase, sender: str) -> list[Message]:
    """Read the undelivered messages of an execution in the order in which they were written."""
    return [db.outbox[name] for name in sorted(db.outbox) if name[0] == sender]
