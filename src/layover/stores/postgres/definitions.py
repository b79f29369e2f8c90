"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.postgres.audit import audit_columns
from layover.stores.postgres.triggers import register
from layover.stores.rows import text_of, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow, DefinitionText, Version, WrittenText
    from layover.ports.trigger_records import NewTrigger
    from layover.stores.postgres.database import Row, Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresDefinitions:
    """Definitions of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def save(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        hash_: str,
        document: bytes,
        now: int,
        audit: AuditRow | None = None,
        triggers: Sequence[NewTrigger] = (),
        *,
        text: WrittenText | None = None,
    ) -> Version:
        """Save a definition as the newest version, unless it is that already; a deleted workflow is active again."""
        by, entries = (audit.user, [audit]) if audit is not None else ("", [])

        async def write(tx: Transaction) -> Row | None:
            row = await tx.fetchrow("save_version", workflow, hash_, document, now, by, *audit_columns(entries))
            if row is not None:
                await register(tx, workflow, triggers, now)
            if row is not None and text is not None:
                await tx.fetch("save_text", workflow, version_of(row).number, text.media_type, text.body, now)
            return row

        while True:
            row = await self._session.db.transact(write)
            if row is not None:
                return version_of(row)
            # Another instance took the number meanwhile; the next try sees its version.

    async def find_text(self, workflow: str, number: int) -> DefinitionText | None:
        """Find the text of a version as it was written."""
        row = await self._session.db.fetchrow("find_text", workflow, number)
        return text_of(row) if row is not None else None

    async def read_texts(self, after: tuple[str, int], limit: int) -> list[DefinitionText]:
        """Read the texts of all versions by workflow and number, beginning after one of them."""
        return [text_of(row) for row in await self._session.db.fetch("read_texts", *after, at_most(limit))]

    async def find_by_hash(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        row = await self._session.db.fetchrow("version_by_hash", hash_)
        return version_of(row) if row is not None else None

    async def find_latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        row = await self._session.db.fetchrow("latest_version", workflow)
        return version_of(row) if row is not None else None

    async def list_versions(self, workflow: str | None = None) -> list[Version]:
        """List the versions of a workflow, or the newest of every workflow."""
        db = self._session.db
        if workflow is not None:
            return [version_of(row) for row in await db.fetch("versions_of_workflow", workflow)]
        # The statement reads the index backwards.
        return [version_of(row) for row in reversed(await db.fetch("latest_versions"))]

    async def list_hashes(self, workflow: str | None = None) -> list[str]:
        """List the hashes of all versions of a workflow, or of every workflow."""
        db = self._session.db
        rows = await (db.fetch("list_hashes") if workflow is None else db.fetch("hashes_of_workflow", workflow))
        return sorted({row[0] for row in rows})

    async def list_workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List the newest versions of workflows, by name, after one of them."""
        return [version_of(row) for row in await self._session.db.fetch("latest_versions_after", after, at_most(limit))]
