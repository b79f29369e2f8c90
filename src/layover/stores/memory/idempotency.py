"""Replies to requests with an idempotency key, which a client may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most

if TYPE_CHECKING:
    from layover.ports.access import IdempotentReply
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryIdempotency:
    """Replies to requests in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def begin(self, reply: IdempotentReply, now: int) -> IdempotentReply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        return begin_reply(await self._session.turn(), reply, now)

    async def finish(self, reply: IdempotentReply) -> None:
        """Store the reply to a request."""
        end_reply(await self._session.turn(), reply)

    async def abandon(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress."""
        delete_unfinished_reply(await self._session.turn(), scope, key)

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete expired replies."""
        return delete_expired_replies(await self._session.turn(), now, most)


def begin_reply(db: MemoryDatabase, reply: IdempotentReply, now: int) -> IdempotentReply | None:
    """Record that a request is in progress, or return its reply or the request in progress."""
    name = (reply.scope, reply.key)
    found = db.replies.get(name)
    if found is not None and not _is_over(found, reply, now):
        return found
    db.replies[name] = reply
    return None


def _is_over(found: IdempotentReply, reply: IdempotentReply, now: int) -> bool:
    """Return whether a reply has expired, or a request in progress has: the server that worked at it died."""
    return found.until <= now and (found.status != 0 or found.fingerprint == reply.fingerprint)


def end_reply(db: MemoryDatabase, reply: IdempotentReply) -> None:
    """Store the reply, unless there is one, or another request has taken the key meanwhile."""
    name = (reply.scope, reply.key)
    found = db.replies.get(name)
    if found is None or (found.status == 0 and found.fingerprint == reply.fingerprint):
        db.replies[name] = reply


def delete_unfinished_reply(db: MemoryDatabase, scope: str, key: str) -> None:
    """Delete the record of a request in progress; a reply stays."""
    found = db.replies.get((scope, key))
    if found is not None and found.status == 0:
        del db.replies[scope, key]


def delete_expired_replies(db: MemoryDatabase, now: int, most: int) -> int:
    """Delete expired replies, oldest first."""
    over = sorted((reply.until, name) for name, reply in db.replies.items() if reply.until <= now)[: at_most(most)]
    for _, name in over:
        del db.replies[name]
    return len(over)
