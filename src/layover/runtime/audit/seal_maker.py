"""Makes seals: the Merkle root of leaves, chained to the seal before it, and signed.

Keys follow each other. Once another key has signed a seal, the key before it is retired and never signs again; and to a
chain that is signed, nothing unsigned is added. So while a key is exchanged on several instances one by one, those that
still have the old key leave the entries to the others. And who has stolen an old key cannot continue the chain with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from layover.core.audit_proofs import NO_HEAD, head_of, merkle_root, signed_by_seal
from layover.ports.audit_entries import SALT_BYTES, completed
from layover.ports.seal_records import MadeSeal, Seal, SealKey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.ports.records import AuditRow
    from layover.runtime.audit.signing import AuditSigningKey

Refusal = Literal["", "audit_key_retired", "audit_key_missing"]
MOST_ENTRIES: Final = 10_000


class ChainedSealMaker:
    """Makes the next seal at a moment; `refusal` says why it made none."""

    def __init__(self, now: int, key: AuditSigningKey | None, secret: Callable[[int], bytes]) -> None:
        self._now = now
        self._key = key
        self._secret = secret
        self.refusal: Refusal = ""

    def complete(self, row: AuditRow) -> AuditRow:
        """Return an entry of an earlier release with its leaf."""
        return completed(row, self._secret(SALT_BYTES))

    def make(self, last: Seal | None, keys: Sequence[SealKey], leaves: Sequence[bytes]) -> MadeSeal | None:
        """Return the next seal; None if this instance may not make it."""
        key = self._key
        self.refusal = refusal_to_sign(key, keys)
        if self.refusal:
            return None
        n, prev, first = (1, NO_HEAD, 1) if last is None else (last.n + 1, last.head, last.first + last.count)
        at = self._now if last is None else max(self._now, last.at)  # clocks differ, the chain does not go back
        root = merkle_root(leaves)
        head = head_of(prev, n, root, first, len(leaves), at)
        seal = Seal(
            n=n,
            at=at,
            first=first,
            count=len(leaves),
            leaves=b"".join(leaves),
            root=root,
            prev=prev,
            head=head,
            key_id=None if key is None else key.id,
            signature=None if key is None else key.sign(signed_by_seal(head)),
        )
        is_new = key is not None and (not keys or keys[-1].id != key.id)
        if key is None or not is_new:
            return MadeSeal(seal=seal)
        return MadeSeal(seal=seal, key=SealKey(id=key.id, public=key.public, first_seal=n, since=at))


def refusal_to_sign(key: AuditSigningKey | None, keys: Sequence[SealKey]) -> Refusal:
    """Return why nothing may be added to a chain with a key; `keys` are those that have signed it."""
    if not keys:
        return ""
    if key is None:
        return "audit_key_missing"
    return "audit_key_retired" if key.id in {one.id for one in keys[:-1]} else ""
