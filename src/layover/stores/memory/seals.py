"""The audit chain in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.seal_records import AuditDocument
from layover.stores.checks import at_most
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.families.seals import SealMaker
    from layover.ports.records import AuditRow
    from layover.ports.seal_records import Seal, SealKey
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemorySeals:
    """Seals in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def is_waiting(self) -> bool:
        """Return whether entries wait for a seal."""
        return any(row.seal is None for row in (await self._session.turn()).audit.values())

    async def seal(self, maker: SealMaker, most: int) -> Seal | None:
        """Seal entries."""
        return seal_entries(await self._session.turn(), maker, most)

    async def list_seals(self, after: int, most: int) -> list[Seal]:
        """Read seals in their order."""
        db = await self._session.turn()
        return [db.seals[n] for n in sorted(db.seals) if n > after][: at_most(most)]

    async def find_seal(self, n: int) -> Seal | None:
        """Read a seal."""
        return (await self._session.turn()).seals.get(n)

    async def last_seal(self) -> Seal | None:
        """Read the newest seal."""
        return _last_seal(await self._session.turn())

    async def last_before(self, moment: int) -> int:
        """Return the number of the last seal from before a moment."""
        db = await self._session.turn()
        return max(((seal.at, seal.n) for seal in db.seals.values() if seal.at < moment), default=(0, 0))[1]

    async def list_keys(self) -> list[SealKey]:
        """Read all keys."""
        return _list_keys(await self._session.turn())

    async def list_entries(self, n: int | None, after: tuple[int, str] | None, most: int) -> list[AuditRow]:
        """Read entries of a seal, or those without one."""
        db = await self._session.turn()
        names = sorted(name for name, row in db.audit.items() if row.seal == n and (after is None or name > after))
        return [db.audit[name] for name in names[: at_most(most)]]

    async def numbers_of_entries(self) -> tuple[int, int] | None:
        """Return the range of seals that entries name."""
        numbers = [row.seal for row in (await self._session.turn()).audit.values() if row.seal is not None]
        return (min(numbers), max(numbers)) if numbers else None

    async def delete_entries(self, through: int, most: int, audit: AuditRow | None = None) -> int:
        """Delete entries of old seals."""
        return delete_entries(await self._session.turn(), through, most, audit)

    async def list_documents(self, after: bytes, most: int) -> list[AuditDocument]:
        """Read documents."""
        db = await self._session.turn()
        hashes = sorted(one for one in db.audit_documents if one > after)
        return [AuditDocument(hash=one, body=db.audit_documents[one]) for one in hashes[: at_most(most)]]


def seal_entries(db: MemoryDatabase, maker: SealMaker, most: int) -> Seal | None:
    """Seal the oldest entries that wait."""
    names = sorted(name for name, row in db.audit.items() if row.seal is None)[: at_most(most)]
    if not names:
        return None
    rows = [db.audit[name] if db.audit[name].leaf else maker.complete(db.audit[name]) for name in names]
    made = maker.make(_last_seal(db), _list_keys(db), [row.leaf for row in rows])
    if made is None:
        return None
    db.seals[made.seal.n] = made.seal
    if made.key is not None:
        db.seal_keys[made.key.id] = made.key
    for name, row in zip(names, rows, strict=True):
        db.audit[name] = replace(row, seal=made.seal.n)
    return made.seal


def delete_entries(db: MemoryDatabase, through: int, most: int, audit: AuditRow | None) -> int:
    """Delete entries of old seals, and documents that no entry names any more."""
    old = sorted((row.seal, *name) for name, row in db.audit.items() if row.seal is not None and row.seal <= through)
    gone = [db.audit.pop((at, id_)) for _, at, id_ in old[: at_most(most)]]
    if not gone:
        return 0
    named = {row.document_hash for row in db.audit.values()}
    for document in sorted({row.document_hash for row in gone} - named):
        db.audit_documents.pop(document, None)
    write_audit(db, audit)
    return len(gone)


def _last_seal(db: MemoryDatabase) -> Seal | None:
    return db.seals[max(db.seals)] if db.seals else None


def _list_keys(db: MemoryDatabase) -> list[SealKey]:
    return sorted(db.seal_keys.values(), key=lambda key: key.first_seal)
