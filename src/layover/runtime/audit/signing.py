"""Ed25519 keys of seals and receipts: the signing key from the secret `AUDIT_KEY`, and public keys as JWKs.

The id of a key is the thumbprint of its JWK (RFC 7638), so whoever has a public key can tell its id. The package that
signs comes with `layover[server]`, or with `layover[audit]` alone; without a signing key it is not needed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.audit_proofs import canonical_json
from layover.errors import BadUse, LayoverError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from layover.ports.secrets import Secrets

AUDIT_KEY: Final = "AUDIT_KEY"
_SEED_BYTES: Final = 32
_PUBLIC_BYTES: Final = 32
_FORM: Final = "the secret `AUDIT_KEY` is the base64 of 32 random bytes; `layover audit new-key` makes one"


class AuditSigningKey(NamedTuple):
    """A key that signs, with its id and its public half."""

    id: str
    public: bytes
    private: Ed25519PrivateKey

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        return self.private.sign(message)


async def find_signing_key(secrets: Secrets) -> AuditSigningKey | None:
    """Return the current signing key; None if there is none."""
    secret = await secrets.get(AUDIT_KEY)
    return None if secret is None else signing_key(secret.value)


def signing_key(text: str) -> AuditSigningKey:
    """Return the key with a seed in base64."""
    try:
        seed = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadUse(f"This is not a signing key: {_FORM}.", code="malformed_audit_key") from error
    if len(seed) != _SEED_BYTES:
        raise BadUse(f"This is not a signing key: {_FORM}.", code="malformed_audit_key")
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _not_installed() from error
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes_raw()
    return AuditSigningKey(key_id_of(public), public, private)


def key_id_of(public: bytes) -> str:
    """Return the id of a public key."""
    return _url_text(hashlib.sha256(canonical_json({"crv": "Ed25519", "kty": "OKP", "x": _url_text(public)})).digest())


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a signature of a message was made with the private half of a key."""
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError as error:
        raise _not_installed() from error
    if len(public) != _PUBLIC_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_text(public: bytes) -> str:
    """Return a public key as a JWK has it (`x`)."""
    return _url_text(public)


def public_of_text(text: str) -> bytes:
    """Return a public key from what a JWK has of it."""
    try:
        public = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise BadUse(f"`{text[:60]}` is not a public key: those are 32 bytes in base64url.") from error
    if len(public) != _PUBLIC_BYTES:
        raise BadUse(f"`{text[:60]}` is not a public key: those are 32 bytes in base64url.")
    return public


def _url_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _not_installed() -> LayoverError:
    return LayoverError('Signatures need a package: pip install "layover[audit]".', code="not_installed")
