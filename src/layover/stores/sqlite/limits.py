"""Admission of executions under limits. Writes run inside the writer's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.limit_records import Admission
from layover.ports.records import CLOSED
from layover.stores.checks import check_ids
from layover.stores.ids import key, text
from layover.stores.limits import (
    MOST_HOLDERS,
    admission_of,
    admission_row,
    admit_command,
    advanced,
    cancel_command,
    check_request,
)
from layover.stores.sqlite.commands import enqueue
from layover.stores.sqlite.queries import head_by_id
from layover.stores.sqlite.rows import place_of_row
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.limit_records import AdmissionRequest, AdmissionRow, ConcurrencyLimit
    from layover.stores.sqlite.session import SqliteSession


class SqliteLimits:
    """Slots and rates of a file, and the queues for them."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def admit(self, request: AdmissionRequest, now: int) -> Admission:
        """Admit an execution, or give it a place in the queue."""
        check_ids([request.execution_id])
        check_request(request)
        return await self._session.write(lambda db: admit(db, request, now))

    async def release_slot(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue."""
        check_ids([execution_id])
        return await self._session.write(lambda db: release_slot(db, execution_id, now))

    async def delete_unused_rates(self, now: int) -> int:
        """Delete rates that are not used."""
        return await self._session.write(lambda db: delete_unused_rates(db, now))

    async def find_admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return await self._session.glance(lambda db: admission(db, execution_id), statements=3)


def admit(db: apsw.Connection, request: AdmissionRequest, now: int) -> Admission:
    """Admit an execution if its limits allow it, or give it a place in the queue."""
    if not _is_open(db, request.execution_id):
        return Admission(state="rejected")
    place = _place(db, request.execution_id)
    if place is None:
        place, slots = admission_row(request, now), request.slots
        if slots is not None and not _has_room(db, place):
            if slots.on_conflict == "reject":
                return Admission(state="rejected", name=slots.name, holders=_holders(db, slots.name, MOST_HOLDERS))
            if slots.on_conflict == "cancel_running":
                _cancel_others(db, slots, request.execution_id, now)
        save_place(db, place)
    return _admission_of(db, _advanced(db, place, now))


def _cancel_others(db: apsw.Connection, slots: ConcurrencyLimit, id_: str, now: int) -> None:
    line = [text(other) for (other,) in db.execute(SQL["queue_for_slots"], {"name": slots.name})]
    others = [*_holders(db, slots.name, -1), *line]
    enqueue(db, [cancel_command(other, id_) for other in others], now)


def _advanced(db: apsw.Connection, was: AdmissionRow, now: int) -> AdmissionRow:
    """Give an execution its slot and its start time if it can have them; return its place."""
    place = was
    if place.admitted or (place.is_in_line and not _has_room(db, place)):
        return place
    used: dict[str, int] = {}
    if place.rate is not None and place.start_at is None:
        used[place.rate.name] = db.execute(SQL["rates_by_name"], {"name": place.rate.name}).get or 0
    place = advanced(place, used, now)
    db.executemany(SQL["save_rates"], [{"name": name, "used_until": until} for name, until in used.items()])
    save_place(db, place)
    if place.admitted:
        enqueue(db, [admit_command(place.execution_id)], now)
    return place


def release_slot(db: apsw.Connection, execution_id: str, now: int) -> list[str]:
    """Release a slot or a place in the queue; return the executions that are admitted now."""
    place = _place(db, execution_id)
    if place is None:
        return []
    _drop(db, execution_id)
    admitted: list[str] = []
    while place.name is not None and (following := _next_in_line(db, place.name)) is not None:
        if not _is_open(db, following.execution_id):  # it ended while it was in the queue
            _drop(db, following.execution_id)
            continue
        if not _has_room(db, following):
            break
        following = _advanced(db, following, now)
        id_, due_at = following.execution_id, max(now, following.start_at or now)
        db.execute(SQL["make_messages_due_sooner"], {"sender": key(id_), "destination": id_, "due_at": due_at})
        if following.admitted:
            admitted.append(id_)
    return admitted


def admission(db: apsw.Connection, execution_id: str) -> Admission | None:
    """Return the admission of an execution, if it is under limits."""
    place = _place(db, execution_id)
    return _admission_of(db, place) if place is not None else None


def delete_unused_rates(db: apsw.Connection, now: int) -> int:
    """Delete the rows of rates that are not used any more: a rate without a row counts as unused."""
    db.execute(SQL["delete_unused_rates"], {"now": now * 1000})
    return db.changes()


def _admission_of(db: apsw.Connection, place: AdmissionRow) -> Admission:
    if place.name is None:
        return admission_of(place, 0, ())
    values = {"name": place.name, "rank": place.rank, "id": key(place.execution_id)}
    ahead = db.execute(SQL["count_ahead_in_queue"], values).get if place.is_in_line else 0
    return admission_of(place, ahead + 1, _holders(db, place.name, MOST_HOLDERS))


def _is_open(db: apsw.Connection, execution_id: str) -> bool:
    head = head_by_id(db, key(execution_id))
    return head is not None and head.status not in CLOSED


def _has_room(db: apsw.Connection, place: AdmissionRow) -> bool:
    held: int = db.execute(SQL["count_slot_holders"], {"name": place.name}).get
    return place.most is not None and held < place.most


def _holders(db: apsw.Connection, name: str, most: int) -> tuple[str, ...]:
    return tuple(text(id_) for (id_,) in db.execute(SQL["slot_holders"], {"name": name, "most": most}))


def _place(db: apsw.Connection, execution_id: str) -> AdmissionRow | None:
    row = db.execute(SQL["place_of_execution"], {"id": key(execution_id)}).fetchone()
    return place_of_row(row) if row is not None else None


def _next_in_line(db: apsw.Connection, name: str) -> AdmissionRow | None:
    row = db.execute(SQL["next_in_queue"], {"name": name}).fetchone()
    return place_of_row(row) if row is not None else None


def save_place(db: apsw.Connection, place: AdmissionRow) -> None:
    """Store the place of an execution."""
    rate = place.rate
    db.execute(
        SQL["save_places"],
        {
            "id": key(place.execution_id),
            "name": place.name,
            "most": place.most,
            "rank": place.rank,
            "held_at": place.held_at,
            "rate": rate.name if rate is not None else None,
            "rate_limit": rate.limit if rate is not None else None,
            "rate_per_ms": rate.per_ms if rate is not None else None,
            "start_at": place.start_at,
            "admitted": place.admitted,
        },
    )


def _drop(db: apsw.Connection, execution_id: str) -> None:
    db.execute(SQL["delete_places"], {"id": key(execution_id)})
