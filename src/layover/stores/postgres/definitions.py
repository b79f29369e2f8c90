"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.rows import version_of

if TYPE_CHECKING:
    from layover.ports.records import AuditEntry, Version
    from layover.stores.postgres.database import Database, StatementRunner


async def save(db: Database, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None) -> Version:
    """Save a definition as the newest version, unless it is that already. A deleted workflow becomes active again."""
    by, entries = (audit.user, [audit]) if audit is not None else ("", [])
    while True:
        row = await db.fetchrow("save_version", workflow, hash_, document, now, by, *audit_columns(entries))
        if row is not None:
            return version_of(row)
        # Another instance took the number meanwhile; the next try sees its version.


async def version(db: StatementRunner, hash_: str) -> Version | None:
    """Find a version by its hash."""
    row = await db.fetchrow("version_by_hash", hash_)
    return version_of(row) if row is not None else None


async def latest(db: StatementRunner, workflow: str) -> Version | None:
    """Find the newest version of a workflow."""
    row = await db.fetchrow("latest_version", workflow)
    return version_of(row) if row is not None else None


async def versions(db: StatementRunner, workflow: str | None) -> list[Version]:
    """List the versions of a workflow, or the newest of every workflow."""
    if workflow is not None:
        return [version_of(row) for row in await db.fetch("versions_of_workflow", workflow)]
    # The statement reads the index backwards.
    return [version_of(row) for row in reversed(await db.fetch("latest_versions"))]


async def workflows(db: StatementRunner, after: str, limit: int) -> list[Version]:
    """List the newest versions of workflows, by name, after one of them."""
    return [version_of(row) for row in await db.fetch("latest_versions_after", after, at_most(limit))]
