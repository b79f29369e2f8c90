"""Admission of executions under limits.

A limit is read and changed under the lock of its name, held until the end of the transaction. Locks are taken in one
order: the execution, the name of its slots, the names of rates in alphabetical order, then heads, by one `enqueue`.
Places are written after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from layover.ports.limit_records import Admission
from layover.ports.records import CLOSED, Enqueued
from layover.stores.checks import check_ids
from layover.stores.limits import (
    MOST_HOLDERS,
    admission_of,
    admission_row,
    admit_command,
    advanced,
    cancel_command,
    check_request,
)
from layover.stores.postgres.commands import enqueue, until_seen
from layover.stores.postgres.rows import place_of_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.ports.limit_records import AdmissionRequest, AdmissionRow
    from layover.stores.postgres.database import StatementRunner
    from layover.stores.postgres.session import PostgresSession

_AT_ONCE = 10  # places of a queue to read at once: usually one gets the slot that was released
_FRONT = (-(2**63), "00000000-0000-0000-0000-000000000000")  # before the whole queue


class PostgresLimits:
    """Slots and rates of a schema, and the queues for them."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def admit(self, request: AdmissionRequest, now: int) -> Admission:
        """Admit an execution if its limits allow it, or give it a place in the queue."""
        check_ids([request.execution_id])
        check_request(request)
        db, names = self._session.db, _names(admission_row(request, now))

        async def work(tx: StatementRunner) -> Admission | _Names:
            return await _admit(tx, request, names, now)

        while isinstance(result := await until_seen(lambda: db.transact(work)), _Names):
            names = result  # it has a place from an earlier request, under other names
        return result

    async def release_slot(self, execution_id: str, now: int) -> list[str]:
        """Release a slot or a place in the queue; return the executions that are admitted now."""
        check_ids([execution_id])
        db = self._session.db

        async def work(tx: StatementRunner) -> list[str]:
            return await _release_slot(tx, execution_id, now)

        return await until_seen(lambda: db.transact(work))

    async def delete_unused_rates(self, now: int) -> int:
        """Delete the rows of rates that are not used any more: a rate without a row counts as unused."""
        return len(await self._session.db.fetch("delete_unused_rates", now * 1000))

    async def find_admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return await admission(self._session.db, execution_id)


class _Names(NamedTuple):
    """The names of the limits of a place."""

    slots: str | None
    rate: str | None


async def _admit(tx: StatementRunner, request: AdmissionRequest, names: _Names, now: int) -> Admission | _Names:
    """Admit under the locks of some names; if the place has other names, do nothing and return those."""
    await _lock(tx, f"execution:{request.execution_id}", *_locks(names))
    row = await tx.fetchrow("limits_of_execution", request.execution_id, names.slots, names.rate)
    if row is None or row[0] in CLOSED:
        return Admission(state="rejected")
    _, held, used_until, *kept = row
    was = place_of_row(kept) if kept[0] is not None else None
    place = was if was is not None else admission_row(request, now)
    if _names(place) != names:
        return _names(place)
    has_room, slots = _has_room(place, held), request.slots
    if was is None and slots is not None and not has_room:
        if slots.on_conflict == "reject":
            holders = await _holders(tx, slots.name, MOST_HOLDERS)
            return Admission(state="rejected", name=slots.name, holders=tuple(holders))
        if slots.on_conflict == "cancel_running":
            others = [*await _holders(tx, slots.name, None), *await _queue(tx, slots.name)]
            await enqueue(tx, [cancel_command(other, request.execution_id) for other in others], now)
    used = {names.rate: used_until} if names.rate is not None and used_until is not None else {}
    spent = dict(used)
    if not place.admitted and (has_room or not place.is_in_line):
        place = advanced(place, spent, now)
    if place != was and not await _admit_and_save(tx, [place], now):
        return Admission(state="rejected")
    await _save_rates(tx, dict(spent.items() - used.items()))
    return await admission(tx, request.execution_id) or Admission(state="rejected")


async def _admit_and_save(tx: StatementRunner, places: Sequence[AdmissionRow], now: int) -> list[AdmissionRow]:
    """Send commands to the executions that are admitted, and write the places; return those that were written.

    An execution that was closed at this moment is left as it was: its place is released by the instance that closed it.
    """
    admitted = [place.execution_id for place in places if place.admitted]
    taken = await enqueue(tx, [admit_command(id_) for id_ in admitted], now)
    closed = {id_ for id_, answer in zip(admitted, taken, strict=True) if not isinstance(answer, Enqueued)}
    kept = [place for place in places if place.execution_id not in closed]
    await save_places(tx, kept)
    return kept


async def _release_slot(tx: StatementRunner, execution_id: str, now: int) -> list[str]:
    # A place that is being requested is not visible yet: without this lock it would be missed.
    await _lock(tx, f"execution:{execution_id}")
    name: str | None = await tx.fetchval("slots_of_execution", execution_id)
    await _lock(tx, *_locks(_Names(name, None)))
    held: int | None = await tx.fetchval("count_other_slot_holders", execution_id)
    if held is None:
        return []
    following, leaving = await _following(tx, name, held, execution_id) if name is not None else ([], [])
    rates = sorted({place.rate.name for place in following if place.rate is not None})
    await _lock(tx, *(f"rate:{rate}" for rate in rates))
    used = {row["name"]: row["used_until"] for row in await tx.fetch("rates_by_name", rates)} if rates else {}
    moved = await _admit_and_save(tx, [advanced(place, used, now) for place in following], now)
    await tx.fetch("delete_places", [execution_id, *leaving])
    await _save_rates(tx, used)
    await _make_messages_due_sooner(tx, moved, now)
    return [place.execution_id for place in moved if place.admitted]


async def _following(tx: StatementRunner, name: str, held: int, leaver: str) -> tuple[list[AdmissionRow], list[str]]:
    """Return the places in the queue that there is room for, and those whose executions have ended meanwhile."""
    following: list[AdmissionRow] = []
    ended: list[str] = []
    after, is_end = _FRONT, False
    while not is_end:
        rows = await tx.fetch("next_in_queue", name, *after, _AT_ONCE)
        is_end = len(rows) < _AT_ONCE
        for is_open, *kept in rows:
            place = place_of_row(kept)
            after = (place.rank, place.execution_id)
            if place.execution_id == leaver:
                continue
            if not is_open:
                ended.append(place.execution_id)
            elif _has_room(place, held + len(following)):
                following.append(place)
            else:
                is_end = True
                break
    return following, ended


async def _make_messages_due_sooner(tx: StatementRunner, places: Sequence[AdmissionRow], now: int) -> None:
    """Make the messages of executions to themselves due when they may start."""
    if places:
        moments = [max(now, place.start_at or now) for place in places]
        await tx.fetch("make_messages_due_sooner", [place.execution_id for place in places], moments)


async def admission(db: StatementRunner, execution_id: str) -> Admission | None:
    """Return the admission of an execution, if it is under limits."""
    row = await db.fetchrow("admission_of_execution", execution_id, MOST_HOLDERS)
    if row is None:
        return None
    *kept, ahead, holders = row
    return admission_of(place_of_row(kept), ahead + 1, holders)


def _has_room(place: AdmissionRow, held: int) -> bool:
    return place.most is not None and held < place.most


def _names(place: AdmissionRow) -> _Names:
    return _Names(place.name, place.rate.name if place.rate is not None else None)


def _locks(names: _Names) -> list[str]:
    slots = [f"slots:{names.slots}"] if names.slots is not None else []
    return [*slots, f"rate:{names.rate}"] if names.rate is not None else slots


async def _lock(tx: StatementRunner, *names: str) -> None:
    if names:
        await tx.fetch("lock_limits", names)


async def _holders(tx: StatementRunner, name: str, most: int | None) -> list[str]:
    return [id_ for (id_,) in await tx.fetch("slot_holders", name, most)]


async def _queue(tx: StatementRunner, name: str) -> list[str]:
    return [id_ for (id_,) in await tx.fetch("queue_for_slots", name)]


async def _save_rates(tx: StatementRunner, used: Mapping[str, int]) -> None:
    if used:
        await tx.fetch("save_rates", list(used), list(used.values()))


async def save_places(tx: StatementRunner, places: Sequence[AdmissionRow]) -> None:
    """Store the places of executions."""
    if not places:
        return
    rates = [place.rate for place in places]
    await tx.fetch(
        "save_places",
        [place.execution_id for place in places],
        [place.name for place in places],
        [place.most for place in places],
        [place.rank for place in places],
        [place.held_at for place in places],
        [rate.name if rate is not None else None for rate in rates],
        [rate.limit if rate is not None else None for rate in rates],
        [rate.per_ms if rate is not None else None for rate in rates],
        [place.start_at for place in places],
        [place.admitted for place in places],
    )
