"""What the log says of the opening of a pause point: the signal that it waits for, what a person is to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover import PausePoint
    from layover.interface.door import Door


async def opening_of(door: Door, point: PausePoint) -> Mapping[str, object]:
    """Return the data of the event that opened a pause point."""
    execution = await door.execution(point.execution_id)
    async for event in execution.history():
        if event.type == "PausePointOpened" and event.data.get("point") == point.id:
            return event.data
    return {}


def details_of(opening: Mapping[str, object]) -> Mapping[str, object]:
    """Return the details of an opening."""
    details = opening.get("details")
    return details if isinstance(details, dict) else {}
