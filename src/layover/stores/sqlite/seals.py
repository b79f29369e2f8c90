"""The audit chain of a file. The writer is alone in its transaction, so no rival can seal the same entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.seal_records import AuditDocument
from layover.stores.checks import at_most
from layover.stores.rows import audit_of, seal_key_of, seal_of
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.families.seals import SealMaker
    from layover.ports.records import AuditRow
    from layover.ports.seal_records import Seal, SealKey
    from layover.stores.sqlite.session import SqliteSession

_BEFORE_ALL = (-(2**63), "")


class SqliteSeals:
    """Seals of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def is_waiting(self) -> bool:
        """Return whether entries wait for a seal."""
        return bool(await self._session.glance(lambda db: db.execute(SQL["unsealed_entry_exists"]).get))

    async def seal(self, maker: SealMaker, most: int) -> Seal | None:
        """Seal entries."""
        return await self._session.write(lambda db: seal_entries(db, maker, most))

    async def list_seals(self, after: int, most: int) -> list[Seal]:
        """Read seals in their order."""
        values = {"after": after, "most": at_most(most)}
        return await self._session.read(lambda db: [seal_of(row) for row in db.execute(SQL["seals_after"], values)])

    async def find_seal(self, n: int) -> Seal | None:
        """Read a seal."""
        return await self._session.read(lambda db: _one_seal(db.execute(SQL["seal_by_number"], {"n": n})))

    async def last_seal(self) -> Seal | None:
        """Read the newest seal."""
        return await self._session.read(lambda db: _one_seal(db.execute(SQL["last_seal"])))

    async def last_before(self, moment: int) -> int:
        """Return the number of the last seal from before a moment."""
        return await self._session.read(lambda db: last_before(db, moment))

    async def list_keys(self) -> list[SealKey]:
        """Read all keys."""
        return await self._session.read(list_keys)

    async def list_entries(self, n: int | None, after: tuple[int, str] | None, most: int) -> list[AuditRow]:
        """Read entries of a seal, or those without one."""
        return await self._session.read(lambda db: entries_of(db, n, after, most))

    async def numbers_of_entries(self) -> tuple[int, int] | None:
        """Return the range of seals that entries name."""
        return await self._session.read(numbers_of_entries)

    async def delete_entries(self, through: int, most: int, audit: AuditRow | None = None) -> int:
        """Delete entries of old seals."""
        return await self._session.write(lambda db: delete_entries(db, through, most, audit))

    async def list_documents(self, after: bytes, most: int) -> list[AuditDocument]:
        """Read documents."""
        values = {"after": after, "most": at_most(most)}
        return await self._session.read(
            lambda db: [
                AuditDocument(hash=hash_, body=body) for hash_, body in db.execute(SQL["audit_documents_after"], values)
            ]
        )


def seal_entries(db: apsw.Connection, maker: SealMaker, most: int) -> Seal | None:
    """Seal the oldest entries that wait."""
    rows: list[Any] = db.execute(SQL["unsealed_leaves"], {"most": at_most(most)}).fetchall()
    if not rows:
        return None
    leaves = [leaf if leaf is not None else _completed_leaf(db, maker, at, id_) for at, id_, leaf in rows]
    made = maker.make(_one_seal(db.execute(SQL["last_seal"])), list_keys(db), leaves)
    if made is None:
        return None
    write_seal(db, made.seal)
    if made.key is not None:
        write_key(db, made.key)
    last_at, last_id, _ = rows[-1]
    db.execute(SQL["set_seals"], {"n": made.seal.n, "at": last_at, "id": last_id})
    if db.changes() != len(rows):
        raise StoreError("Entries were changed while they were sealed; nothing was written.", code="seal_torn")
    reached(CommitPoint.SEAL_WRITTEN)
    return made.seal


def _completed_leaf(db: apsw.Connection, maker: SealMaker, at: int, id_: str) -> bytes:
    row = maker.complete(audit_of(db.execute(SQL["entry_to_seal"], {"at": at, "id": id_}).fetchall()[0]))
    values = {"at": at, "id": id_, "entry": row.entry, "salt": row.salt, "leaf": row.leaf}
    db.execute(SQL["complete_audit_entries"], values)
    return row.leaf


def write_seal(db: apsw.Connection, seal: Seal) -> None:
    """Write a seal."""
    db.execute(SQL["insert_seals"], asdict(seal))


def write_key(db: apsw.Connection, key: SealKey) -> None:
    """Write the public key of seals."""
    db.execute(SQL["insert_seal_keys"], asdict(key))


def last_before(db: apsw.Connection, moment: int) -> int:
    """Return the number of the last seal from before a moment."""
    found = db.execute(SQL["last_seal_before"], {"moment": moment}).fetchone()
    return 0 if found is None else found[0]


def list_keys(db: apsw.Connection) -> list[SealKey]:
    """Return all keys, the oldest first."""
    return [seal_key_of(row) for row in db.execute(SQL["list_seal_keys"])]


def entries_of(db: apsw.Connection, n: int | None, after: tuple[int, str] | None, most: int) -> list[AuditRow]:
    """Return entries of a seal, or those without one."""
    after_at, after_id = after or _BEFORE_ALL
    values = {"after_at": after_at, "after_id": after_id, "most": at_most(most)}
    if n is None:
        return [audit_of(row) for row in db.execute(SQL["unsealed_entries"], values)]
    return [audit_of(row) for row in db.execute(SQL["entries_of_seal"], {**values, "n": n})]


def numbers_of_entries(db: apsw.Connection) -> tuple[int, int] | None:
    """Return the range of seals that entries name."""
    lowest, highest = (db.execute(SQL[name]).get for name in ("lowest_seal_of_entries", "highest_seal_of_entries"))
    return None if lowest is None else (lowest, highest)


def delete_entries(db: apsw.Connection, through: int, most: int, audit: AuditRow | None) -> int:
    """Delete entries of old seals, and documents that no entry names any more."""
    rows = db.execute(SQL["sealed_entries_up_to"], {"through": through, "most": at_most(most)}).fetchall()
    if not rows:
        return 0
    db.executemany(SQL["delete_audit_entry"], [{"at": at, "id": id_} for at, id_, _ in rows])
    documents = {document for _, _, document in rows if document is not None}
    db.executemany(SQL["delete_audit_document"], [{"hash": one} for one in sorted(documents)])
    write_audit(db, audit)
    return len(rows)


def _one_seal(cursor: apsw.Cursor) -> Seal | None:
    row = cursor.fetchone()
    return None if row is None else seal_of(row)
