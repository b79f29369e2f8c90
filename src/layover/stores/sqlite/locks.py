"""Named locks, each held until a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw


def take(db: apsw.Connection, name: str, holder: str, now: int, until: int) -> bool:
    """Take a lock that is free or has run out, or keep one that is ours."""
    db.execute(SQL["take_lock"], {"name": name, "holder": holder, "now": now, "until": until})
    return db.changes() == 1


def release(db: apsw.Connection, name: str, holder: str) -> None:
    """Give a lock back."""
    db.execute(SQL["release_lock"], {"name": name, "holder": holder})
