"""API access: the audit, the keys, the sessions, the replies to repeated requests, and the status of workflows.

An audit entry is written in the transaction of the act that it describes, so there is no act without its entry and no
entry without its act. A repeated request is not an act.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from layover.core.resume_waits import NO_END, PauseEnd, ResumeWait
from layover.model.workflows import WorkflowState
from layover.ports.records import StoreRecord

# Audit


class AuditFilter(StoreRecord, frozen=True, kw_only=True):
    """The entries to list, newest first; `after` is the cursor of the last one seen: its moment and id.

    `to_no_execution` are acts on a `target` that is none, such as a delivery: they are sought by that target.
    """

    user: str | None = None
    act: str | None = None
    target: str | None = None
    execution_id: str | None = None
    to_no_execution: bool = False
    after: tuple[int, str] | None = None
    limit: int = 100


# Keys


class Key(StoreRecord, frozen=True, kw_only=True):
    """An API key; only its hash is stored, and its first characters, by which people recognise it.

    It has the permissions of its roles, or (`scopes`) only some of them. It is valid until a moment, or until it is
    revoked.
    """

    id: str
    prefix: str
    hash: bytes
    name: str
    user: str
    roles: tuple[str, ...]
    created_at: int
    scopes: tuple[str, ...] | None = None
    created_by: str = ""
    expires_at: int | None = None
    ended_at: int | None = None


# Sessions

SessionKind: TypeAlias = Literal["session", "link"]


class SessionRow(StoreRecord, frozen=True, kw_only=True):
    """A browser that has signed in as a user; or a link that signs one in, once. Only the hash of its token is stored.

    It ends at a moment, when its user signs out, and with the key (`key_id`) that it was opened with.
    """

    id: str
    hash: bytes
    kind: SessionKind
    user: str
    roles: tuple[str, ...]
    created_at: int
    expires_at: int
    scopes: tuple[str, ...] | None = None
    opened_by: str = ""  # the credential that it was opened with, such as `key <id>`
    key_id: str = ""


# Replies


class IdempotentReply(StoreRecord, frozen=True, kw_only=True):
    """The response to a request with an idempotency key; with status 0 the request is in progress `until` a moment.

    `fingerprint` shows whether another request with this key is the same request.
    """

    scope: str
    key: str
    fingerprint: bytes
    until: int
    status: int = 0
    body: bytes = b""


# Workflows


class NewLink(StoreRecord, frozen=True, kw_only=True):
    """A link to a pause point for one user; only the hash of its token is stored."""

    hash: bytes
    point: str
    user: str
    made_at: int
    expires_at: int | None = None


class LinkRow(StoreRecord, frozen=True, kw_only=True):
    """A link to a pause point, of which only the hash is known."""

    hash: bytes
    execution_id: str
    point: str
    user: str
    made_at: int
    expires_at: int | None = None
    revoked_at: int | None = None


class WorkflowStatus(StoreRecord, frozen=True, kw_only=True):
    """Whether a workflow may be started; a workflow without a stored status is active.

    At `due_at` an instance has to act: a paused workflow goes on then, and of any other one the executions that its
    pause has held may not all have been resumed yet.
    """

    workflow: str
    state: WorkflowState
    changed_at: int
    reason: str = ""
    by: str = ""
    due_at: int | None = None
    resume_on: ResumeWait | None = None  # the signal that ends a pause
    resume_by: str = ""  # who has set the end of a pause
    breakpoints: dict[str, str] = msgspec.field(default_factory=dict)  # reasons, by the node before which they pause

    @property
    def end(self) -> PauseEnd:
        """When the pause ends by itself."""
        return PauseEnd(self.due_at, self.resume_on) if self.state == "paused" else NO_END


class ViewRow(StoreRecord, frozen=True, kw_only=True):
    """A filter that a user keeps under a name; `body` is JSON."""

    user: str
    name: str
    body: bytes
    changed_at: int


class UserSettingsRow(StoreRecord, frozen=True, kw_only=True):
    """What a user has set for themselves; `body` is JSON."""

    user: str
    body: bytes
    changed_at: int
