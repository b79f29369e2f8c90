"""Who may use an engine from outside, what they did, and what they were told: rows beside the run plane.

An audit entry is written in the transaction of the act that it tells of, so there is no act without its entry and no
entry without its act. What was only repeated is no act.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from layover.ports.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditEntry

# Audit


class AuditFilter(Record, frozen=True, kw_only=True):
    """Which entries to list, newest first; `after` is the cursor of the last one seen: its moment and id."""

    user: str | None = None
    act: str | None = None
    target: str | None = None
    execution_id: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class Audit(Protocol):
    """What was done."""

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List entries, newest first."""

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete entries from before a moment; return how many."""


# Keys


class Key(Record, frozen=True, kw_only=True):
    """A key that somebody uses the API with; only its hash is kept, and its first characters, to tell it from others.

    It has the permissions of its roles, or (`scopes`) only those of them that it names. It ends at a moment, or when
    somebody ends it.
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


class Keys(Protocol):
    """Keys, by id and by hash."""

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Keep a key."""

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Keep a key in the place of another, which ends at a moment; false if that has ended, or is not there."""

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End a key; false if it has ended, or is not there."""

    async def key(self, hash_: bytes) -> Key | None:
        """Find a key by its hash, be it ended."""

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List keys in the order of their ids, beginning after one; all come after ``""``."""


# Replies


class Reply(Record, frozen=True, kw_only=True):
    """What a request with an idempotency key was answered; with status 0 it is still being worked at, `until` then.

    `fingerprint` tells whether another request with this key asks for the same.
    """

    scope: str
    key: str
    fingerprint: bytes
    until: int
    status: int = 0
    body: bytes = b""


class Replies(Protocol):
    """What was answered to requests that may come again."""

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Note that a request is being worked at; return what is known of one with the same scope and key instead.

        One that ought to have been answered by now, and asks for the same, has died: its place is taken.
        """

    async def end_reply(self, reply: Reply) -> None:
        """Keep what was answered, until then."""

    async def drop_reply(self, scope: str, key: str) -> None:
        """Forget that a request was worked at: it came to nothing."""

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete what is no longer kept; return how many."""


# Workflows

WorkflowState = Literal["active", "inactive", "paused", "deleted"]


class Standing(Record, frozen=True, kw_only=True):
    """Whether a workflow may be started: one that nothing is noted of is active."""

    workflow: str
    state: WorkflowState
    changed_at: int
    reason: str = ""
    by: str = ""


class Standings(Protocol):
    """Which workflows may be started."""

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Note how a workflow stands."""

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read how workflows stand, in the order of their names: those that something is noted of."""


class Access(Audit, Keys, Replies, Standings, Protocol):
    """All of it."""
