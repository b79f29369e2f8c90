"""Makes seals without a key, by the rules of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.audit_proofs import NO_HEAD, head_of, merkle_root
from layover.ports.audit_entries import completed
from layover.ports.seal_records import MadeSeal, Seal, SealKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow


class Maker:
    """Makes seals at a moment; with a key, it only names it."""

    def __init__(self, now: int, key: str | None = None) -> None:
        self.now = now
        self.key = key

    def complete(self, row: AuditRow) -> AuditRow:
        return completed(row, row.id.encode())

    def make(self, last: Seal | None, keys: Sequence[SealKey], leaves: Sequence[bytes]) -> MadeSeal | None:
        n, prev = (1, NO_HEAD) if last is None else (last.n + 1, last.head)
        first = 1 if last is None else last.first + last.count
        root = merkle_root(leaves)
        seal = Seal(
            n=n,
            at=self.now,
            first=first,
            count=len(leaves),
            leaves=b"".join(leaves),
            root=root,
            prev=prev,
            head=head_of(prev, n, root, first, len(leaves), self.now),
            key_id=self.key,
            signature=None if self.key is None else b"signed",
        )
        is_new = self.key is not None and self.key not in {key.id for key in keys}
        key = SealKey(id=self.key, public=b"p", first_seal=n, since=self.now) if is_new and self.key else None
        return MadeSeal(seal=seal, key=key)
