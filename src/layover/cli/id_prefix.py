"""What people call executions and pause points: whole ids, or as much of one as is needed to tell it from others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.cli.exits import BAD_INPUT, UNKNOWN, WRONG_STATE, Stop
from layover.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import ExecutionHandle, PausePointHandle
    from layover.interface.door import Door

_SHORTEST = 6
_MOST_TOLD = 5
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PART_OF_AN_ID = re.compile(r"[0-9a-f-]+")
_ASKING = ("approval", "form")


async def execution_named(door: Door, name: str) -> ExecutionHandle:
    """Return the execution that a name stands for."""
    id_ = name.lower()
    if not _UUID.fullmatch(id_):
        found = await _beginning_with(door, id_)
        if len(found) > 1:
            raise Stop(f"`{name}` is the beginning of several ids; give more of it.", BAD_INPUT, details=tuple(found))
        if not found:
            raise _unknown(name)
        id_ = found[0]
    try:
        return await door.execution(id_)
    except NotFound as error:
        raise _unknown(name) from error


async def point_named(door: Door, name: str, status: str = "open") -> PausePointHandle:
    """Return the pause point that a name stands for, be it closed; an execution stands for its only one of a status."""
    execution_name, _, context = name.partition(":")
    if not context and (found := await _point(door, execution_name.lower())) is not None:
        return found
    execution = await execution_named(door, execution_name)
    points = await execution.points(status=()).all()
    if context:
        return _at(points, execution.id, context)
    waiting = [point for point in points if point.status == status and point.kind in _ASKING]
    if len(waiting) > 1:
        told = tuple(f"{execution.id}:{point.context_id}" for point in waiting)
        raise Stop(f"{execution.id} waits for several answers; say which.", BAD_INPUT, details=told)
    if not waiting:
        hint = f"`layover why {execution.id}` tells what it waits for."
        raise Stop(f"{execution.id} is {execution.status}, and asks for no answer.", WRONG_STATE, hint=hint)
    return waiting[0]


async def _point(door: Door, id_: str) -> PausePointHandle | None:
    try:
        return await door.point(id_) if _UUID.fullmatch(id_) else None
    except NotFound:
        return None


def _at(points: Sequence[PausePointHandle], id_: str, context: str) -> PausePointHandle:
    """Return the point at a context id, or at the node of what a running function asks: the open one, or the last."""
    here = [point for point in points if context in (point.context_id, point.context_id.partition("/")[0])]
    if not here:
        hint = f"`layover show {id_}` lists its pause points."
        raise Stop(f"{id_} has no pause point at `{context}`.", UNKNOWN, hint=hint)
    return next((point for point in here if point.status == "open"), here[-1])


async def _beginning_with(door: Door, start: str) -> list[str]:
    if not _PART_OF_AN_ID.fullmatch(start):
        raise Stop(f"`{start}` is not an execution id; those are UUIDs.", hint="`layover ls` lists them.")
    if len(start) < _SHORTEST:
        raise Stop(f"`{start}` is too short; give at least {_SHORTEST} characters of an id.")
    found: list[str] = []
    async for one in door.executions():
        if one.id.startswith(start):
            found.append(one.id)
            if len(found) == _MOST_TOLD:
                break
    return found


def _unknown(name: str) -> Stop:
    return Stop(f"There is no execution {name}.", UNKNOWN, hint="`layover ls` lists the executions.")
