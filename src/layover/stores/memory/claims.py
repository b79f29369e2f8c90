"""Claims and leases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import Claimed, Claims
from layover.stores.checks import at_most, check_ids
from layover.stores.leases import lasting
from layover.stores.memory.appends import released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, Head, LeaseRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryClaims:
    """Leases in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due."""
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        return claim_executions(await self._session.turn(), claim)

    async def renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        """Renew leases."""
        check_ids(lease.execution_id for lease in leases)
        return renew(await self._session.turn(), instance, leases, until)

    def renewals(self) -> None:
        """Return nothing: no other process can take over an execution."""

    async def release(
        self,
        instance: str,
        leases: Sequence[LeaseRow],
        wake_at: int | None,
        missing: tuple[str, ...] = (),
        held_at: int | None = None,
    ) -> None:
        """Release leases."""
        check_ids(lease.execution_id for lease in leases)
        release(await self._session.turn(), instance, leases, wake_at, missing, held_at)


def claim_executions(db: MemoryDatabase, claim: Claim) -> Claims:
    """Claim executions that are due, or one execution that no instance drives."""
    claim = lasting(claim, db.clock())
    claimed = tuple(_take(db, head, claim) for head in _claimable_heads(db, claim))
    later = [head.wake_at for head in db.heads.values() if head.wake_at is not None and head.wake_at > claim.now]
    return Claims(claimed=claimed, next_due=min(later, default=None))


def _claimable_heads(db: MemoryDatabase, claim: Claim) -> list[Head]:
    if claim.execution_id is not None:
        one = db.heads.get(claim.execution_id)
        return [one] if one is not None and (one.owner is None or _is_due(one, claim.now)) else []
    most = at_most(claim.most)
    due = sorted((head for head in db.heads.values() if _is_due(head, claim.now)), key=_by_age)
    # Of those that have waited longest, a point of priority is worth a second: so nothing waits forever.
    urgent = sorted(due[: 4 * most], key=_by_urgency)
    startable = sorted((head for head in db.heads.values() if _is_startable(head, claim)), key=_by_wait)
    return [*urgent, *startable[: at_most(claim.waiting, most)]][:most]


def _is_due(head: Head, now: int) -> bool:
    return head.wake_at is not None and head.wake_at <= now


def _by_age(head: Head) -> tuple[int, str]:
    return head.wake_at or 0, head.execution_id


def _by_urgency(head: Head) -> tuple[int, str]:
    return (head.wake_at or 0) - 1000 * head.priority, head.execution_id


def _is_startable(head: Head, claim: Claim) -> bool:
    """Return whether an execution waits for a function that the instance has."""
    return head.owner is None and not claim.types.isdisjoint(head.missing) and not _is_due(head, claim.now)


def _by_wait(head: Head) -> tuple[int, str]:
    return -1 if head.missing_since is None else head.missing_since, head.execution_id


def _take(db: MemoryDatabase, was: Head, claim: Claim) -> Claimed:
    taken_over = was.owner is not None
    head = replace(
        was,
        owner=claim.instance,
        epoch=was.epoch + 1,
        wake_at=claim.lease_until,
        takeovers=was.takeovers + taken_over,
    )
    db.heads[head.execution_id] = head
    unread = tuple(command for command in db.commands[head.execution_id] if command.n > head.commands_done)
    return Claimed(head=head, commands=unread, taken_over=taken_over)


def renew(db: MemoryDatabase, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
    """Renew leases; return the executions that were lost. A renewal that a later one has overtaken shortens nothing."""
    for lease in leases:
        if _is_driven(db, instance, lease):
            head = db.heads[lease.execution_id]
            db.heads[lease.execution_id] = replace(head, wake_at=max(head.wake_at or 0, until))
    return [lease.execution_id for lease in leases if not _is_driven(db, instance, lease)]


def release(
    db: MemoryDatabase,
    instance: str,
    leases: Sequence[LeaseRow],
    wake_at: int | None,
    missing: tuple[str, ...],
    held_at: int | None,
) -> None:
    """Release leases. Unread commands make an execution due, unless it is held back."""
    for lease in leases:
        if _is_driven(db, instance, lease):
            head = db.heads[lease.execution_id]
            has_unread = head.commands_seq > head.commands_done
            is_due = has_unread and held_at is None
            head = replace(head, wake_at=0 if is_due else wake_at, takeovers=lease.takeovers)
            db.heads[lease.execution_id] = released(head, missing, wake_at if held_at is None else held_at)


def _is_driven(db: MemoryDatabase, instance: str, lease: LeaseRow) -> bool:
    head = db.heads.get(lease.execution_id)
    return head is not None and (head.owner, head.epoch) == (instance, lease.epoch)


def expire_leases(db: MemoryDatabase, instance: str, now: int) -> None:
    """Expire the leases of an instance that is known to be dead."""
    for id_, head in db.heads.items():
        if head.owner == instance and head.wake_at is not None and head.wake_at > now:
            db.heads[id_] = replace(head, wake_at=now)
