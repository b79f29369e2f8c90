"""The audit chain of a schema.

The rows are locked before the last seal is read: a rival waits for them, and then sees the seal that took them. Rivals
that lock different rows want the same number, and its primary key lets one of them have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.seal_records import AuditDocument
from layover.stores.checks import at_most
from layover.stores.postgres.audit import write_audit
from layover.stores.rows import audit_of, seal_key_of, seal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.families.seals import SealMaker
    from layover.ports.records import AuditRow
    from layover.ports.seal_records import Seal, SealKey
    from layover.stores.postgres.database import Row, StatementRunner, Transaction
    from layover.stores.postgres.session import PostgresSession

_BEFORE_ALL = (-(2**63), "")


class PostgresSeals:
    """Seals of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def is_waiting(self) -> bool:
        """Return whether entries wait for a seal."""
        return bool(await self._session.db.fetchval("unsealed_entry_exists"))

    async def seal(self, maker: SealMaker, most: int) -> Seal | None:
        """Seal entries."""
        try:
            return await self._session.db.transact(lambda tx: seal_entries(tx, maker, at_most(most)))
        except StoreError as error:
            if error.code in ("seal_exists", "seal_torn"):
                return None  # another instance was faster
            raise

    async def list_seals(self, after: int, most: int) -> list[Seal]:
        """Read seals in their order."""
        return [seal_of(row) for row in await self._session.db.fetch("seals_after", after, at_most(most))]

    async def find_seal(self, n: int) -> Seal | None:
        """Read a seal."""
        row = await self._session.db.fetchrow("seal_by_number", n)
        return None if row is None else seal_of(row)

    async def last_seal(self) -> Seal | None:
        """Read the newest seal."""
        return await _last_seal(self._session.db)

    async def last_before(self, moment: int) -> int:
        """Return the number of the last seal from before a moment."""
        return await self._session.db.fetchval("last_seal_before", moment) or 0

    async def list_keys(self) -> list[SealKey]:
        """Read all keys."""
        return await _list_keys(self._session.db)

    async def list_entries(self, n: int | None, after: tuple[int, str] | None, most: int) -> list[AuditRow]:
        """Read entries of a seal, or those without one."""
        usual = (*(after or _BEFORE_ALL), at_most(most))
        if n is None:
            rows = await self._session.db.fetch("unsealed_entries", *usual)
        else:
            rows = await self._session.db.fetch("entries_of_seal", *usual, n)
        return [audit_of(row) for row in rows]

    async def numbers_of_entries(self) -> tuple[int, int] | None:
        """Return the range of seals that entries name."""
        row = await self._session.db.fetchrow("seals_of_entries")
        return None if row is None or row[0] is None else (row[0], row[1])

    async def delete_entries(self, through: int, most: int, audit: AuditRow | None = None) -> int:
        """Delete entries of old seals, and documents that no entry names any more."""

        async def delete(tx: Transaction) -> int:
            gone = await tx.fetch("delete_sealed_entries", through, at_most(most))
            documents = sorted({row[0] for row in gone if row[0] is not None})
            if documents:
                await tx.fetch("delete_audit_documents", documents)
            if gone:
                await write_audit(tx, audit)
            return len(gone)

        return await self._session.db.transact(delete)

    async def list_documents(self, after: bytes, most: int) -> list[AuditDocument]:
        """Read documents."""
        rows = await self._session.db.fetch("audit_documents_after", after, at_most(most))
        return [AuditDocument(hash=hash_, body=body) for hash_, body in rows]


async def seal_entries(tx: Transaction, maker: SealMaker, most: int) -> Seal | None:
    """Seal the oldest entries that wait."""
    rows = await tx.fetch("lock_unsealed_leaves", most)
    if not rows:
        return None
    leaves = await _leaves(tx, maker, rows)
    made = maker.make(await _last_seal(tx), await _list_keys(tx), leaves)
    if made is None:
        return None
    await write_seals(tx, [made.seal])
    if made.key is not None:
        await write_keys(tx, [made.key])
    count = await tx.fetchval("set_seals", made.seal.n, [row[0] for row in rows], [row[1] for row in rows])
    if count != len(rows):
        raise StoreError("Entries were changed while they were sealed; nothing was written.", code="seal_torn")
    reached(CommitPoint.SEAL_WRITTEN)
    return made.seal


async def _leaves(tx: Transaction, maker: SealMaker, rows: Sequence[Row]) -> list[bytes]:
    """Return the leaves of rows; those of an earlier release get theirs now."""
    without = [(at, id_) for at, id_, leaf in rows if leaf is None]
    if not without:
        return [leaf for _, _, leaf in rows]
    found = await tx.fetch("entries_to_seal", [at for at, _ in without], [id_ for _, id_ in without])
    made = {(row.at, row.id): row for row in (maker.complete(audit_of(one)) for one in found)}
    columns = zip(*((row.at, row.id, row.entry, row.salt, row.leaf) for row in made.values()), strict=True)
    await tx.fetch("complete_audit_entries", *map(list, columns))
    return [leaf if leaf is not None else made[at, id_].leaf for at, id_, leaf in rows]


async def write_seals(tx: Transaction, seals: Sequence[Seal]) -> None:
    """Write seals."""
    if seals:
        await tx.fetch("insert_seals", *map(list, zip(*map(astuple, seals), strict=True)))


async def write_keys(tx: Transaction, keys: Sequence[SealKey]) -> None:
    """Write public keys of seals."""
    if keys:
        await tx.fetch("insert_seal_keys", *map(list, zip(*map(astuple, keys), strict=True)))


async def _last_seal(db: StatementRunner) -> Seal | None:
    row = await db.fetchrow("last_seal")
    return None if row is None else seal_of(row)


async def _list_keys(db: StatementRunner) -> list[SealKey]:
    return [seal_key_of(row) for row in await db.fetch("list_seal_keys")]
