"""What people call executions and pause points: whole ids, or as much of one as is needed to tell it from others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.cli.exits import BAD_INPUT, UNKNOWN, WRONG_STATE, Stop
from layover.core.errors import LayoverError
from layover.runtime.ids import MalformedId, checked_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.api.resources.points import PausePoint
    from layover.cli.client import Looking

_SHORTEST = 6
_PAGE = 1_000
_MOST_TOLD = 5
_PART_OF_AN_ID = re.compile(r"[0-9a-f-]+")
_ASKING = ("approval", "form")


async def execution_named(client: Looking, name: str) -> str:
    """Return the id of the execution that a name stands for."""
    try:
        return (await client.get(checked_id(name))).id
    except MalformedId:
        pass
    except LayoverError as error:
        if error.code != "unknown_execution":
            raise
        raise _unknown(name) from error
    found = await _beginning_with(client, name.lower())
    if not found:
        raise _unknown(name)
    if len(found) > 1:
        raise Stop(f"`{name}` is the beginning of several ids; give more of it.", BAD_INPUT, details=tuple(found))
    return found[0]


async def point_named(client: Looking, name: str) -> PausePoint:
    """Return the pause point that a name stands for, be it closed."""
    execution, _, context = name.partition(":")
    if not context:
        found = await client.point(execution.lower())
        if found is not None:
            return found
    id_ = await execution_named(client, execution)
    points = await client.points(id_)
    if context:
        return _at(points, id_, context)
    waiting = [point for point in points if point.status == "open" and point.kind in _ASKING]
    if len(waiting) > 1:
        told = tuple(f"{id_}:{point.context_id}" for point in waiting)
        raise Stop(f"{id_} waits for several answers; say which.", BAD_INPUT, details=told)
    if not waiting:
        execution_now = await client.get(id_)
        hint = f"`layover why {id_}` tells what it waits for."
        raise Stop(f"{id_} is {execution_now.status} and waits for nobody's answer.", WRONG_STATE, hint=hint)
    return waiting[0]


def _at(points: Sequence[PausePoint], id_: str, context: str) -> PausePoint:
    """Return the point at a context id, or at the node of what a running function asks: the open one, or the last."""
    here = [point for point in points if context in (point.context_id, point.context_id.partition("/")[0])]
    if not here:
        hint = f"`layover show {id_}` lists its pause points."
        raise Stop(f"{id_} has no pause point at `{context}`.", UNKNOWN, hint=hint)
    return next((point for point in here if point.status == "open"), here[-1])


async def _beginning_with(client: Looking, start: str) -> list[str]:
    if not _PART_OF_AN_ID.fullmatch(start):
        raise Stop(f"`{start}` is not an execution id; those are UUIDs.", hint="`layover ls` lists them.")
    if len(start) < _SHORTEST:
        raise Stop(f"`{start}` is too short; give at least {_SHORTEST} characters of an id.")
    found: list[str] = []
    cursor: str | None = None
    while len(found) < _MOST_TOLD:
        page = await client.list(cursor=cursor, limit=_PAGE)
        found += [one.id for one in page.items if one.id.startswith(start)]
        cursor = page.next
        if cursor is None:
            break
    return found[:_MOST_TOLD]


def _unknown(name: str) -> Stop:
    return Stop(f"There is no execution {name}.", UNKNOWN, hint="`layover ls` lists those that there are.")
