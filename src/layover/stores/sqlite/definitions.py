"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.records import Version
from layover.stores.checks import at_most
from layover.stores.rows import text_of, version_of
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.triggers import register
from layover.stores.sqlite.workflow_status import revive

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import AuditRow, DefinitionText, WrittenText
    from layover.ports.trigger_records import NewTrigger
    from layover.stores.sqlite.session import SqliteSession


class SqliteDefinitions:
    """Definitions of a file."""

    def __init__(self, session: SqliteSession) -> None:
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
        """Save a definition."""

        def write(db: apsw.Connection) -> Version:
            saved = save(db, workflow, hash_, document, now, audit)
            register(db, workflow, triggers, now)
            if text is not None:
                values = {"workflow": saved.workflow, "number": saved.number, "changed_at": now}
                db.execute(SQL["save_text"], {**values, "media_type": text.media_type, "body": text.body})
            return saved

        return await self._session.write(write)

    async def find_text(self, workflow: str, number: int) -> DefinitionText | None:
        """Find the text of a version as it was written."""
        values = {"workflow": workflow, "number": number}
        row = await self._session.read(lambda db: db.execute(SQL["find_text"], values).fetchone())
        return text_of(row) if row is not None else None

    async def read_texts(self, after: tuple[str, int], limit: int) -> list[DefinitionText]:
        """Read the texts of all versions by workflow and number, beginning after one of them."""
        values = {"workflow": after[0], "number": after[1], "limit": at_most(limit)}
        return await self._session.read(lambda db: [text_of(row) for row in db.execute(SQL["read_texts"], values)])

    async def find_by_hash(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return await self._session.glance(lambda db: version(db, hash_))

    async def find_latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return await self._session.glance(lambda db: latest(db, workflow))

    async def list_versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return await self._session.read(lambda db: versions(db, workflow))

    async def list_hashes(self, workflow: str | None = None) -> list[str]:
        """List the hashes of versions."""
        return await self._session.read(lambda db: hashes(db, workflow))

    async def list_workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List workflows."""
        return await self._session.read(lambda db: workflows(db, after, limit))


def save(db: apsw.Connection, workflow: str, hash_: str, document: bytes, now: int, audit: AuditRow | None) -> Version:
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


def version(db: apsw.Connection, hash_: str) -> Version | None:
    """Find a version by its hash."""
    row = db.execute(SQL["version_by_hash"], {"hash": hash_}).fetchone()
    return version_of(row) if row is not None else None


def latest(db: apsw.Connection, workflow: str) -> Version | None:
    """Find the newest version of a workflow."""
    row = db.execute(SQL["latest_version"], {"workflow": workflow}).fetchone()
    return version_of(row) if row is not None else None


def versions(db: apsw.Connection, workflow: str | None) -> list[Version]:
    """List the versions of a workflow, or the newest of every workflow."""
    if workflow is None:
        return [version_of(row) for row in db.execute(SQL["latest_versions"])]
    return [version_of(row) for row in db.execute(SQL["versions_of_workflow"], {"workflow": workflow})]


def hashes(db: apsw.Connection, workflow: str | None) -> list[str]:
    """List the hashes of all versions of a workflow, or of every workflow."""
    name = "list_hashes" if workflow is None else "hashes_of_workflow"
    found = db.execute(SQL[name], {"workflow": workflow} if workflow is not None else None)
    return sorted({str(hash_) for (hash_,) in found})


def workflows(db: apsw.Connection, after: str, limit: int) -> list[Version]:
    """List the newest versions of workflows, by name, after one of them."""
    return [
        version_of(row) for row in db.execute(SQL["latest_versions_after"], {"after": after, "limit": at_most(limit)})
    ]


def insert_texts(db: apsw.Connection, texts: Sequence[DefinitionText]) -> int:
    """Insert texts of versions that have none; return how many."""
    before = db.total_changes()
    db.executemany(SQL["copy_texts"], [asdict(text) for text in texts])
    return db.total_changes() - before
