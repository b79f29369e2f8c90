"""The ids of executions: UUIDs as text in Python, and as 16 bytes in SQLite and on the wire to PostgreSQL."""

from __future__ import annotations

from functools import lru_cache

from layover.ports.errors import StoreError


# An active execution is written many times, and the checks cost more than a look into the cache.
@lru_cache(maxsize=2_000)
def key(execution_id: str) -> bytes:
    """Return an id as bytes. Only the canonical form is accepted, so that equal ids are equal texts."""
    try:
        kept = bytes.fromhex(execution_id.replace("-", ""))
    except ValueError:
        kept = b""
    if len(kept) != 16 or text(kept) != execution_id:
        raise StoreError(f"{execution_id!r} is not the id of an execution: it has to be a UUID.", code="malformed_id")
    return kept


@lru_cache(maxsize=4096)  # the same executions are read again and again
def text(kept: bytes) -> str:
    """Return an id as text."""
    digits = kept.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
