"""`layover claim`, `release`, `ask` and `reply`: what people do at a pause point before they answer it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.acknowledgement import say_stored
from layover.cli.doors import door_to_act, is_applied
from layover.cli.exits import DONE
from layover.cli.id_prefix import point_named
from layover.cli.options import HERE, At, By, Json, PointName, Roles, acting
from layover.cli.screen import print_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import PausePoint, PausePointHandle
    from layover.cli.options import Target, Who

Take = Annotated[bool, Parameter(name="--take", negative=(), help="Also from a person who has claimed it.")]
QuestionText = Annotated[str, Parameter(help="What to ask.", allow_leading_hyphen=True)]
ReplyText = Annotated[str, Parameter(help="The reply.", allow_leading_hyphen=True)]
To = Annotated[
    str | None, Parameter(name="--to", show_default=False, help="Whom to ask. Default: who started the execution.")
]
Number = Annotated[
    int | None,
    Parameter(name="--number", show_default=False, help="Which question, from 1 on. Default: the oldest open one."),
]


def claim(
    point: PointName,
    /,
    *,
    take: Take = False,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Claim a pause point for 15 minutes, so that nobody else answers it meanwhile."""
    who = acting(at, by, role)
    found, applied = asyncio.run(_done(point, at, who, lambda one: one.claim(take=take)))
    until = f" until {found.claimed_until}" if found.claimed_until is not None else ""
    return _told(found, f"{_place(found)} is yours{until}.", at, applied=applied, json=json)


def release(point: PointName, /, *, by: By = "", role: Roles = (), at: At = HERE, json: Json = False) -> int:
    """Give back your claim of a pause point."""
    who = acting(at, by, role)
    found, applied = asyncio.run(_done(point, at, who, lambda one: one.release()))
    return _told(found, f"{_place(found)} is free for others.", at, applied=applied, json=json)


def ask(  # noqa: PLR0913 - each is an option
    point: PointName,
    question: QuestionText,
    /,
    *,
    to: To = None,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Ask back before you answer a pause point; it stays open."""
    who = acting(at, by, role)
    found, applied = asyncio.run(_done(point, at, who, lambda one: one.ask(question, to=to)))
    asked = found.questions[-1].to if found.questions else "the requester"
    return _told(found, f"{asked} is asked about {_place(found)}.", at, applied=applied, json=json)


def reply(  # noqa: PLR0913 - each is an option
    point: PointName,
    text: ReplyText,
    /,
    *,
    number: Number = None,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Reply to a question that was asked back at a pause point."""
    who = acting(at, by, role)
    found, applied = asyncio.run(_done(point, at, who, lambda one: one.reply(text, number=number)))
    return _told(found, f"The reply stands at {_place(found)}.", at, applied=applied, json=json)


async def _done(
    name: str, at: Target, who: Who, act: Callable[[PausePointHandle], Awaitable[PausePointHandle]]
) -> tuple[PausePoint, bool]:
    async with door_to_act(at, who) as door:
        found = await act(await point_named(door, name))
        return found.info, is_applied(door)


def _told(found: PausePoint, what: str, at: Target, *, applied: bool, json: bool) -> int:
    if json:
        print_json(found)
    else:
        say_stored(what, at, applied=applied)
    return DONE


def _place(point: PausePoint) -> str:
    return f"{point.execution_id}:{point.context_id}"
