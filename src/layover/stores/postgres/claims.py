"""Claims and leases. A claim never waits for a lock; everything else locks heads in the order of their ids."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.ports.records import Claimed, Claims
from layover.stores.checks import at_most, check_ids
from layover.stores.postgres.queries import commands_of_executions
from layover.stores.postgres.renewals import PostgresRenewals, Times, renew_leases
from layover.stores.postgres.rows import HEAD_COLUMNS, head_of
from layover.stores.postgres.server_clock import running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, LeaseRow
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession

_NEVER = 2**63 - 1


class PostgresClaims:
    """Leases of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due, or one execution that no instance drives."""
        session = self._session
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        if session.local_instances is not None:
            await session.local_instances.look(claim.now)
        asked_at, takes_over_from = running(), self._takes_over_from(claim.lease_until - claim.now)
        lease_until, length = session.lease(claim.now, claim.lease_until)
        db, common = session.db, (claim.now, claim.instance, lease_until, length)
        if claim.execution_id is not None:
            rows = await db.fetch("claim_one", *common, claim.execution_id, takes_over_from)
        else:
            most, types = at_most(claim.most), list(claim.types)
            waiting = at_most(claim.waiting, most)
            rows = await db.fetch("claim_due", *common, most, types, waiting, takes_over_from)
        taken = [row for row in rows if row[0] is not None]
        next_due, *times = rows[0][HEAD_COLUMNS + 1 :]
        if taken and lease_until > claim.now:
            next_due = lease_until if next_due is None else min(next_due, lease_until)
        claimed = await _with_commands(db, taken)
        await self._hear(asked_at, Times(*times))
        return Claims(claimed=claimed, next_due=next_due)

    def _takes_over_from(self, lease: int) -> int:
        """Return from which time of the server's clock on leases that are over are taken.

        A clock that shows less was set back, and an instance that has claimed since then may go by its time. When the
        clock was set, leases of instances which live are over by it: they get time to renew them.
        """
        if not self._session.uses_server_clock:
            return 0  # no instance uses the server's clock, so it may jump
        clock = self._session.server_clock
        return _NEVER if clock.has_stepped(lease) else clock.least()

    async def _hear(self, asked_at: int, times: Times) -> None:
        """Take over the times that a reply has brought along; what is new about them is for the others, too.

        They have it with their next claims and renewals. If they cannot be told now, they are with the next heartbeat.
        """
        clock = self._session.server_clock
        stepped_at = clock.stepped_at
        clock.hear(asked_at, times.server_time)
        if times.latest is not None:
            clock.keep_up(times.latest)
        if clock.stepped_at != stepped_at:
            with suppress(StoreError):  # what the reply was about is done
                await self._session.db.fetchval("heartbeat", self._session.instance, clock.now())

    async def renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        """Renew leases."""
        session = self._session
        check_ids(lease.execution_id for lease in leases)
        asked_at = running()
        length = until - session.server_clock.now() if session.uses_server_clock else None
        found = await renew_leases(session.db, instance, leases, until, length)
        if found.times is not None:
            await self._hear(asked_at, found.times)
        return found.lost

    def renewals(self) -> PostgresRenewals:
        """Return a way to renew from another thread, over a connection of its own."""
        session = self._session
        return PostgresRenewals(session.address, session.server_clock.now if session.uses_server_clock else None)

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
        ids, epochs = [lease.execution_id for lease in leases], [lease.epoch for lease in leases]
        takeovers, types = [lease.takeovers for lease in leases], list(missing) or None
        await self._session.db.fetch("release_leases", instance, ids, epochs, wake_at, types, held_at, takeovers)


async def _with_commands(db: StatementRunner, taken: list[Row]) -> tuple[Claimed, ...]:
    """Return claimed executions with their unread commands, which the claiming statement itself may not see."""
    heads = [head_of(row[:HEAD_COLUMNS]) for row in taken]
    behind = [head for head in heads if head.commands_seq > head.commands_done]
    ids, done = [head.execution_id for head in behind], [head.commands_done for head in behind]
    commands = await commands_of_executions(db, ids, done) if behind else {}
    return tuple(
        Claimed(head=head, commands=tuple(commands.get(head.execution_id, ())), taken_over=row[HEAD_COLUMNS])
        for head, row in zip(heads, taken, strict=True)
    )
