"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.rows import version_of

if TYPE_CHECKING:
    from layover.ports.records import AuditEntry, Version
    from layover.stores.postgres.database import Database


async def save(db: Database, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None) -> Version:
    """Save a definition as the newest version, unless it is that already. A deleted workflow becomes active again."""
    by, entries = (audit.user, [audit]) if audit is not None else ("", [])
    while True:
        row = await db.fetchrow("save_version", workflow, hash_, document, now, by, *audit_columns(entries))
        if row is not None:
            return version_of(row)
        # Another instance took the number meanwhile; the next try sees its version.
