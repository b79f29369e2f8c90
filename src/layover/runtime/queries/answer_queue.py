"""The queue of answers that an execution has received, or is about to, and has not applied yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, get_args

from layover.core.engine.answers import Refused, schema_of
from layover.core.engine.command_codec import UNREADABLE, decode_command
from layover.core.engine.commands import PointAct
from layover.core.engine.conversations import reserve_act

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.state import ExecutionState
    from layover.ports.records import QueuedCommand

# A claim that was given back lets the answer of another person count.
_ACTS: Final = frozenset(kind.__name__ for kind in get_args(PointAct))


def positions(state: ExecutionState, unread: Iterable[QueuedCommand]) -> dict[str, int]:
    """Return the place of every answered point in the order in which they are applied, counted from 1.

    First come those that the execution knows of, then those among its unread commands, as they will come to be.
    """
    known = [state.answered.rows[turn] for turn in sorted(state.answered.rows)]
    waiting = dict.fromkeys(known)
    points = {id_: point for id_, point in state.points.rows.items() if id_ not in waiting}
    for command in unread:
        if command.kind not in _ACTS:
            continue
        try:
            given = cast("PointAct", decode_command(command.kind, command.body))
        except UNREADABLE:
            break  # an instance that can read it goes on from there
        point = points.get(given.point)
        if point is None:
            continue
        taken = reserve_act(point, schema_of(state, point), given, command.at)
        if not isinstance(taken, Refused):
            points[point.id] = taken
            if taken.status == "answered" and not taken.is_revocable:
                waiting.setdefault(point.id)
    return {id_: place for place, id_ in enumerate(waiting, start=1)}
