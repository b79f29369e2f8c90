"""Rows to records, where every database has the columns alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.resume_waits import ResumeWait
from layover.ports.access import IdempotentReply, Key, SessionRow, WorkflowStatus
from layover.ports.records import AuditRow, DefinitionText, Entry, QueuedCommand, Signal, Version
from layover.ports.seal_records import Seal, SealKey

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    Columns: TypeAlias = Iterable[Any]  # no casts, which would be calls: a list has thousands of fields


def command_of(row: Columns) -> QueuedCommand:
    """Return a command."""
    n, at, kind, body, source, source_n = row
    return QueuedCommand(n=n, at=at, kind=kind, body=body, source=source, source_n=source_n)


def entry_of(row: Columns) -> Entry:
    """Return an entry of a log."""
    seq, at, count, body = row
    return Entry(seq=seq, at=at, count=count, events=body)


def signal_of(row: Columns) -> Signal:
    """Return a signal."""
    id_, name, key, at, data = row
    return Signal(id=id_, name=name, key=key, at=at, data=data)


def text_of(row: Columns) -> DefinitionText:
    """Return the text of a version."""
    workflow, number, media_type, body, changed_at = row
    return DefinitionText(workflow=workflow, number=number, media_type=media_type, body=body, changed_at=changed_at)


def version_of(row: Columns) -> Version:
    """Return a version of a workflow."""
    workflow, number, hash_, document, created_at = row
    return Version(workflow=workflow, number=number, hash=hash_, document=document, created_at=created_at)


def audit_of(row: Columns) -> AuditRow:
    """Return an audit entry."""
    id_, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal = row
    return AuditRow(
        id=id_,
        at=at,
        user=user,
        act=act,
        target=target,
        execution_id=execution_id or "",
        credential=credential,
        request_id=request_id,
        details=details,
        entry=entry or b"",
        salt=salt or b"",
        leaf=leaf or b"",
        document_hash=document or b"",
        seal=seal,
    )


def seal_of(row: Columns) -> Seal:
    """Return a seal."""
    n, at, first, count, leaves, root, prev, head, key_id, signature = row
    return Seal(
        n=n,
        at=at,
        first=first,
        count=count,
        leaves=leaves,
        root=root,
        prev=prev,
        head=head,
        key_id=key_id,
        signature=signature,
    )


def seal_key_of(row: Columns) -> SealKey:
    """Return the public key of seals."""
    id_, public, first_seal, since = row
    return SealKey(id=id_, public=public, first_seal=first_seal, since=since)


def key_of(row: Columns) -> Key:
    """Return an API key."""
    id_, prefix, hash_, name, user, roles, created_at, scopes, created_by, expires_at, ended_at = row
    return Key(
        id=id_,
        prefix=prefix,
        hash=hash_,
        name=name,
        user=user,
        roles=_TEXTS.decode(roles),
        created_at=created_at,
        scopes=_TEXTS.decode(scopes) if scopes is not None else None,
        created_by=created_by,
        expires_at=expires_at,
        ended_at=ended_at,
    )


def session_of(row: Columns) -> SessionRow:
    """Return a session, or a link."""
    id_, hash_, kind, user, roles, created_at, expires_at, scopes, opened_by, key_id = row
    return SessionRow(
        id=id_,
        hash=hash_,
        kind=kind,
        user=user,
        roles=_TEXTS.decode(roles),
        created_at=created_at,
        expires_at=expires_at,
        scopes=_TEXTS.decode(scopes) if scopes is not None else None,
        opened_by=opened_by,
        key_id=key_id,
    )


def session_values(row: SessionRow) -> dict[str, str | int | bytes | None]:
    """Return a session by column, in their order."""
    return {
        "id": row.id,
        "hash": row.hash,
        "kind": row.kind,
        "user": row.user,
        "roles": msgspec.json.encode(row.roles).decode(),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "scopes": msgspec.json.encode(row.scopes).decode() if row.scopes is not None else None,
        "opened_by": row.opened_by,
        "key_id": row.key_id,
    }


def reply_of(row: Columns) -> IdempotentReply:
    """Return a reply."""
    scope, key, fingerprint, until, status, body = row
    return IdempotentReply(scope=scope, key=key, fingerprint=fingerprint, until=until, status=status, body=body)


def workflow_status_of(row: Columns) -> WorkflowStatus:
    """Return the status of a workflow."""
    workflow, state, changed_at, reason, by, due_at, signal, key, filter_, resume_by, breakpoints = row
    return WorkflowStatus(
        workflow=workflow,
        state=state,
        changed_at=changed_at,
        reason=reason,
        by=by,
        due_at=due_at,
        resume_on=None if signal is None else ResumeWait(signal=signal, key=key, filter=filter_),
        resume_by=resume_by,
        breakpoints=breakpoints_of(breakpoints),
    )


def workflow_status_values(status: WorkflowStatus) -> dict[str, str | int | None]:
    """Return the status of a workflow by column, in their order."""
    on = status.resume_on
    return {
        "workflow": status.workflow,
        "state": status.state,
        "changed_at": status.changed_at,
        "reason": status.reason,
        "by": status.by,
        "due_at": status.due_at,
        "resume_signal": None if on is None else on.signal,
        "resume_key": "" if on is None else on.key,
        "resume_filter": "" if on is None else on.filter,
        "resume_by": status.resume_by,
        "breakpoints": msgspec.json.encode(status.breakpoints).decode(),
    }


def breakpoints_of(column: str) -> dict[str, str]:
    """Return the breakpoints of a workflow."""
    return _BREAKPOINTS.decode(column) if column != "{}" else {}


_BREAKPOINTS = msgspec.json.Decoder(dict[str, str])
_TEXTS = msgspec.json.Decoder(tuple[str, ...])
