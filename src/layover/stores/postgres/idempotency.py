"""Replies to requests with an idempotency key, which a client may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.checks import at_most
from layover.stores.rows import reply_of

if TYPE_CHECKING:
    from layover.ports.access import IdempotentReply
    from layover.stores.postgres.session import PostgresSession


class PostgresIdempotency:
    """Replies to requests of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def begin(self, reply: IdempotentReply, now: int) -> IdempotentReply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        db = self._session.db
        while True:
            ((is_noted, *known),) = await db.fetch("begin_reply", *astuple(reply), now)
            if is_noted:
                return None
            if known[0] is not None:
                return reply_of(known)
            # Another instance wrote or deleted the record meanwhile; the next try sees that.

    async def finish(self, reply: IdempotentReply) -> None:
        """Store the reply, unless there is one, or another request has taken the key meanwhile."""
        await self._session.db.fetch("end_reply", *astuple(reply))

    async def abandon(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress; a reply stays."""
        await self._session.db.fetch("delete_unfinished_reply", scope, key)

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete expired replies, oldest first; replies that another instance deletes are not counted."""
        count: int = await self._session.db.fetchval("delete_expired_replies", now, at_most(most))
        return count
