"""Claims and leases. Runs on the writer's connection, inside its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.ports.records import Claimed, Claims
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key
from layover.stores.leases import lasting
from layover.stores.sqlite.appends import encode_types
from layover.stores.sqlite.queries import commands_after, head_by_id
from layover.stores.sqlite.renewals import SqliteRenewals, renew
from layover.stores.sqlite.rows import head_of, missing_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from layover.ports.records import Claim, Head, LeaseRow
    from layover.stores.sqlite.instances import SqliteInstances
    from layover.stores.sqlite.session import SqliteSession


class SqliteClaims:
    """Leases of a file."""

    def __init__(self, session: SqliteSession, instances: SqliteInstances, clock: Callable[[], int]) -> None:
        self._session = session
        self._instances = instances
        self._clock = clock

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due. Those of a dead instance are due at once."""
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        await self._instances.expire_dead(claim.now)
        taken = await self._session.write(
            lambda db: claim_executions(db, lasting(claim, self._clock()), self._instances.is_leased)
        )
        self._instances.note(claim.lease_until)
        return taken

    async def renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        """Renew leases."""
        check_ids(lease.execution_id for lease in leases)
        lost = await self._session.write(lambda db: renew(db, instance, leases, until))
        self._instances.note(until)
        return lost

    def renewals(self) -> SqliteRenewals:
        """Return a way to renew leases from another thread, through the writer."""
        return SqliteRenewals(self._session.writer, self._instances.note)

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
        await self._session.write(lambda db: release(db, instance, leases, wake_at, missing, held_at))


def claim_executions(db: apsw.Connection, claim: Claim, is_leased: Callable[[str], bool]) -> Claims:
    """Claim executions that are due, or one that no instance drives; an instance with valid leases keeps its own."""
    if claim.execution_id is None:
        most = at_most(claim.most)
        found = [head_of(row) for row in db.execute(SQL["due_heads"], {"now": claim.now, "most": most})]
        if claim.types and len(found) < most:
            found += _startable(db, claim, min(most - len(found), at_most(claim.waiting, most)))
    else:
        head = head_by_id(db, key(claim.execution_id))
        found = [head] if head is not None and (head.owner is None or _is_due(head, claim.now)) else []
    owners = {head.owner for head in found if head.owner is not None}
    if owners:
        alive = set(filter(is_leased, owners))
        found = [head for head in found if head.owner not in alive]
    taken = [(claim.instance, claim.lease_until, head.owner is not None, key(head.execution_id)) for head in found]
    db.executemany(SQL["claim_heads"], taken)
    return Claims(
        claimed=tuple(_claimed(db, head, claim) for head in found),
        next_due=db.execute(SQL["next_due_at"], {"now": claim.now}).get,
    )


def _startable(db: apsw.Connection, claim: Claim, most: int) -> list[Head]:
    """Find executions that wait for a function that the instance has, the longest waiting first.

    Many of them wait for the same types, so the types are found first, each once.
    """
    kinds = [kept for (kept,) in db.execute(SQL["awaited_functions"]) if not claim.types.isdisjoint(missing_of(kept))]
    found: list[Head] = []
    for kept in kinds:
        rows = db.execute(SQL["heads_awaiting_functions"], {"missing": kept, "now": claim.now, "most": most})
        found += [head_of(row) for row in rows]
    return sorted(found, key=_by_wait)[:most]


def _by_wait(head: Head) -> tuple[int, str]:
    return -1 if head.missing_since is None else head.missing_since, head.execution_id


def _is_due(head: Head, now: int) -> bool:
    return head.wake_at is not None and head.wake_at <= now


def _claimed(db: apsw.Connection, was: Head, claim: Claim) -> Claimed:
    taken_over = was.owner is not None
    head = msgspec.structs.replace(
        was,
        owner=claim.instance,
        epoch=was.epoch + 1,
        wake_at=claim.lease_until,
        takeovers=was.takeovers + taken_over,
    )
    unread = was.commands_seq > was.commands_done
    commands = commands_after(db, key(was.execution_id), was.commands_done) if unread else ()
    return Claimed(head=head, commands=tuple(commands), taken_over=taken_over)


def release(
    db: apsw.Connection,
    instance: str,
    leases: Sequence[LeaseRow],
    wake_at: int | None,
    missing: tuple[str, ...],
    held_at: int | None,
) -> None:
    """Release leases."""
    common = {"owner": instance, "wake_at": wake_at, "missing": encode_types(missing), "held_at": held_at}
    values = [
        {"id": key(lease.execution_id), "epoch": lease.epoch, "takeovers": lease.takeovers, **common}
        for lease in leases
    ]
    db.executemany(SQL["release_leases"], values)


def expire_leases(db: apsw.Connection, instances: Sequence[str], now: int) -> None:
    """Expire the leases of instances that are known to be dead."""
    db.executemany(SQL["expire_leases"], [{"owner": instance, "now": now} for instance in instances])
