"""Claims and leases. A claim never waits for a lock; everything else locks heads in the order of their ids."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from layover.ports.records import Claimed, Claims
from layover.stores.checks import at_most
from layover.stores.postgres.queries import commands_of_executions
from layover.stores.postgres.rows import HEAD_COLUMNS, head_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, Lease
    from layover.stores.postgres.database import Row, StatementRunner

# A locked head is about to move. A moment later it can be renewed without waiting for the lock.
_TRIES = 3
_BETWEEN_TRIES = 0.02


class Times(NamedTuple):
    """The time of the server's clock, and the latest that any instance has said."""

    server_time: int
    latest: int | None


class Found(NamedTuple):
    """The claims, and the times that came along."""

    claims: Claims
    times: Times


class Renewed(NamedTuple):
    """The executions that were lost, and the times that came along, if the server was asked."""

    lost: list[str]
    times: Times | None


async def claim(db: StatementRunner, wish: Claim, takes_over_from: int = 0) -> Found:
    """Claim executions that are due, or one execution that no instance drives.

    An expired lease is only taken over while the clock of the server shows at least `takes_over_from`: a clock that
    shows less was set back, and an instance that has claimed since then may go by its time.
    """
    common = (wish.now, wish.instance, wish.lease_until)
    if wish.execution_id is not None:
        rows = await db.fetch("claim_one", *common, wish.execution_id, takes_over_from)
    else:
        most, types = at_most(wish.most), list(wish.types)
        waiting = at_most(wish.waiting, most)
        rows = await db.fetch("claim_due", *common, most, types, waiting, takes_over_from)
    taken = [row for row in rows if row[0] is not None]
    next_due, *times = rows[0][HEAD_COLUMNS + 1 :]
    if taken and wish.lease_until > wish.now:
        next_due = wish.lease_until if next_due is None else min(next_due, wish.lease_until)
    return Found(Claims(claimed=await _with_commands(db, taken), next_due=next_due), Times(*times))


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


async def renew(
    db: StatementRunner, instance: str, leases: Sequence[Lease], until: int, length: int | None = None
) -> Renewed:
    """Renew leases until a moment, and for at least some time by the latest time that an instance has."""
    left = list(dict.fromkeys((lease.execution_id, lease.epoch) for lease in leases))
    lost, times = set[tuple[str, int]](), None
    for tries in range(_TRIES + 1):
        if not left:
            break
        if tries:
            await asyncio.sleep(_BETWEEN_TRIES)
        statement = "renew_leases" if tries < _TRIES else "renew_leases_waiting"
        ids, epochs = [id_ for id_, _ in left], [epoch for _, epoch in left]
        rows = await db.fetch(statement, instance, ids, epochs, until, length)
        times = Times(*rows[0][3:])
        left = [(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and busy]
        lost |= {(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and not busy}
    return Renewed([lease.execution_id for lease in leases if (lease.execution_id, lease.epoch) in lost], times)


async def release(
    db: StatementRunner,
    instance: str,
    leases: Sequence[Lease],
    wake_at: int | None,
    missing: tuple[str, ...],
    held_at: int | None,
) -> None:
    """Release leases."""
    ids, epochs = [lease.execution_id for lease in leases], [lease.epoch for lease in leases]
    takeovers = [lease.takeovers for lease in leases]
    await db.fetch("release_leases", instance, ids, epochs, wake_at, list(missing) or None, held_at, takeovers)
