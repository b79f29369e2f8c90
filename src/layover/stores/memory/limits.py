"""Admission of executions under limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import CLOSED, Admission
from layover.stores.limits import MOST_HOLDERS, admission_of, admit_command, cancel_command, place_of, reserve_rate
from layover.stores.memory.commands import enqueue
from layover.stores.memory.outbox import make_messages_due_sooner

if TYPE_CHECKING:
    from layover.ports.records import Place, Wish
    from layover.stores.memory.database import MemoryDatabase


def admit(db: MemoryDatabase, wish: Wish, now: int) -> Admission:
    """Admit an execution if its limits allow it, or give it a place in the queue."""
    id_, slots = wish.execution_id, wish.slots
    if not _is_open(db, id_):
        return Admission(state="rejected")
    if id_ not in db.places:
        place = place_of(wish, now)
        if slots is not None and not _has_room(db, place):
            if slots.on_conflict == "reject":
                return Admission(state="rejected", name=slots.name, holders=_first_holders(db, slots.name))
            if slots.on_conflict == "cancel_running":
                others = [*_holders(db, slots.name), *_queue(db, slots.name)]
                enqueue(db, [cancel_command(other, id_) for other in others], now)
        db.places[id_] = place
    _advance(db, id_, now)
    return _admission_of(db, db.places[id_])


def _advance(db: MemoryDatabase, id_: str, now: int) -> bool:
    """Give an execution its slot and its start time if it can have them; return whether that admits it."""
    place = db.places[id_]
    if place.admitted:
        return False
    if place.is_in_line:
        if not _has_room(db, place):
            return False
        place = replace(place, held_at=now)
    if place.rate is not None and place.start_at is None:
        start_at, used_until = reserve_rate(place.rate, db.rates.get(place.rate.name, 0), now)
        db.rates[place.rate.name] = used_until
        place = replace(place, start_at=start_at)
    place = replace(place, admitted=place.start_at is None or place.start_at <= now)
    db.places[id_] = place
    if place.admitted:
        enqueue(db, [admit_command(id_)], now)
    return place.admitted


def free(db: MemoryDatabase, execution_id: str, now: int) -> list[str]:
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


def _admission_of(db: MemoryDatabase, place: Place) -> Admission:
    if place.name is None:
        return admission_of(place, 0, ())
    position = _queue(db, place.name).index(place.execution_id) + 1 if place.is_in_line else 0
    return admission_of(place, position, _first_holders(db, place.name))


def _is_open(db: MemoryDatabase, id_: str) -> bool:
    return id_ in db.heads and db.heads[id_].status not in CLOSED


def _has_room(db: MemoryDatabase, place: Place) -> bool:
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
