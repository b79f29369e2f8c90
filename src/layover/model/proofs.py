"""What can be proved of what was audited: receipts of decisions, and the public keys of seals and receipts."""

from __future__ import annotations

from typing import Literal

from layover.core.moments import Moment
from layover.model.shared import Resource, Value


class AuditKey(Resource, frozen=True, kw_only=True):
    """A public key of seals and receipts, as a JWK (RFC 8037); `kid` is its thumbprint (RFC 7638)."""

    kty: Literal["OKP"] = "OKP"
    crv: Literal["Ed25519"] = "Ed25519"
    kid: str
    x: str
    since: Moment | None = None  # when it first sealed; none if it has not yet
    until: Moment | None = None  # when the next key sealed; none for the newest


class AuditKeySet(Resource, frozen=True, kw_only=True):
    """The public keys that have sealed, the oldest first, and the current one: a JWK set."""

    keys: tuple[AuditKey, ...] = ()


class PathHash(Resource, frozen=True, kw_only=True):
    """The hash beside one's own on the way to the root, in hex, and on which side it stands."""

    side: Literal["left", "right"]
    hash: str


class SealHeader(Resource, frozen=True, kw_only=True):
    """A seal without its leaves; hashes in hex, the signature in base64."""

    n: int
    at: Moment
    first: int
    count: int
    root: str
    prev: str
    head: str
    key_id: str | None = None
    signature: str | None = None


class Receipt(Resource, frozen=True, kw_only=True):
    """The proof of a decision: its audit entry and salt (base64), the way to the root of its seal, and what was seen.

    The signature covers everything else. How to check it is in the reference of receipts.
    """

    entry: str
    salt: str
    path: tuple[PathHash, ...]
    seal: SealHeader
    view: Value = None
    final_at: Moment | None = None  # until when the decision could be taken back
    key_id: str | None = None
    signature: str | None = None
