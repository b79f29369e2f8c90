"""Keeping definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import Version
from layover.stores.sqlite.reading import latest
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw


def save(db: apsw.Connection, workflow: str, hash_: str, document: bytes, now: int) -> Version:
    """Keep a definition as the newest version, unless it is that already."""
    newest = latest(db, workflow)
    if newest is not None and newest.hash == hash_:
        return newest
    version = Version(
        workflow=workflow,
        number=newest.number + 1 if newest is not None else 1,
        hash=hash_,
        document=document,
        created_at=now,
    )
    values = {
        "workflow": version.workflow,
        "number": version.number,
        "hash": version.hash,
        "document": version.document,
        "created_at": version.created_at,
    }
    db.execute(SQL["insert_version"], values)
    return version
