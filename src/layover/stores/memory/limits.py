"""Admission of executions under limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.limit_records import Admission
from layover.ports.records import CLOSED
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
from layover.stores.memory import commands
from layover.stores.memory.outbox import make_messages_due_sooner

if TYPE_CHECKING:
    from layover.ports.limit_records import AdmissionRequest, AdmissionRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryLimits:
    """Slots and rates in memory, and the queues for them."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def admit(self, request: AdmissionRequest, now: int) -> Admission:
        """Admit an execution, or give it a place in the queue."""
        check_ids([request.execution_id])
        check_request(request)
        return admit(await self._session.turn(), request, now)

    async def release_slot(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue."""
        check_ids([execution_id])
        return release_slot(await self._session.turn(), execution_id, now)

    async def delete_unused_rates(self, now: int) -> int:
        """Delete rates that are not used."""
        return delete_unused_rates(await self._session.turn(), now)

    async def find_admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return admission(await self._session.turn(), execution_id)


def admit(db: MemoryDatabase, request: AdmissionRequest, now: int) -> Admission:
    """Admit an execution if its limits allow it, or give it a place in the queue."""
    id_, slots = request.execution_id, request.slots
    if not _is_open(db, id_):
        return Admission(state="rejected")
    if id_ not in db.places:
        place = admission_row(request, now)
        if slots is not None and not _has_room(db, place):
            if slots.on_conflict == "reject":
                return Admission(state="rejected", name=slots.name, holders=_first_holders(db, slots.name))
            if slots.on_conflict == "cancel_running":
                others = [*_holders(db, slots.name), *_queue(db, slots.name)]
                commands.enqueue(db, [cancel_command(other, id_) for other in others], now)
        db.places[id_] = place
    _advance(db, id_, now)
    return _admission_of(db, db.places[id_])


def _advance(db: MemoryDatabase, id_: str, now: int) -> bool:
    """Give an execution its slot and its start time if it can have them; return whether that admits it."""
    place = db.places[id_]
    if place.admitted or (place.is_in_line and not _has_room(db, place)):
        return False
    place = db.places[id_] = advanced(place, db.rates, now)
    if place.admitted:
        commands.enqueue(db, [admit_command(id_)], now)
    return place.admitted


def release_slot(db: MemoryDatabase, execution_id: str, now: int) -> list[str]:
    """Release a slot or a place in the queue; return the executions that are admitted now."""
    place = db.places.pop(execution_id, None)
    if place is None or place.name is None:
        return []
    admitted: list[str] = []
    for id_ in _queue(db, place.name):
        if not _is_open(db, id_):  # it ended while it was in the queue
            del db.places[id_]
            continue
        if not _has_room(db, db.places[id_]):
            break
        is_admitted = _advance(db, id_, now)
        make_messages_due_sooner(db, id_, max(now, db.places[id_].start_at or now))
        if is_admitted:
            admitted.append(id_)
    return admitted


def admission(db: MemoryDatabase, execution_id: str) -> Admission | None:
    """Return the admission of an execution, if it is under limits."""
    place = db.places.get(execution_id)
    return _admission_of(db, place) if place is not None else None


def _admission_of(db: MemoryDatabase, place: AdmissionRow) -> Admission:
    if place.name is None:
        return admission_of(place, 0, ())
    position = _queue(db, place.name).index(place.execution_id) + 1 if place.is_in_line else 0
    return admission_of(place, position, _first_holders(db, place.name))


def _is_open(db: MemoryDatabase, id_: str) -> bool:
    return id_ in db.heads and db.heads[id_].status not in CLOSED


def _has_room(db: MemoryDatabase, place: AdmissionRow) -> bool:
    return place.name is not None and place.most is not None and len(_holders(db, place.name)) < place.most


def _holders(db: MemoryDatabase, name: str) -> list[str]:
    return sorted(
        (id_ for id_, place in db.places.items() if place.name == name and place.held_at is not None),
        key=lambda id_: (db.places[id_].held_at, id_),
    )


def _first_holders(db: MemoryDatabase, name: str) -> tuple[str, ...]:
    return tuple(_holders(db, name)[:MOST_HOLDERS])


def _queue(db: MemoryDatabase, name: str) -> list[str]:
    return sorted(
        (id_ for id_, place in db.places.items() if place.name == name and place.is_in_line),
        key=lambda id_: (db.places[id_].rank, id_),
    )


def delete_unused_rates(db: MemoryDatabase, now: int) -> int:
    """Delete the rows of rates that are not used any more: a rate without a row counts as unused."""
    unused = [name for name, used_until in db.rates.items() if used_until <= now * 1000]
    for name in unused:
        del db.rates[name]
    return len(unused)
