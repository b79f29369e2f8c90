"""Checks receipts offline, as any stranger could: by hashes and public keys alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.audit_proofs import (
    PathStep,
    canonical_json,
    head_of,
    leaf_of,
    root_by_path,
    signed_by_receipt,
    signed_by_seal,
)
from layover.errors import BadUse
from layover.model.proofs import AuditKey, AuditKeySet, Receipt
from layover.model.shared import builtins, decode
from layover.runtime.audit.signing import is_signed, key_id_of, public_of_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.moments import Moment

_LONGEST: Final = 10_000_000  # bytes


class ReceiptCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a receipt proves: who did what, when; and what is wrong with it, if it proves nothing."""

    user: str = ""
    act: str = ""
    at: str = ""
    target: str = ""
    seal: int = 0
    head: str = ""
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it proves what it says."""
        return not self.problems


def read_keys(text: str) -> tuple[AuditKey, ...]:
    """Return public keys: of a JWK set, a JWK, or the text of one (`x`)."""
    given = text.strip()
    if not given.startswith("{"):
        return (AuditKey(kid=key_id_of(public_of_text(given)), x=given),)
    try:
        if '"keys"' in given:
            return decode(given.encode(), AuditKeySet).keys
        return (decode(given.encode(), AuditKey),)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadUse(f"These are not public keys of receipts, a JWK set: {error}.") from error


def check_receipt(given: bytes, keys: Sequence[AuditKey]) -> ReceiptCheck:
    """Check a receipt against the keys that the caller trusts."""
    if len(given) > _LONGEST:
        return ReceiptCheck(problems=(f"It has more than {_LONGEST:,} bytes.",))
    try:
        receipt = decode(given, Receipt)
        entry, salt = _data(receipt.entry), _data(receipt.salt)
        said: Any = msgspec.json.decode(entry)
        found = _hashes(receipt, entry, salt, said) + _signatures(receipt, msgspec.json.decode(given), keys)
    except (msgspec.MsgspecError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return ReceiptCheck(problems=(f"It is not a receipt: {str(error)[:200]}.",))
    return ReceiptCheck(
        user=str(said.get("user", "")),
        act=str(said.get("act", "")),
        at=str(said.get("at", "")),
        target=str(said.get("target", "")),
        seal=receipt.seal.n,
        head=receipt.seal.head,
        problems=tuple(found),
    )


def _hashes(receipt: Receipt, entry: bytes, salt: bytes, said: dict[str, Any]) -> list[str]:
    found: list[str] = []
    seal = receipt.seal
    root, prev = bytes.fromhex(seal.root), bytes.fromhex(seal.prev)
    path = [PathStep(step.side, bytes.fromhex(step.hash)) for step in receipt.path]
    if root_by_path(leaf_of(salt, entry), path) != root:
        found.append("The path does not lead from the entry to the root of the seal.")
    if head_of(prev, seal.n, root, seal.first, seal.count, seal.at.milliseconds).hex() != seal.head:
        found.append("The head is not the hash of what the seal says.")
    document = said.get("document", "")
    if document and (receipt.view is None or hashlib.sha256(canonical_json(receipt.view)).hexdigest() != document):
        found.append("The view is not what the entry says was seen.")
    if not document and receipt.view is not None:
        found.append("The entry says nothing of a view.")
    return found


def _signatures(receipt: Receipt, given: dict[str, object], keys: Sequence[AuditKey]) -> list[str]:
    seal = receipt.seal
    found = _signed("seal", seal.key_id, seal.signature, signed_by_seal(bytes.fromhex(seal.head)), keys)
    found += _signed("receipt", receipt.key_id, receipt.signature, signed_by_receipt(given), keys)
    valid = next((key for key in keys if key.kid == seal.key_id), None)
    if valid is not None and not _is_valid(valid, seal.at):
        found.append("The key of the seal was not valid when it was sealed.")
    return found


def _signed(
    what: str, key_id: str | None, signature: str | None, message: bytes, keys: Sequence[AuditKey]
) -> list[str]:
    if key_id is None or signature is None:
        return [f"The {what} is not signed."]
    key = next((one for one in keys if one.kid == key_id), None)
    if key is None:
        return [f"The {what} is signed by the key {key_id[:100]}, which was not given."]
    public = public_of_text(key.x)
    if key_id_of(public) != key_id or not is_signed(public, _data(signature), message):
        return [f"The signature of the {what} is wrong."]
    return []


def _is_valid(key: AuditKey, at: Moment) -> bool:
    return (key.since is None or key.since <= at) and (key.until is None or at <= key.until)


def _data(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def receipt_bytes(receipt: Receipt) -> bytes:
    """Return a receipt as it is kept in a file."""
    return canonical_json(builtins(receipt))
