"""How an act is written down: one encoding of its entry, kept byte for byte, and the leaf that a seal holds of it.

The leaf is a hash of a salt and the entry. So a seal proves an entry without telling it, and whoever erases entry and
salt of a person leaves a leaf from which nothing can be guessed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.audit_proofs import leaf_of
from layover.core.moments import moment
from layover.ports.records import AuditRow

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINE: Final = "engine"  # the user of acts that no user has done: those of a program, and of deadlines
PURGED: Final = "audit.purge"  # the act of retention, which says up to which seal entries are deleted
SALT_BYTES: Final = 16
_sorted = msgspec.json.Encoder(order="sorted").encode


class EntryBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry as it is sealed and proved: JSON with sorted keys and no blanks; a field that says nothing is left out.

    `credential` says how the user was identified, `address` from where they came, and `document` what they saw, by its
    hash.
    """

    id: str
    at: str
    user: str
    act: str
    target: str = ""
    execution_id: str = ""
    credential: str = ""
    address: str = ""
    request_id: str = ""
    details: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    before: msgspec.Raw | None = None
    after: msgspec.Raw | None = None
    document: str = ""


def audit_row(  # noqa: PLR0913 - each is named where it is given
    *,
    id: str,  # noqa: A002 - as the row has it
    at: int,
    user: str,
    act: str,
    salt: bytes,
    target: str = "",
    execution_id: str = "",
    credential: str = "",
    address: str = "",
    request_id: str = "",
    details: Mapping[str, object] | None = None,
    before: object = None,
    after: object = None,
    document: bytes | None = None,
) -> AuditRow:
    """Return the row of an act, ready to be sealed; `document` is what the user saw, and is stored with it."""
    told = _sorted(details or {})
    seen = hashlib.sha256(document).digest() if document is not None else b""
    entry = _sorted(
        EntryBody(
            id=id,
            at=moment(at),
            user=user,
            act=act,
            target=target,
            execution_id=execution_id,
            credential=credential,
            address=address,
            request_id=request_id,
            details=msgspec.Raw(told) if details else msgspec.UNSET,
            before=None if before is None else msgspec.Raw(_sorted(before)),
            after=None if after is None else msgspec.Raw(_sorted(after)),
            document=seen.hex(),
        )
    )
    return AuditRow(
        id=id,
        at=at,
        user=user,
        act=act,
        target=target,
        execution_id=execution_id,
        credential=credential,
        request_id=request_id,
        details=told,
        entry=entry,
        salt=salt,
        leaf=leaf_of(salt, entry),
        document_hash=seen,
        document=document,
    )


def completed(row: AuditRow, salt: bytes) -> AuditRow:
    """Return a row with its entry and leaf; one that an earlier release wrote gets them when it is sealed."""
    if row.leaf:
        return row
    details: Any = msgspec.json.decode(row.details)
    return audit_row(
        id=row.id,
        at=row.at,
        user=row.user,
        act=row.act,
        salt=salt,
        target=row.target,
        execution_id=row.execution_id,
        credential=row.credential,
        request_id=row.request_id,
        details=details,
    )
