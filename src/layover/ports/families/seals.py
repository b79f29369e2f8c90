"""The audit chain: seals over audit entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.ports.seal_records import AuditDocument, MadeSeal, Seal, SealKey


class SealMaker(Protocol):
    """Makes seals, inside of the transaction of a store: it only computes. It may be called on any thread."""

    def complete(self, row: AuditRow) -> AuditRow:
        """Return an entry with its leaf, if an earlier release has written it without."""

    def make(self, last: Seal | None, keys: Sequence[SealKey], leaves: Sequence[bytes]) -> MadeSeal | None:
        """Return the seal over leaves that follows the last one; None if it is not ours to make."""


class SealStore(Protocol):
    """Seals, which are never changed or deleted. The number of a seal is its key: of two rivals, one writes it."""

    async def is_waiting(self) -> bool:
        """Return whether entries wait for a seal: one look at an index."""

    async def seal(self, maker: SealMaker, most: int) -> Seal | None:
        """Seal up to so many entries by moment and id, in one transaction.

        None if there are none, if the maker makes none, or if another instance was faster. Every entry without a seal
        counts, however old it is: one that was committed late is in the next seal.
        """

    async def list_seals(self, after: int, most: int) -> list[Seal]:
        """Read the seals after a number, in their order."""

    async def find_seal(self, n: int) -> Seal | None:
        """Read a seal."""

    async def last_seal(self) -> Seal | None:
        """Read the newest seal."""

    async def last_before(self, moment: int) -> int:
        """Return the number of the last seal from before a moment; 0 if there is none."""

    async def list_keys(self) -> list[SealKey]:
        """Read all keys, the oldest first."""

    async def list_entries(self, n: int | None, after: tuple[int, str] | None, most: int) -> list[AuditRow]:
        """Read the entries of a seal, or those without one, by moment and id."""

    async def numbers_of_entries(self) -> tuple[int, int] | None:
        """Return the lowest and the highest number of a seal that entries name; None if none does."""

    async def delete_entries(self, through: int, most: int, audit: AuditRow | None = None) -> int:
        """Delete entries of the seals up to a number, oldest seal first, and documents that no entry names any more.

        `audit` is written if there were any. Return how many.
        """

    async def list_documents(self, after: bytes, most: int) -> list[AuditDocument]:
        """Read documents by hash."""
