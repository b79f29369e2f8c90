"""What a claim, a settlement or a change does to the rows of deliveries and destinations: the same in every store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from layover.core.breakers import Breaker
from layover.ports.delivery_records import (
    DELIVERY_STATES,
    DeliveryRow,
    DestinationCounts,
    DestinationRow,
    DestinationSaved,
    DueDestinations,
)
from layover.ports.errors import StoreError
from layover.stores.checks import check_ids, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.delivery_records import (
        DeliveryChange,
        DeliveryClaim,
        DeliveryFilter,
        DestinationSave,
        DestinationState,
        Settlement,
    )
    from layover.ports.records import Message

NEWEST_DELIVERY: Final = (2**63 - 1, "ffffffff-ffff-ffff-ffff-ffffffffffff")
NOT_SENT: Final = ("dead", "discarded")  # of those that a point waits for
MOST_COUNTED: Final = 10_000  # of one destination
_ATTEMPTS_KEPT: Final = 16
_LONGEST_NAME: Final = 2_000  # of a destination and a lane, in bytes: they are in an index
_LONGEST_REASON: Final = 1_000
_BURST: Final = 1_000  # milliseconds whose deliveries may go at once after a rest
_FAILING: Final = "It failed for five days."

_ATTEMPTS = msgspec.json.Decoder(list[msgspec.Raw])


class Allowed(NamedTuple):
    """How many deliveries may be claimed now; if none, when it may be tried again, if that is known."""

    most: int
    not_before: int | None = None


class DueDestination(NamedTuple):
    """A destination with deliveries that could be claimed: when the first comes due, and the first after now."""

    name: str
    first: int
    later: int | None
    row: DestinationRow | None


def check_deliveries(deliveries: Sequence[DeliveryRow]) -> None:
    """Refuse deliveries that some store could not keep."""
    check_ids(row.id for row in deliveries)
    check_ids(row.execution_id for row in deliveries if row.execution_id is not None)
    for row in deliveries:
        check_texts(row.workflow, row.lane, row.destination, row.kind, row.point, row.user, row.address, row.reason)
        if len(row.destination.encode()) + len(row.lane.encode()) > _LONGEST_NAME:
            raise StoreError(f"The lane of the delivery {row.id} has too long a name.", code="malformed")
        if row.awaited and row.execution_id is None:
            raise StoreError(f"The delivery {row.id} has no execution that could wait for it.", code="malformed")


# Claims


def due_destinations(found: Iterable[DueDestination], now: int) -> DueDestinations:
    """Return which destinations something can be sent to, and when something can be next."""
    names: list[str] = []
    moments: list[int] = []
    for one in found:
        row = one.row
        if row is not None and row.state == "disabled":
            continue
        barrier = max(row.open_until or 0, row.free_at) if row is not None else 0
        if max(one.first, barrier) <= now:
            names.append(one.name)
            moments += [one.later] if one.later is not None else []
        else:
            moments.append(max(one.first, barrier))
    return DueDestinations(names=tuple(sorted(names)), next_due=min(moments, default=None))


def allowed(row: DestinationRow, claim: DeliveryClaim) -> Allowed:
    """Return how many deliveries a destination lets be claimed."""
    if row.state == "disabled":
        return Allowed(0)
    if row.open_until is not None and row.open_until > claim.now:
        return Allowed(0, row.open_until)
    most = max(claim.most, 0)
    if row.open_until is not None:
        most = min(most, 1)  # the trial
    if claim.interval > 0:
        free_at = _free_at(row, claim)
        if free_at > claim.now:
            return Allowed(0, free_at)
        most = min(most, (claim.now - free_at) // claim.interval + 1)
    return Allowed(most)


def _free_at(row: DestinationRow, claim: DeliveryClaim) -> int:
    """Return when the rate allows the next one: after a rest, as if as many as go at once had been left out."""
    at_once = max(_BURST // claim.interval, 1)
    # No further ahead than this rate can have put it: it may have been another rate.
    return max(min(row.free_at, claim.now + claim.interval), claim.now - (at_once - 1) * claim.interval)


def claimed(row: DeliveryRow, claim: DeliveryClaim) -> DeliveryRow:
    """Return a delivery that is claimed."""
    return replace(row, epoch=row.epoch + 1, attempts=row.attempts + 1, due_at=claim.due_again)


def claimed_from(row: DestinationRow, claim: DeliveryClaim, count: int) -> DestinationRow:
    """Return a destination after so many deliveries were claimed."""
    if not count:
        return row
    free_at = _free_at(row, claim) + count * claim.interval if claim.interval > 0 else row.free_at
    # The trial keeps the others out for as long as it may take.
    return replace(row, free_at=free_at, open_until=claim.due_again if row.open_until is not None else None)


def claim_again_at(row: DestinationRow, claim: DeliveryClaim, next_due: int | None) -> int | None:
    """Return when to ask again, given the destination and when its next delivery is due."""
    if next_due is None:
        return None
    barrier = row.free_at if claim.interval > 0 and row.free_at > claim.now else 0
    return max(next_due, barrier, row.open_until or 0)


# Settlements


def settled(row: DeliveryRow, given: Settlement) -> DeliveryRow:
    """Return a delivery after an attempt."""
    is_pending = given.state == "pending"
    return replace(
        row,
        state=given.state,
        reason=_plain(given.reason),
        due_at=given.due_at if is_pending else row.due_at,
        attempts=max(row.attempts - given.gives_back, 0),
        history=_with_attempt(row.history, given.attempt),
        settled_at=None if is_pending else given.at,
    )


def judged(row: DestinationRow, delivery: DeliveryRow, given: Settlement) -> DestinationRow:
    """Return a destination after an attempt of a delivery, which is as it was before."""
    breaker = Breaker(
        failures=row.failures, failing_since=row.failing_since, open_until=row.open_until, opened=row.opened
    )
    # While the trial is made, nothing else is claimed before its own claim ends.
    is_trial = row.open_until is not None and row.open_until == delivery.due_at
    if given.health == "good":
        breaker = breaker.succeeded()
    elif given.health == "bad":
        breaker = breaker.failed(given.at, is_trial=is_trial)
    elif is_trial:
        breaker = replace(breaker, open_until=given.at)  # it has shown nothing: the next one tries
    changed = replace(
        row,
        failures=breaker.failures,
        failing_since=breaker.failing_since,
        open_until=breaker.open_until,
        opened=breaker.opened,
    )
    why = given.disable or (_FAILING if breaker.disabled else "")
    if why and row.state == "active":
        changed = replace(changed, state="disabled", reason=_plain(why), changed_at=given.at)
    return changed


def outcome_of(given: Settlement | DeliveryChange, *, some_pending: bool, some_not_sent: bool) -> Message | None:
    """Return the message about what a point waits for, if all of it is settled."""
    if some_pending:
        return None
    return given.dead_outcome if some_not_sent else given.outcome


def changed(row: DeliveryRow, change: DeliveryChange) -> DeliveryRow | None:
    """Return a delivery after a change by an operator; None if it is not in a state that allows it."""
    is_pending = change.state == "pending"
    if row.state not in change.of or (is_pending and not row.body):
        return None
    return replace(
        row,
        state=change.state,
        reason=_plain(change.reason),
        epoch=row.epoch + 1,  # an attempt that is being made tells nothing of it any more
        attempts=0 if is_pending else row.attempts,
        due_at=change.at if is_pending else row.due_at,
        settled_at=None if is_pending else change.at,
    )


def _with_attempt(history: bytes, attempt: bytes) -> bytes:
    if not attempt:
        return history
    attempts = [*_ATTEMPTS.decode(history), msgspec.Raw(attempt)]
    return msgspec.json.encode(attempts[-_ATTEMPTS_KEPT:])


def _plain(reason: str) -> str:
    """Return a reason that every database can keep: it may quote what a server has said."""
    return reason[:_LONGEST_REASON].encode("utf-8", "replace").decode().replace("\0", "")


# Destinations


def saving(known: DestinationRow | None, save: DestinationSave) -> DestinationSaved:
    """Return what saving a destination comes to; without a row, a saved one is deleted."""
    is_there = known is not None and known.config != b""
    if save.create and is_there:
        return DestinationSaved(verdict="taken")
    if not save.create and not is_there:
        return DestinationSaved(verdict="unknown")
    if not save.config:
        return DestinationSaved(verdict="saved")
    if known is None or save.create:
        row = DestinationRow(name=save.name, config=save.config, changed_at=save.at)
    elif known.config == save.config:
        row = known
    else:
        row = replace(_closed(known), config=save.config, free_at=0, changed_at=save.at)
    return DestinationSaved(verdict="saved", row=row)


def in_state(row: DestinationRow, state: DestinationState, reason: str, at: int) -> DestinationRow:
    """Return a destination that is enabled or disabled."""
    kept = _closed(row) if state == "active" else row
    return replace(kept, state=state, reason=_plain(reason), changed_at=at)


def _closed(row: DestinationRow) -> DestinationRow:
    return replace(row, failures=0, failing_since=None, open_until=None, opened=0)


# Rows


def check_filter(wanted: DeliveryFilter) -> None:
    """Refuse a filter with an id that is none."""
    check_ids(id_ for id_ in (wanted.execution_id, (wanted.after or NEWEST_DELIVERY)[1]) if id_ is not None)


def states_of(wanted: DeliveryFilter) -> tuple[str, ...]:
    """Return the states to list: each is sought by itself."""
    return DELIVERY_STATES if wanted.state is None else (wanted.state,)


def counts_of(rows: Iterable[Iterable[Any]]) -> list[DestinationCounts]:
    """Return the counts of destinations for which something waits or was given up."""
    found = [
        DestinationCounts(destination=name, pending=pending, dead=dead, oldest=oldest)
        for name, pending, dead, oldest in rows
    ]
    return [one for one in found if one.pending or one.dead]


def delivery_of(id_: str, execution_id: str | None, columns: Iterable[Any]) -> DeliveryRow:
    """Return a delivery from its columns; the first two, which are ids, are written differently by each database."""
    _, _, workflow, n, lane, destination, kind, point, user, address, body, state, reason, *rest = columns
    created_at, due_at, epoch, attempts, history, settled_at, awaited = rest
    return DeliveryRow(
        id=id_,
        execution_id=execution_id,
        workflow=workflow,
        n=n,
        lane=lane,
        destination=destination,
        kind=kind,
        point=point,
        user=user,
        address=address,
        body=body,
        state=state,
        reason=reason,
        created_at=created_at,
        due_at=due_at,
        epoch=epoch,
        attempts=attempts,
        history=history,
        settled_at=settled_at,
        awaited=bool(awaited),
    )


def destination_of(columns: Iterable[Any]) -> DestinationRow:
    """Return a destination from its columns."""
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at = columns
    return DestinationRow(
        name=name,
        config=config,
        state=state,
        reason=reason,
        failures=failures,
        failing_since=failing_since,
        open_until=open_until,
        opened=opened,
        free_at=free_at,
        changed_at=changed_at,
    )
