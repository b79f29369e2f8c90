"""Proving what was audited: the chain of a whole database, and single receipts without one."""

from __future__ import annotations

import base64
import secrets
from time import monotonic_ns
from typing import TYPE_CHECKING

from layover.admin.reading import opened_to_read
from layover.model.proofs import Receipt
from layover.runtime.audit.receipts import check_receipt, read_keys, receipt_bytes
from layover.runtime.audit.signing import find_signing_key, public_of_text
from layover.runtime.audit.verify import verify_audit as verify_chain
from layover.runtime.secrets.cached_secrets import CachedSecrets
from layover.secret_providers import built_in_providers
from layover.settings import runtime_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.runtime.audit.findings import AuditVerification
    from layover.runtime.audit.receipts import ReceiptCheck
    from layover.settings import Settings


async def verify_audit(
    db: str, *, heads: Sequence[str] = (), keys: Sequence[str] = (), settings: Settings | None = None
) -> AuditVerification:
    """Check that audit entries are what was written: heads, signatures, roots, entries, and the decisions in the logs.

    `heads` are those of witnesses: logs or receipts. `keys` are the public keys that count (a JWK set, or the `x` of a
    JWK); without any, the newest has to be that of the secret `AUDIT_KEY`, as these settings find it. It only reads.
    """
    chosen = runtime_settings(settings)
    found = CachedSecrets(built_in_providers(chosen.secrets_file, chosen.secrets_dir), _milliseconds)
    try:
        current = await find_signing_key(found)
    finally:
        found.close()
    given = [public_of_text(key.x) for text in keys for key in read_keys(text)]
    async with opened_to_read(db) as store:
        return await verify_chain(store, heads=heads, keys=given, current=None if current is None else current.public)


def verify_receipt(receipt: Receipt | bytes | str, *, keys: Sequence[str]) -> ReceiptCheck:
    """Check a receipt against public keys that the caller trusts: a JWK set, or the `x` of a JWK. It is all offline."""
    given = receipt_bytes(receipt) if isinstance(receipt, Receipt) else receipt
    trusted = [key for text in keys for key in read_keys(text)]
    return check_receipt(given.encode() if isinstance(given, str) else given, trusted)


def new_audit_key() -> str:
    """Return a new signing key, for the secret `AUDIT_KEY`."""
    return base64.b64encode(secrets.token_bytes(32)).decode()


def _milliseconds() -> int:
    return monotonic_ns() // 1_000_000
