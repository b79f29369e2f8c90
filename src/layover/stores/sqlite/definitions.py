"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import Version
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.queries import latest
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.workflow_status import revive

if TYPE_CHECKING:
    import apsw

    from layover.ports.records import AuditEntry


def save(
    db: apsw.Connection, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None
) -> Version:
    """Save a definition as the newest version, unless it is that already. A deleted workflow becomes active again."""
    newest = latest(db, workflow)
    is_revived = revive(db, workflow, now, audit.user if audit is not None else "")
    if newest is not None and newest.hash == hash_:
        if is_revived:
            write_audit(db, audit)
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
    db.execute(SQL["insert_versions"], values)
    write_audit(db, audit)
    return version
