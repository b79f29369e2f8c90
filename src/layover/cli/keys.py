"""`layover keys`: API keys of servers, made and ended on a database or on a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
from layover.cli.exits import BAD_INPUT, DONE, UNKNOWN, Stop
from layover.cli.options import HERE, At, Json, acting
from layover.cli.screen import moment, note, print_json, print_table, say
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import ApiKey, NewApiKey
    from layover.interface.door import Door

_SHORTEST = 6

keys = App(name="keys", help="API keys of servers: make, list, replace and end them.")

Name = Annotated[str, Parameter(help="What it is for.")]
User = Annotated[str, Parameter(name="--user", help="The user who acts with it.")]
Roles = Annotated[
    tuple[str, ...],
    Parameter(
        name="--role",
        consume_multiple=False,
        negative="",
        help="A role: viewer, approver, operator, admin, or one of your own; may be given several times.",
    ),
]
Scopes = Annotated[
    tuple[str, ...],
    Parameter(
        name="--scope",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Of what the roles permit, only this; may be given several times.",
    ),
]
ExpiresIn = Annotated[str | None, Parameter(name="--expires-in", help="How long it works, such as 90d.")]
Grace = Annotated[str | None, Parameter(name="--grace", help="How long the old one still works, such as 1h.")]
KeyName = Annotated[
    str, Parameter(help="The id of a key, or the first six or more characters of its id or of the key.")
]


@keys.command
def add(  # noqa: PLR0913 - each is an option
    name: Name,
    /,
    *,
    user: User,
    role: Roles,
    scope: Scopes = (),
    expires_in: ExpiresIn = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """Make a key and print it: only its hash is stored, so this is the only time."""

    async def made() -> NewApiKey:
        async with door_to_act(at, acting(at, "")) as door:
            return await door.create_api_key(name, user=user, roles=role, scopes=scope or None, expires_in=expires_in)

    return _show(asyncio.run(made()), json=json)


@keys.command(name="ls")
def list_keys(*, at: At = HERE, json: Json = False) -> int:
    """List keys, the oldest first, also those that have ended; never the keys themselves."""

    async def all_keys() -> Sequence[ApiKey]:
        async with door_to_read(at) as door:
            return await door.api_keys().all()

    found = asyncio.run(all_keys())
    if json:
        print_json(Page(items=tuple(found)))
        return DONE
    if not found:
        say("No keys.")
        return DONE
    table = [["ID", "KEY", "NAME", "USER", "ROLES", "CREATED", "ENDS"]]
    table += [
        [
            key.id,
            f"{key.prefix}…",
            key.name,
            key.user,
            ",".join(key.roles),
            moment(key.created_at),
            moment(key.ended_at or key.expires_at),
        ]
        for key in found
    ]
    print_table(table)
    return DONE


@keys.command
def rotate(key_id: KeyName, /, *, grace: Grace = None, at: At = HERE, json: Json = False) -> int:
    """Make a key in the place of another and print it; the old one ends, at once or after a while."""

    async def made() -> NewApiKey:
        async with door_to_act(at, acting(at, "")) as door:
            return await door.rotate_api_key(await _named(door, key_id), grace=grace)

    return _show(asyncio.run(made()), json=json)


@keys.command
def end(key_id: KeyName, /, *, at: At = HERE) -> int:
    """End a key: from then on no server accepts it."""

    async def ended() -> str:
        async with door_to_act(at, acting(at, "")) as door:
            id_ = await _named(door, key_id)
            await door.delete_api_key(id_)
            return id_

    say(f"The key {asyncio.run(ended())} has ended.")
    return DONE


async def _named(door: Door, name: str) -> str:
    """Return the id of the key that a name stands for."""
    if len(name) < _SHORTEST:
        raise Stop(f"`{name}` is too short; give at least {_SHORTEST} characters.")
    found = [key.id async for key in door.api_keys() if key.id.startswith(name) or key.prefix.startswith(name)]
    if len(found) > 1:
        raise Stop(f"`{name}` is the beginning of several; give more of it.", BAD_INPUT, details=tuple(found))
    if not found:
        raise Stop(f"There is no key {name}.", UNKNOWN, hint="`layover keys ls` lists the keys.")
    return found[0]


def _show(made: NewApiKey, *, json: bool) -> int:
    if json:
        print_json(made)
        return DONE
    say(made.key or "")
    until = f", until {moment(made.expires_at)}" if made.expires_at is not None else ""
    note(f"This is the key {made.id}{until}. It is not shown again.")
    return DONE
