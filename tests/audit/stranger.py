"""A verifier of receipts as a stranger writes it from `docs/reference/receipts.md`: it imports nothing of ours."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def is_signed(keys: dict[str, Any], key_id: str, signature: str, message: bytes) -> bool:
    for key in keys["keys"]:
        if key["kid"] == key_id and key["kty"] == "OKP" and key["crv"] == "Ed25519":
            public = base64.urlsafe_b64decode(key["x"] + "=" * (-len(key["x"]) % 4))
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(signature), message)
            except InvalidSignature:
                return False
            return True
    return False


def proved(receipt: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry that a receipt proves; None if it proves nothing."""
    entry, salt, seal = base64.b64decode(receipt["entry"]), base64.b64decode(receipt["salt"]), receipt["seal"]
    node = sha256(b"\x00" + salt + entry)
    for step in receipt["path"]:
        other = bytes.fromhex(step["hash"])
        node = sha256(b"\x01" + other + node) if step["side"] == "left" else sha256(b"\x01" + node + other)
    if node.hex() != seal["root"]:
        return None
    head = sha256(
        b"layover-audit-head-v1\0"
        + bytes.fromhex(seal["prev"])
        + f"{seal['n']}\0".encode()
        + bytes.fromhex(seal["root"])
        + f"{seal['first']}\0{seal['count']}\0{seal['at']}\0".encode()
    )
    if head.hex() != seal["head"]:
        return None
    if not is_signed(keys, seal["key_id"], seal["signature"], b"layover-audit-seal-v1\0" + head):
        return None
    rest = {name: value for name, value in receipt.items() if name != "signature"}
    if not is_signed(keys, receipt["key_id"], receipt["signature"], b"layover-receipt-v1\0" + canonical(rest)):
        return None
    said: dict[str, Any] = json.loads(entry)
    if "document" in said and sha256(canonical(receipt["view"])).hex() != said["document"]:
        return None
    return said
