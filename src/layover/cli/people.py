"""`layover people`: the table of the directory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
from layover.cli.exits import DONE, Stop
from layover.cli.options import HERE, At, By, Json, acting
from layover.cli.screen import moment, print_json, print_table, say
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover import Person

people = App(name="people", help="How people can be reached: a small table, for those who have no other directory.")

User = Annotated[str, Parameter(help="The name of a user.")]
Roles = Annotated[
    tuple[str, ...],
    Parameter(name="--role", consume_multiple=False, negative="", show_default=False, help="A role they have."),
]
Mail = Annotated[str | None, Parameter(name="--mail", help="Where mail goes.")]
Chat = Annotated[str | None, Parameter(name="--chat", help="Their name in the chat.")]
Language = Annotated[str, Parameter(name="--language", help="Such as de.", show_default=False)]
Zone = Annotated[str, Parameter(name="--zone", help="Their time zone, such as Europe/Berlin.", show_default=False)]
AwayUntil = Annotated[str | None, Parameter(name="--away-until", help="A date or a time, in their zone.")]
Substitute = Annotated[
    str | None, Parameter(name="--substitute", help="Who decides in their place while they are away.")
]

Mute = Annotated[
    tuple[str, ...],
    Parameter(
        name="--mute",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A kind of notification that they do not get, such as pause.reminded, or all.",
    ),
]


@people.command(name="ls")
def list_people(*, at: At = HERE, json: Json = False) -> int:
    """List the people in the table by name."""

    async def found() -> list[Person]:
        async with door_to_read(at) as door:
            return [one async for one in door.people()]

    listed = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(listed)))
    elif not listed:
        say("No people.")
    else:
        rows = [[one.user, ", ".join(one.roles) or "-", _addresses(one), _away(one)] for one in listed]
        print_table([["USER", "ROLES", "ADDRESSES", "AWAY"], *rows])
    return DONE


@people.command
def show(user: User, /, *, at: At = HERE, json: Json = False) -> int:
    """Show a person as the directory knows them."""

    async def found() -> Person:
        async with door_to_read(at) as door:
            return await door.person(user)

    return _print_person(asyncio.run(found()), json=json)


@people.command
def save(  # noqa: PLR0913 - each is an option
    user: User,
    /,
    *,
    role: Roles = (),
    mail: Mail = None,
    chat: Chat = None,
    language: Language = "",
    zone: Zone = "",
    away_until: AwayUntil = None,
    substitute: Substitute = None,
    mute: Mute = (),
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Create or replace a person in the table: what is not given is not kept."""
    if substitute is not None and away_until is None:
        raise Stop("--substitute stands in for a person who is away: give --away-until as well.")
    addresses = {kind: one for kind, one in (("mail", mail), ("chat", chat)) if one is not None}
    away: dict[str, object] | None = None if away_until is None else {"until": away_until, "substitute": substitute}

    async def saved() -> Person:
        async with door_to_act(at, acting(at, by)) as door:
            return await door.save_person(
                user, roles=role, addresses=addresses, language=language, zone=zone, away=away, mute=mute
            )

    return _print_person(asyncio.run(saved()), json=json)


@people.command
def delete(user: User, /, *, by: By = "", at: At = HERE) -> int:
    """Delete a person from the table."""

    async def deleted() -> None:
        async with door_to_act(at, acting(at, by)) as door:
            await door.delete_person(user)

    asyncio.run(deleted())
    say(f"{user} is deleted.")
    return DONE


def _addresses(one: Person) -> str:
    return ", ".join(f"{kind} {address}" for kind, address in one.addresses.items()) or "-"


def _away(one: Person) -> str:
    if one.away is None:
        return "-"
    return f"until {moment(one.away.until)}{f', {one.away.substitute} stands in' if one.away.substitute else ''}"


def _print_person(one: Person, *, json: bool) -> int:
    if json:
        print_json(one)
        return DONE
    say(f"{one.user}: {_addresses(one)}")
    for name, value in (
        ("Roles", ", ".join(one.roles)),
        ("Language", one.language),
        ("Zone", one.zone),
        ("Away", _away(one) if one.away is not None else ""),
        ("Muted", ", ".join(one.mute)),
    ):
        if value:
            say(f"{name:<10}{value}")
    return DONE
