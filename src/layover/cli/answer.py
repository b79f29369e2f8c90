"""`layover answer`, `approve`, `reject` and `delegate`: what people do to pause points."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from layover.cli.acknowledgement import say_stored
from layover.cli.doors import door_to_act, is_applied
from layover.cli.exits import DONE, WRONG_STATE, Stop
from layover.cli.id_prefix import point_named
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, Json, PointName, Reason, Roles, Who, acting
from layover.cli.screen import print_json

if TYPE_CHECKING:
    from layover import PausePoint
    from layover.cli.options import Target

Data = Annotated[
    str | None,
    Parameter(help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
DataOption = Annotated[
    str | None,
    Parameter(name="--data", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
Taker = Annotated[str, Parameter(help="The user who decides in your place.")]
Comment = Annotated[
    str,
    Parameter(
        name="--comment",
        show_default=False,
        help="A comment, which is stored with the decision.",
        allow_leading_hyphen=True,
    ),
]

Seen = Annotated[
    str | None,
    Parameter(name="--seen", help="The view of the point that you have read: refused if it shows something else."),
]


def answer(  # noqa: PLR0913 - each is an option
    point: PointName,
    data: Data = None,
    /,
    *,
    seen: Seen = None,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Answer a form with data that fits its schema."""
    return _answer(point, at, _Given(acting(at, by, role), given_data(data, "DATA"), seen=seen), json=json)


def approve(  # noqa: PLR0913 - each is an option
    point: PointName,
    /,
    *,
    comment: Comment = "",
    data: DataOption = None,
    seen: Seen = None,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Approve an approval that is open."""
    given = _Given(acting(at, by, role), given_data(data, "--data"), approved=True, comment=comment, seen=seen)
    return _answer(point, at, given, json=json)


def reject(  # noqa: PLR0913 - each is an option
    point: PointName,
    /,
    *,
    comment: Comment = "",
    data: DataOption = None,
    seen: Seen = None,
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Reject an approval that is open."""
    given = _Given(acting(at, by, role), given_data(data, "--data"), approved=False, comment=comment, seen=seen)
    return _answer(point, at, given, json=json)


def delegate(  # noqa: PLR0913 - each is an option
    point: PointName,
    to: Taker,
    /,
    *,
    comment: Comment = "",
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Let another user decide at an approval in your place."""
    who = acting(at, by, role)

    async def passed_on() -> tuple[PausePoint, bool]:
        async with door_to_act(at, who) as door:
            delegated = await (await point_named(door, point)).delegate(to, comment=comment)
            return delegated.info, is_applied(door)

    found, applied = asyncio.run(passed_on())
    if json:
        print_json(found)
        return DONE
    say_stored(f"{to} decides at {found.execution_id}:{found.context_id} now.", at, applied=applied)
    return DONE


def take_back(
    point: PointName,
    /,
    *,
    reason: Reason = "",
    by: By = "",
    role: Roles = (),
    at: At = HERE,
    json: Json = False,
) -> int:
    """Take back your answer, as long as it is not final."""
    who = acting(at, by, role)

    async def revoked() -> tuple[PausePoint, bool]:
        async with door_to_act(at, who) as door:
            found = await (await point_named(door, point, "answered")).take_back(reason)
            return found.info, is_applied(door)

    found, applied = asyncio.run(revoked())
    if json:
        print_json(found)
        return DONE
    say_stored(f"The answer to {found.execution_id}:{found.context_id} is taken back.", at, applied=applied)
    return DONE


class _Given(NamedTuple):
    """An answer, and who gives it."""

    who: Who
    data: object
    approved: bool | None = None
    comment: str = ""
    seen: str | None = None


def _answer(name: str, at: Target, given: _Given, *, json: bool) -> int:
    point = asyncio.run(_take(name, at, given))
    if json:
        print_json(point)
        return DONE
    verb = {None: "answered", True: "approved", False: "rejected"}[given.approved]
    more = "" if point.status != "open" else " (more decisions are needed)"
    say_stored(f"{point.execution_id}:{point.context_id} is {verb} by {_by(point, given.who)}{more}.", at)
    return DONE


def _by(point: PausePoint, who: Who) -> str:
    """Return who answered: as --by says, or as the server knows the key."""
    last = point.decisions[-1].by if point.decisions else None
    return who.by or point.answered_by or last or "an unnamed user"


async def _take(name: str, at: Target, given: _Given) -> PausePoint:
    async with door_to_act(at, given.who) as door:
        point = await point_named(door, name)
        _check_open(point.info)
        _check_kind(point.info, given.approved)
        give = {None: point.answer, True: point.approve, False: point.reject}[given.approved]
        return (await give(given.data, comment=given.comment, seen=given.seen)).info


def _check_open(point: PausePoint) -> None:
    """Refuse what was answered: a server would take the same answer of the same person for the one that it has."""
    if point.status in ("answered", "applied"):
        place = f"{point.execution_id}:{point.context_id}"
        raise Stop(
            f"{place} was answered already.", WRONG_STATE, hint=f"`layover show {point.execution_id}` tells how."
        )


def _check_kind(point: PausePoint, approved: bool | None) -> None:  # noqa: FBT001 - as the engine has it
    """Refuse a decision where data is asked for, which would be taken for an answer without any."""
    if approved is not None and point.kind == "form":
        hint = f"`layover answer {point.execution_id}:{point.context_id} DATA` does."
        raise Stop(f"`{point.context_id}` asks for an answer, not for a decision.", WRONG_STATE, hint=hint)
