"""What a failure makes of a trigger: it is tried again, each time after a longer pause, and heals by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.ports.trigger_records import NewEvent, TriggerMove

if TYPE_CHECKING:
    from layover.ports.trigger_records import PollLease, TriggerRow, TriggerState

STATE_CHANGED = "TriggerStateChanged"
FAILURES = 10  # in a row make it an error
_FIRST_PAUSE, _LONGEST_PAUSE = 1_000, 300_000  # milliseconds before a trigger that failed is tried again
_LONGEST_REASON = 1_000


def failed_move(row: TriggerRow, message: str, now: int, lease: PollLease | None = None) -> TriggerMove:
    """Return how a trigger goes on that has failed: its cursor stays; after ten failures in a row it is an error."""
    failures = row.failures + 1
    pause = min(_FIRST_PAUSE * 2 ** min(row.failures, 20), _LONGEST_PAUSE)
    going_on: TriggerState = "active" if row.state == "initialized" else row.state
    state: TriggerState = "error" if failures >= FAILURES else going_on
    reason = message[:_LONGEST_REASON]
    return TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=now,
        state=state,
        reason=reason,
        next_at=now + pause,
        cursor=row.cursor,
        failures=failures,
        lease=lease,
        events=(state_changed(state, reason),),
    )


def state_changed(state: TriggerState, reason: str) -> NewEvent:
    """Return the event of a new state."""
    return NewEvent(kind=STATE_CHANGED, body=msgspec.json.encode({"state": state, "reason": reason}))
