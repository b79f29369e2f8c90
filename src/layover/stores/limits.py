"""Who may begin when only so many may: what every store keeps of it, and how it counts.

An execution under limits has a place, from its first wish until it is closed: it holds a slot or is in line for one,
then it has a moment to begin at, then it is admitted. Its wish is kept with its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Admit, Cancel
from layover.ports.errors import StoreError
from layover.ports.records import Admission, Enqueue, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Rate, Wish

MOST_HOLDERS = 10  # as many as are told
_FAR = 2**62  # from the front of a line to its end: every database can hold the number


def check_wish(wish: Wish) -> None:
    """Refuse limits that nothing could ever pass."""
    numbers = [wish.slots.limit] if wish.slots is not None else []
    numbers += [wish.rate.limit, wish.rate.per_ms] if wish.rate is not None else []
    if any(number < 1 for number in numbers):
        raise StoreError("A limit has to let at least one begin.", code="malformed_limit")


def place_of(wish: Wish, now: int) -> Place:
    """Return the place that a wish begins with; each point of priority is worth a second in line."""
    slots = wish.slots
    return Place(
        execution_id=wish.execution_id,
        name=slots.name if slots is not None else None,
        most=slots.limit if slots is not None else None,
        rank=max(-_FAR, min(now - 1000 * wish.priority, _FAR)),
        rate=wish.rate,
    )


def reserve_rate(rate: Rate, used_until: int, now: int) -> tuple[int, int]:
    """Return the moment at which one more may begin, and until when the rate is used up then, in microseconds.

    Each start uses up an even share of the length of time, and as much of it as the rate is long may be used at once.
    """
    share = -(-rate.per_ms * 1000 // rate.limit)
    used_until = max(used_until, now * 1000) + share
    begins = used_until - share * rate.limit
    return max(now, -(-begins // 1000)), used_until


def admission_of(place: Place, position: int, holders: Sequence[str]) -> Admission:
    """Tell how things stand; those who hold the slots are told with the name of the slots."""
    if place.is_in_line:
        return Admission(state="waiting", name=place.name or "", position=position, holders=tuple(holders))
    if not place.admitted and place.rate is not None:
        return Admission(state="later", name=place.rate.name, at=place.start_at)
    if place.name is not None:
        return Admission(state="admitted", name=place.name, holders=tuple(holders))
    return Admission(state="admitted", name=place.rate.name if place.rate is not None else "")


def admit_command(execution_id: str) -> Enqueue:
    """Return the command that lets an execution begin; it is taken once."""
    kind, body = encode_command(Admit())
    return Enqueue(execution_id=execution_id, kind=kind, body=body, source="admit")


def cancel_command(execution_id: str, by: str) -> Enqueue:
    """Return the command that ends an execution because another wants its slot; of each other it is taken once."""
    kind, body = encode_command(Cancel(reason=f"The execution {by} takes its place."))
    return Enqueue(execution_id=execution_id, kind=kind, body=body, source=f"limit:{by}")
