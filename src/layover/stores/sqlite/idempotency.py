"""Replies to requests with an idempotency key, which a client may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.stores.checks import at_most
from layover.stores.rows import reply_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import IdempotentReply
    from layover.stores.sqlite.session import SqliteSession


class SqliteIdempotency:
    """Replies to requests of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def begin(self, reply: IdempotentReply, now: int) -> IdempotentReply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        return await self._session.write(lambda db: begin_reply(db, reply, now))

    async def finish(self, reply: IdempotentReply) -> None:
        """Store the reply to a request."""
        await self._session.write(lambda db: end_reply(db, reply))

    async def abandon(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress."""
        await self._session.write(lambda db: delete_unfinished_reply(db, scope, key))

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete expired replies."""
        return await self._session.write(lambda db: delete_expired_replies(db, now, most))


def begin_reply(db: apsw.Connection, reply: IdempotentReply, now: int) -> IdempotentReply | None:
    """Record that a request is in progress, or return its reply or the request in progress."""
    db.execute(SQL["begin_reply"], {**asdict(reply), "now": now})
    if db.changes() == 1:
        return None
    row = db.execute(SQL["reply_by_key"], {"scope": reply.scope, "key": reply.key}).fetchone()
    if row is None:
        raise AssertionError("what is not there is written")
    return reply_of(row)


def end_reply(db: apsw.Connection, reply: IdempotentReply) -> None:
    """Store the reply, unless there is one, or another request has taken the key meanwhile."""
    db.execute(SQL["end_reply"], asdict(reply))


def delete_unfinished_reply(db: apsw.Connection, scope: str, key: str) -> None:
    """Delete the record of a request in progress; a reply stays."""
    db.execute(SQL["delete_unfinished_reply"], {"scope": scope, "key": key})


def delete_expired_replies(db: apsw.Connection, now: int, most: int) -> int:
    """Delete expired replies, oldest first."""
    db.execute(SQL["delete_expired_replies"], {"now": now, "most": at_most(most)})
    return db.changes()
