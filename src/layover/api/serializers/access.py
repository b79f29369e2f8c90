"""Keys and the audit log as they cross the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.api.resources.access import AuditEntry, Key
from layover.core.moments import moment

if TYPE_CHECKING:
    from layover.ports import access, records


def key_of(row: access.Key) -> Key:
    """Return a key, without the key itself."""
    return Key(
        id=row.id,
        prefix=row.prefix,
        name=row.name,
        user=row.user,
        roles=list(row.roles),
        scopes=None if row.scopes is None else list(row.scopes),
        created_at=moment(row.created_at),
        created_by=row.created_by,
        expires_at=moment(row.expires_at),
        ended_at=moment(row.ended_at),
    )


def audit_entry_of(row: records.AuditEntry) -> AuditEntry:
    """Return what somebody did."""
    return AuditEntry(
        id=row.id,
        at=moment(row.at),
        user=row.user,
        act=row.act,
        target=row.target,
        execution_id=row.execution_id or None,
        credential=row.credential,
        request_id=row.request_id,
        details=msgspec.json.decode(row.details),
    )
