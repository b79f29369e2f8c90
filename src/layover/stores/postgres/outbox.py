"""Messages between executions until they are delivered, and the tokens of callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from layover.ports.records import Outbox
from layover.stores.checks import at_most, check_ids
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.rows import message_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Message
    from layover.stores.postgres.session import PostgresSession

_Turn: TypeAlias = "tuple[int, str, int, str]"  # a time, and the key of a message

_BEFORE_ALL: _Turn = (-(2**63), "00000000-0000-0000-0000-000000000000", -(2**63), "")
_MORE_EACH_TIME = 4
_MOST_CANDIDATES = 20_000


class PostgresOutbox:
    """Messages of a schema that have not been delivered."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self.start_anew()

    def start_anew(self) -> None:
        """Begin with new batches: those of before may belong to an event loop that has ended."""
        self._postponed = Batcher(self._postpone_all)

    async def read_due(self, now: int, most: int) -> Outbox:
        """Read messages that are due, and when the next one is.

        A message is due when all earlier messages of its sender to the same destination are. Candidates are read in the
        order of their own time, which is never after their turn: so all messages whose turn comes before the last
        candidate are known, and if they are enough, nothing more is read. Messages that are held up do not count, so
        any number of them hides no other.
        """
        db = self._session.db
        most = chunk = at_most(most)
        due: list[tuple[_Turn, Message]] = []
        last = _BEFORE_ALL
        while True:
            rows = await db.fetch("due_messages", now, most, chunk, *last)
            next_due, undispatched_since, candidates, *last_columns = rows[0][:7]
            # There is always one row, for the other results.
            due += [_with_turn(turn, message_of(row)) for turn, *row in (row[7:] for row in rows) if turn is not None]
            due = sorted(due, key=lambda one: one[0])[:most]
            if not candidates or candidates < chunk:
                break
            at, sender, n, destination = last_columns
            last = (at, sender, n, destination)
            if len(due) == most and due[-1][0] <= last:
                break
            chunk = max(chunk, min(chunk * _MORE_EACH_TIME, _MOST_CANDIDATES))
        messages = tuple(message for _, message in due)
        return Outbox(due=messages, next_due=next_due, undispatched_since=undispatched_since)

    async def delete_delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        senders, destinations = [one.sender for one in messages], [one.destination for one in messages]
        await self._session.db.fetch("delete_messages", senders, destinations, [one.n for one in messages])

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        await self._postponed.ask((message, due_at))

    async def _postpone_all(self, asked: Sequence[tuple[Message, int]]) -> list[None]:
        last = {(one.sender, one.destination, one.n): due_at for one, due_at in asked}
        names, dues = list(last), list(last.values())
        await self._session.db.fetch("postpone_messages", *zip(*names, strict=True), dues)
        return [None for _ in asked]

    async def list_undelivered(self, sender: str) -> list[Message]:
        """Read the undelivered messages of an execution in the order in which they were written."""
        check_ids([sender])
        return [message_of(row) for row in await self._session.db.fetch("messages_of_sender", sender)]


def _with_turn(at: int, message: Message) -> tuple[_Turn, Message]:
    return (at, message.sender, message.n, message.destination), message
