"""What is written about an attempt: the delivery, the health of its destination, and who is told of the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.ids import uuid8
from layover.core.notifications import NOTIFY, Occasion
from layover.ports.delivery_records import Settlement
from layover.ports.records import Message
from layover.runtime.deliveries.attempts import next_attempt
from layover.runtime.deliveries.wait_outcomes import failed_outcome, sent_outcome

if TYPE_CHECKING:
    from random import Random  # noqa: TID251 - what the machine gives is one

    from layover.ports.delivery_records import DeliveryRow, DeliveryState
    from layover.runtime.deliveries.outcomes import SendOutcome
    from layover.runtime.deliveries.parcels import Parcel

_ABOUT_DELIVERIES: Final = frozenset({"delivery.dead", "destination.disabled"})
_GONE: Final = "The receiver said that it is gone for good (status 410)."
_FAILING: Final = "It has failed for five days."


def attempt_of(outcome: SendOutcome, at: int, ms: int) -> bytes:
    """Return an attempt for the history of its delivery."""
    found: dict[str, object] = {"at": at, "ms": ms}
    if outcome.status is not None:
        found["status"] = outcome.status
    found |= {name: text for name, text in (("reply", outcome.reply), ("error", outcome.error)) if text}
    return msgspec.json.encode(found)


def settlement_of(
    row: DeliveryRow, parcel: Parcel, outcome: SendOutcome, attempt: bytes, now: int, chance: Random
) -> Settlement:
    """Return what is written about an attempt."""
    state: DeliveryState = "sent" if outcome.verdict == "sent" else "dead"
    due_at, reason = 0, outcome.reason
    if outcome.verdict == "again":
        following = next_attempt(row.attempts, now, chance, outcome.retry_after)
        if following is not None:
            state, due_at = "pending", following
        else:
            reason = f"attempts_used_up: {reason}"
    is_dead = state == "dead"
    disable = _GONE if outcome.verdict == "gone" else ""
    return Settlement(
        id=row.id,
        epoch=row.epoch,
        at=now,
        state=state,
        due_at=due_at,
        reason="" if state == "sent" else reason,
        attempt=attempt,
        health=outcome.health,
        disable=disable,
        messages=(_dead_message(row, parcel, reason, now),) if is_dead and row.kind not in _ABOUT_DELIVERIES else (),
        outcome=sent_outcome(row, now) if row.awaited else None,
        dead_outcome=failed_outcome(row, reason, outcome.error, now) if row.awaited else None,
        on_disabled=_disabled_message(row, parcel, disable or _FAILING, now),
    )


def moot(row: DeliveryRow, now: int) -> Settlement:
    """Return what is written about a request that needs no answer any more: nothing was tried."""
    return Settlement(id=row.id, epoch=row.epoch, at=now, state="moot", reason="point_closed", gives_back=True)


def given_back(row: DeliveryRow, now: int) -> Settlement:
    """Return what is written about an attempt that was broken off: another instance makes it at once."""
    return Settlement(id=row.id, epoch=row.epoch, at=now, state="pending", due_at=now, gives_back=True)


def _dead_message(row: DeliveryRow, parcel: Parcel, reason: str, now: int) -> Message:
    """Return the occasion that a delivery was given up; its sender is the delivery, whose epochs tell them apart."""
    occasion = Occasion(
        kind="delivery.dead", workflow=row.workflow, hash=parcel.hash, subject=row.destination, reason=reason
    )
    return _notice(row, occasion, now)


def _disabled_message(row: DeliveryRow, parcel: Parcel, reason: str, now: int) -> Message:
    occasion = Occasion(
        kind="destination.disabled", workflow=row.workflow, hash=parcel.hash, subject=row.destination, reason=reason
    )
    # By another sender than the delivery: the same outcome may also be that the delivery is dead.
    return msgspec.structs.replace(_notice(row, occasion, now), sender=uuid8(f"disabled/{row.id}"))


def _notice(row: DeliveryRow, occasion: Occasion, now: int) -> Message:
    body = msgspec.json.encode(occasion)
    return Message(sender=row.id, n=row.epoch, destination=NOTIFY, kind=NOTIFY, body=body, due_at=now)
