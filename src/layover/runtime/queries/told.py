"""Whom a pause point told, when and by what; or why not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.moments import Moment, moment
from layover.model.executions import WhyReason
from layover.ports.delivery_records import MUTED, DeliveryFilter
from layover.runtime.deliveries.attempts import MOST_ATTEMPTS

if TYPE_CHECKING:
    from layover.ports.delivery_records import DeliveryRow, DestinationRow
    from layover.ports.store import Store

MOST_TOLD: Final = 20  # deliveries of one point, the newest
_BECAUSE: Final = {
    "no_address": "the directory has no address for them",
    "unknown_destination": "there is no such destination",
}


async def told_of(store: Store, execution_id: str, point_id: str, now: int) -> tuple[WhyReason, ...]:
    """Return what became of the deliveries about a point, the oldest first."""
    wanted = DeliveryFilter(execution_id=execution_id, point=point_id, limit=MOST_TOLD)
    rows = await store.deliveries.list_deliveries(wanted)
    names = sorted({row.destination for row in rows if row.state == "pending"})
    destinations = {name: await store.deliveries.find_destination(name) for name in names}
    return tuple(_reason(row, destinations.get(row.destination), now) for row in reversed(rows))


def _reason(row: DeliveryRow, destination: DestinationRow | None, now: int) -> WhyReason:
    return WhyReason(
        kind="delivery",
        text=_text(row, destination, now),
        since=Moment.of(row.settled_at if row.settled_at is not None else row.created_at),
        until=Moment.of(row.due_at) if row.state == "pending" else None,
    )


def _text(row: DeliveryRow, destination: DestinationRow | None, now: int) -> str:
    whom, via, kind = row.user or "It", f"`{row.destination}`", f"({row.kind})"
    match row.state:
        case "sent":
            verb = "was told by" if row.user else "was told to"
            return f"{whom} {verb} {via} at {moment(row.settled_at or row.created_at)} {kind}."
        case "dead":
            reason = _BECAUSE.get(row.reason, row.reason or "it was given up")
            return f"{whom} was not told by {via} {kind}: {reason}."
        case "moot" | "discarded":
            late = "they have muted it" if row.reason == MUTED else "it was too late"
            reason = late if row.state == "moot" else "it was discarded"
            return f"{whom} was not told by {via} {kind}: {reason}."
        case "pending":
            return f"{whom} is not told yet by {via} {kind}: {_not_yet(row, destination, now)}."


def _not_yet(row: DeliveryRow, destination: DestinationRow | None, now: int) -> str:
    if destination is not None and destination.state == "disabled":
        reason = f" ({destination.reason})" if destination.reason else ""
        return f"the destination is disabled{reason}"
    if destination is not None and destination.open_until is not None and destination.open_until > now:
        return (
            f"it failed {destination.failures} times in a row, and is tried again at {moment(destination.open_until)}"
        )
    if not row.attempts:
        return "it is about to be sent"
    history = msgspec.json.decode(row.history, type=list[dict[str, object]])
    error = str(history[-1].get("error") or "").rstrip(".") if history else ""
    after = f" after: {error}" if error else ""
    return f"attempt {row.attempts + 1} of {MOST_ATTEMPTS} is at {moment(row.due_at)}{after}"
