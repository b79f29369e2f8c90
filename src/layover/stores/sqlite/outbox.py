"""Messages between executions until they are delivered, and the tokens of callbacks."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias, cast

from layover.ports.records import Outbox
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key
from layover.stores.sqlite.rows import message_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import Message
    from layover.stores.sqlite.session import SqliteSession


_Turn: TypeAlias = tuple[int, bytes, int, str]  # a time, and the key of a message
_BEFORE_ALL = (-(2**63), -(2**63))


class SqliteOutbox:
    """Messages of a file that have not been delivered."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def read_due(self, now: int, most: int) -> Outbox:
        """Read messages that are due."""
        return await self._session.read(lambda db: outbox(db, now, most))

    async def delete_delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        await self._session.write(lambda db: delete_delivered(db, messages))

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        await self._session.write(lambda db: postpone(db, message, due_at))

    async def list_undelivered(self, sender: str) -> list[Message]:
        """Read the messages of one execution."""
        check_ids([sender])
        return await self._session.read(lambda db: outgoing(db, sender))


def outbox(db: apsw.Connection, now: int, most: int) -> Outbox:
    """Read messages that are due, and when the next one will be."""
    return Outbox(
        due=tuple(_due(db, now, at_most(most))),
        next_due=db.execute(SQL["next_message_due_at"], {"now": now}).get,
        undispatched_since=db.execute(SQL["oldest_undispatched_at"]).get,
    )


def _due(db: apsw.Connection, now: int, most: int) -> list[Message]:
    """Read messages that are due.

    A message is due when all earlier messages of its sender to the same destination are. Rows are read in the order of
    their own time, no further than needed; a message that an earlier one holds up is put aside until its turn.
    """
    chosen: list[_Turn] = []
    aside: list[_Turn] = []
    streams: dict[tuple[bytes, str], tuple[int, int]] = {}
    for row in db.execute(SQL["due_messages"], {"now": now}) if most else ():
        own = cast("_Turn", row)
        _, sender, n, destination = own
        after, at = streams.get((sender, destination), _BEFORE_ALL)
        if n < after:
            after, at = _BEFORE_ALL
        if at <= now:  # else an earlier message holds it up
            at = max(at, _latest_between(db, own, after))
            streams[sender, destination] = (n, at)
        if at <= now:
            heappush(aside, (at, sender, n, destination))
        while aside and aside[0] <= own:  # the turns of all rows that follow are later
            chosen.append(heappop(aside))
        if len(chosen) >= most:
            break
    chosen += sorted(aside)
    return [_message(db, turn) for turn in chosen[:most]]


def _latest_between(db: apsw.Connection, own: _Turn, after: int) -> int:
    """Return the latest time of a message and those before it, from one on; the caller knows the others."""
    _, sender, n, destination = own
    values = {"sender": sender, "destination": destination, "after": after, "n": n}
    latest: int = db.execute(SQL["latest_due_at_between"], values).get
    return latest


def _message(db: apsw.Connection, turn: _Turn) -> Message:
    _, sender, n, destination = turn
    (row,) = db.execute(SQL["message_by_key"], {"sender": sender, "n": n, "destination": destination})
    return message_of(row)


def delete_delivered(db: apsw.Connection, messages: Sequence[Message]) -> None:
    """Delete messages that were delivered."""
    db.executemany(SQL["delete_messages"], [_named(message) for message in messages])


def take_message(db: apsw.Connection, message: Message) -> bool:
    """Delete a message, unless an earlier one goes the same way; return whether it was there."""
    db.execute(SQL["take_message"], _named(message))
    return db.changes() == 1


def postpone(db: apsw.Connection, message: Message, due_at: int) -> None:
    """Postpone a message."""
    db.execute(SQL["postpone_message"], {**_named(message), "due_at": due_at})


def _named(message: Message) -> dict[str, apsw.SQLiteValue]:
    return {"sender": key(message.sender), "n": message.n, "destination": message.destination}


def outgoing(db: apsw.Connection, sender: str) -> list[Message]:
    """Read the undelivered messages of an execution in the order in which they were written."""
    found = [message_of(row) for row in db.execute(SQL["messages_of_sender"], {"sender": key(sender)})]
    return sorted(found, key=lambda message: (message.n, message.destination))
