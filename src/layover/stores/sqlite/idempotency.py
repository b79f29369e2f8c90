"""What was answered to requests that may come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.stores.checks import at_most
from layover.stores.sqlite.rows import reply_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import Reply


def begin_reply(db: apsw.Connection, reply: Reply, now: int) -> Reply | None:
    """Note that a request is being worked at, or find what is known of it."""
    db.execute(SQL["begin_reply"], {**asdict(reply), "now": now})
    if db.changes() == 1:
        return None
    row = db.execute(SQL["reply_by_key"], {"scope": reply.scope, "key": reply.key}).fetchone()
    if row is None:
        raise AssertionError("what is not there is written")
    return reply_of(row)


def end_reply(db: apsw.Connection, reply: Reply) -> None:
    """Keep what was answered first; a place that another request has taken meanwhile is left to it."""
    db.execute(SQL["end_reply"], asdict(reply))


def delete_unfinished_reply(db: apsw.Connection, scope: str, key: str) -> None:
    """Forget that a request was worked at; what was answered stays."""
    db.execute(SQL["delete_unfinished_reply"], {"scope": scope, "key": key})


def delete_expired_replies(db: apsw.Connection, now: int, most: int) -> int:
    """Delete what is no longer kept, the oldest first."""
    db.execute(SQL["delete_expired_replies"], {"now": now, "most": at_most(most)})
    return db.changes()
