"""What was answered to requests that may come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.checks import at_most
from layover.stores.postgres.rows import reply_of

if TYPE_CHECKING:
    from layover.ports.access import Reply
    from layover.stores.postgres.database import StatementRunner


async def begin_reply(db: StatementRunner, reply: Reply, now: int) -> Reply | None:
    """Note that a request is being worked at, or find what is known of it."""
    while True:
        ((is_noted, *known),) = await db.fetch("begin_reply", *astuple(reply), now)
        if is_noted:
            return None
        if known[0] is not None:
            return reply_of(known)
        # Somebody else noted or forgot it while we looked; whoever did is done, so this cannot go on for ever.


async def end_reply(db: StatementRunner, reply: Reply) -> None:
    """Keep what was answered first; a place that another request has taken meanwhile is left to it."""
    await db.fetch("end_reply", *astuple(reply))


async def delete_unfinished_reply(db: StatementRunner, scope: str, key: str) -> None:
    """Forget that a request was worked at; what was answered stays."""
    await db.fetch("delete_unfinished_reply", scope, key)


async def delete_expired_replies(db: StatementRunner, now: int, most: int) -> int:
    """Delete what is no longer kept, the oldest first; what somebody else deletes is theirs to count."""
    count: int = await db.fetchval("delete_expired_replies", now, at_most(most))
    return count
