"""Limits on how many executions may run at once or start within a time: the rules that all stores share.

An execution under limits has a place, from its first request until it is closed. It waits in the queue for a slot or
holds one; then it gets a start time from the rate; then it is admitted. The place holds the limits that were requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Admit, Cancel
from layover.ports.errors import StoreError
from layover.ports.limit_records import Admission, AdmissionRow
from layover.ports.records import Enqueue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.limit_records import AdmissionRequest, RateLimit

MOST_HOLDERS = 10  # as many as an admission names
_FAR = 2**62  # the farthest rank in a queue; every database can store the number


def check_request(request: AdmissionRequest) -> None:
    """Refuse limits that would never admit an execution."""
    numbers = [request.slots.limit] if request.slots is not None else []
    numbers += [request.rate.limit, request.rate.per_ms] if request.rate is not None else []
    if any(number < 1 for number in numbers):
        raise StoreError("A limit has to let at least one begin.", code="malformed_limit")


def admission_row(request: AdmissionRequest, now: int) -> AdmissionRow:
    """Return the first place for a request. Each point of priority is worth a second in the queue."""
    slots = request.slots
    return AdmissionRow(
        execution_id=request.execution_id,
        name=slots.name if slots is not None else None,
        most=slots.limit if slots is not None else None,
        rank=max(-_FAR, min(now - 1000 * request.priority, _FAR)),
        rate=request.rate,
    )


def reserve_rate(rate: RateLimit, used_until: int, now: int) -> tuple[int, int]:
    """Return when one more execution may start, and until when the rate is used then, in microseconds.

    Each start uses an equal share of the period. Unused shares may be used at once, up to one whole period.
    """
    share = -(-rate.per_ms * 1000 // rate.limit)
    used_until = max(used_until, now * 1000) + share
    begins = used_until - share * rate.limit
    return max(now, -(-begins // 1000)), used_until


def advanced(place: AdmissionRow, used: dict[str, int], now: int) -> AdmissionRow:
    """Return a place with its slot and its start time; `used` is updated with the rate that it takes."""
    if place.is_in_line:
        place = replace(place, held_at=now)
    rate = place.rate
    if rate is not None and place.start_at is None:
        start_at, used[rate.name] = reserve_rate(rate, used.get(rate.name, 0), now)
        place = replace(place, start_at=start_at)
    return replace(place, admitted=place.start_at is None or place.start_at <= now)


def admission_of(place: AdmissionRow, position: int, holders: Sequence[str]) -> Admission:
    """Return the admission that a place stands for, with the holders of its slots."""
    if place.is_in_line:
        return Admission(state="waiting", name=place.name or "", position=position, holders=tuple(holders))
    if not place.admitted and place.rate is not None:
        return Admission(state="later", name=place.rate.name, at=place.start_at)
    if place.name is not None:
        return Admission(state="admitted", name=place.name, holders=tuple(holders))
    return Admission(state="admitted", name=place.rate.name if place.rate is not None else "")


def admit_command(execution_id: str) -> Enqueue:
    """Return the command that lets an execution start. Its source makes it count once."""
    kind, body = encode_command(Admit())
    return Enqueue(execution_id=execution_id, kind=kind, body=body, source="admit")


def cancel_command(execution_id: str, by: str) -> Enqueue:
    """Return the command that cancels an execution to give its slot to another, which counts once for each of them."""
    kind, body = encode_command(Cancel(reason=f"The execution {by} takes its place."))
    return Enqueue(execution_id=execution_id, kind=kind, body=body, source=f"limit:{by}")
