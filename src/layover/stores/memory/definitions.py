"""Definitions. A version never changes; the same definition twice in a row is one version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import DefinitionText, Version
from layover.stores.checks import at_most
from layover.stores.memory.audit import write_audit
from layover.stores.memory.triggers import register
from layover.stores.memory.workflow_status import revive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow, WrittenText
    from layover.ports.trigger_records import NewTrigger
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryDefinitions:
    """Definitions in memory."""

    def __init__(self, session: MemorySession) -> None:
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
        db = await self._session.turn()
        register(db, workflow, triggers, now)  # first, since it may refuse
        saved = save(db, workflow, hash_, document, now, audit)
        if text is not None:
            save_text(db, saved, text, now)
        return saved

    async def find_text(self, workflow: str, number: int) -> DefinitionText | None:
        """Find the text of a version as it was written."""
        return (await self._session.turn()).definition_texts.get((workflow, number))

    async def read_texts(self, after: tuple[str, int], limit: int) -> list[DefinitionText]:
        """Read the texts of all versions by workflow and number, beginning after one of them."""
        texts = (await self._session.turn()).definition_texts
        return [texts[key] for key in sorted(texts) if key > after][: at_most(limit)]

    async def find_by_hash(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return version(await self._session.turn(), hash_)

    async def find_latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return latest(await self._session.turn(), workflow)

    async def list_versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return versions(await self._session.turn(), workflow)

    async def list_hashes(self, workflow: str | None = None) -> list[str]:
        """List the hashes of versions."""
        db = await self._session.turn()
        return sorted({one.hash for one in db.versions if workflow in (None, one.workflow)})

    async def list_workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List workflows."""
        return workflows(await self._session.turn(), after, limit)


def save(db: MemoryDatabase, workflow: str, hash_: str, document: bytes, now: int, audit: AuditRow | None) -> Version:
    """Save a definition as the newest version, unless it is that already. A deleted workflow becomes active again."""
    newest = latest(db, workflow)
    is_revived = revive(db, workflow, now, audit.user if audit is not None else "")
    if newest is not None and newest.hash == hash_:
        if is_revived:
            write_audit(db, audit)
        return newest
    number = newest.number + 1 if newest is not None else 1
    version = Version(workflow=workflow, number=number, hash=hash_, document=document, created_at=now)
    db.versions.append(version)
    write_audit(db, audit)
    return version


def save_text(db: MemoryDatabase, version: Version, text: WrittenText, now: int) -> None:
    """Save the text of a version, unless it has that already."""
    key = version.workflow, version.number
    had = db.definition_texts.get(key)
    if had is None or (had.body, had.media_type) != (text.body, text.media_type):
        db.definition_texts[key] = DefinitionText(
            workflow=key[0], number=key[1], media_type=text.media_type, body=text.body, changed_at=now
        )


def version(db: MemoryDatabase, hash_: str) -> Version | None:
    """Find a version by its hash."""
    return min((one for one in db.versions if one.hash == hash_), key=lambda one: one.number, default=None)


def latest(db: MemoryDatabase, workflow: str) -> Version | None:
    """Find the newest version of a workflow."""
    found = versions(db, workflow)
    return found[-1] if found else None


def versions(db: MemoryDatabase, workflow: str | None) -> list[Version]:
    """List the versions of a workflow, or the newest of every workflow."""
    if workflow is not None:
        return [one for one in db.versions if one.workflow == workflow]
    newest = {one.workflow: one for one in db.versions}
    return [newest[name] for name in sorted(newest)]


def workflows(db: MemoryDatabase, after: str, limit: int) -> list[Version]:
    """List the newest versions of workflows, by name, after one of them."""
    return [one for one in versions(db, None) if one.workflow > after][: at_most(limit)]
