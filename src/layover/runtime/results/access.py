"""Keys, sessions and the audit log as callers get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import Moment
from layover.model.access import ApiKey, AuditEntry, OpenSession

if TYPE_CHECKING:
    from layover.model.access import Caller
    from layover.ports import access, records


def key_of(row: access.Key) -> ApiKey:
    """Return a key, without the key itself."""
    return ApiKey(
        id=row.id,
        prefix=row.prefix,
        name=row.name,
        user=row.user,
        roles=row.roles,
        scopes=row.scopes,
        created_at=Moment.of(row.created_at),
        created_by=row.created_by,
        expires_at=Moment.maybe(row.expires_at),
        ended_at=Moment.maybe(row.ended_at),
    )


def session_of(row: access.SessionRow, caller: Caller) -> OpenSession:
    """Return a session, without what it is known by."""
    return OpenSession(
        id=row.id,
        user=row.user,
        roles=row.roles,
        scopes=row.scopes,
        opened_by=row.opened_by,
        created_at=Moment.of(row.created_at),
        expires_at=Moment.of(row.expires_at),
        current=caller.credential == f"session {row.id}",
    )


def audit_entry_of(row: records.AuditRow) -> AuditEntry:
    """Return an act of a user."""
    body: dict[str, object] = msgspec.json.decode(row.entry) if row.entry else {}
    return AuditEntry(
        id=row.id,
        at=Moment.of(row.at),
        user=row.user,
        act=row.act,
        target=row.target,
        execution_id=row.execution_id or None,
        credential=row.credential,
        request_id=row.request_id,
        details=msgspec.json.decode(row.details),
        address=str(body.get("address", "")),
        before=body.get("before"),
        after=body.get("after"),
        document=row.document_hash.hex() or None,
        seal=row.seal,
    )
