"""The legs of an execution, derived from its log: each is the work between two rests.

A closed execution begins a leg when it is reopened, so the leg before it ends with the end. Earlier releases recorded
the start of that leg later, behind what the reopening led to, and as `woken` or `recovered`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.events import ExecutionReopened, LegStarted
from layover.core.ids import uuid8
from layover.core.moments import Moment
from layover.model.executions import Leg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.events import AnyEvent


def leg_id(execution_id: str, number: int) -> str:
    """Return the id of a leg by its number, counted from 1: the number alone gives the id."""
    return uuid8(f"{execution_id}\0leg\0{number}")


def legs(execution_id: str, events: Iterable[tuple[int, int, AnyEvent]]) -> list[Leg]:
    """Return the legs that events with their numbers and times tell of; the last one goes to the end of them."""
    starts: list[tuple[int, int, LegStarted]] = []
    reopened: tuple[int, int, ExecutionReopened] | None = None
    last_seq = -1
    for seq, at, event in events:
        last_seq = seq
        if isinstance(event, ExecutionReopened):
            reopened = (seq, at, event)
        elif isinstance(event, LegStarted) and reopened is not None:
            starts.append((*reopened[:2], LegStarted(cause=reopened[2].why, instance=event.instance)))
            reopened = None
        elif isinstance(event, LegStarted):
            starts.append((seq, at, event))
    ends = [*(seq - 1 for seq, _, _ in starts[1:]), last_seq]
    return [
        Leg(
            id=leg_id(execution_id, depth + 1),
            parent=leg_id(execution_id, depth) if depth else None,
            depth=depth,
            cause=event.cause,
            instance=event.instance,
            from_seq=seq,
            to_seq=end,
            started_at=Moment.of(at),
        )
        for depth, ((seq, at, event), end) in enumerate(zip(starts, ends, strict=False))
    ]
