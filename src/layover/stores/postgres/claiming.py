"""Who drives what, and until when. A claim never waits for anybody; everything else locks heads by their ids."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from layover.ports.records import Claimed, Claims
from layover.stores.checks import at_most
from layover.stores.postgres.reading import commands_of_many
from layover.stores.postgres.rows import HEAD_COLUMNS, head_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, Lease
    from layover.stores.postgres.database import Row, Runs

# A head that somebody else has locked is about to move: a moment later it can be renewed without waiting.
_TRIES = 3
_BETWEEN_TRIES = 0.02


class Times(NamedTuple):
    """The time of the server's clock, and the latest that any instance has said."""

    server_time: int
    latest: int | None


class Found(NamedTuple):
    """What was claimed, and the times that came along."""

    claims: Claims
    times: Times


class Renewed(NamedTuple):
    """What was lost, and the times that came along, if anything was asked."""

    lost: list[str]
    times: Times | None


async def claim(db: Runs, wish: Claim, takes_over_from: int = 0) -> Found:
    """Take what is due, or one execution that nobody drives; leases that are over while the server's clock is so late.

    A clock that shows less was set back: whoever has taken something since then may have its time.
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


async def _with_commands(db: Runs, taken: list[Row]) -> tuple[Claimed, ...]:
    """Return what was claimed with the commands that each has not read; they cannot be seen by who takes the lock."""
    heads = [head_of(row[:HEAD_COLUMNS]) for row in taken]
    behind = [head for head in heads if head.commands_seq > head.commands_done]
    ids, done = [head.execution_id for head in behind], [head.commands_done for head in behind]
    commands = await commands_of_many(db, ids, done) if behind else {}
    return tuple(
        Claimed(head=head, commands=tuple(commands.get(head.execution_id, ())), taken_over=row[HEAD_COLUMNS])
        for head, row in zip(heads, taken, strict=True)
    )


async def renew(db: Runs, instance: str, leases: Sequence[Lease], until: int, length: int | None = None) -> Renewed:
    """Keep what is driven: until a moment, and for at least some time by the latest time that anybody has."""
    left = list(dict.fromkeys((lease.execution_id, lease.epoch) for lease in leases))
    lost, times = set[tuple[str, int]](), None
    for tries in range(_TRIES + 1):
        if not left:
            break
        if tries:
            await asyncio.sleep(_BETWEEN_TRIES)
        statement = "renew" if tries < _TRIES else "renew_waiting"
        ids, epochs = [id_ for id_, _ in left], [epoch for _, epoch in left]
        rows = await db.fetch(statement, instance, ids, epochs, until, length)
        times = Times(*rows[0][3:])
        left = [(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and busy]
        lost |= {(id_, epoch) for id_, epoch, busy, *_ in rows if id_ is not None and not busy}
    return Renewed([lease.execution_id for lease in leases if (lease.execution_id, lease.epoch) in lost], times)


async def release(
    db: Runs,
    instance: str,
    leases: Sequence[Lease],
    wake_at: int | None,
    missing: tuple[str, ...],
    held_at: int | None,
) -> None:
    """Give back what is driven."""
    ids, epochs = [lease.execution_id for lease in leases], [lease.epoch for lease in leases]
    takeovers = [lease.takeovers for lease in leases]
    await db.fetch("release", instance, ids, epochs, wake_at, list(missing) or None, held_at, takeovers)
