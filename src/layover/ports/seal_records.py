"""Records of the audit chain: seals, the keys that sign them, and the documents that users saw."""

from __future__ import annotations

from layover.ports.records import StoreRecord


class Seal(StoreRecord, frozen=True, kw_only=True):
    """A seal over audit entries: their leaves in the order of moment and id, and the chain to the seal before it."""

    n: int  # counted from 1
    at: int
    first: int  # the number of its first entry among all that were ever sealed, counted from 1
    count: int
    leaves: bytes  # 32 bytes for each entry; they stay when retention deletes the entries
    root: bytes
    prev: bytes  # the head of the seal before it; zeros for the first
    head: bytes
    key_id: str | None = None  # without a key, it is chained but not signed
    signature: bytes | None = None


class SealKey(StoreRecord, frozen=True, kw_only=True):
    """A public key of seals: valid from its first seal until the next key has signed one."""

    id: str
    public: bytes
    first_seal: int
    since: int


class MadeSeal(StoreRecord, frozen=True, kw_only=True):
    """A seal to be written, with its key if that has signed none before."""

    seal: Seal
    key: SealKey | None = None


class AuditDocument(StoreRecord, frozen=True, kw_only=True):
    """What a user saw, by the SHA-256 of its bytes."""

    hash: bytes
    body: bytes
