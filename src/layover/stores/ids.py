"""The ids of executions: a UUID in its usual text form for everybody, and 16 bytes where it is kept."""

from __future__ import annotations

from functools import lru_cache

from layover.ports.errors import StoreError


# An execution that is driven writes many times, and the checks cost more than looking up what they came to.
@lru_cache(maxsize=2_000)
def key(execution_id: str) -> bytes:
    """Return the id of an execution as it is kept; there is one way to write it, so that equal ids are equal texts."""
    try:
        kept = bytes.fromhex(execution_id.replace("-", ""))
    except ValueError:
        kept = b""
    if len(kept) != 16 or text(kept) != execution_id:
        raise StoreError(f"{execution_id!r} is not the id of an execution: it has to be a UUID.", code="malformed_id")
    return kept


def text(kept: bytes) -> str:
    """Return the id of an execution as everybody else has it."""
    digits = kept.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
