"""`layover keys`: keys to servers, made and ended on a database or on a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import App, Parameter

from layover.api.resources.access import KeyBody
from layover.api.resources.shared import Page
from layover.cli.access import to_access
from layover.cli.exits import BAD_INPUT, DONE, UNKNOWN, Stop
from layover.cli.options import HERE, At, Json, acting
from layover.cli.screen import moment, note, print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.api.resources.access import Key, NewKey
    from layover.cli.access import Access

_SHORTEST = 6

keys = App(name="keys", help="Keys to servers: make, list, replace and end them.")

Name = Annotated[str, Parameter(help="What it is for.")]
User = Annotated[str, Parameter(name="--user", help="Whose it is: this is who acts by it.")]
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
KeyName = Annotated[str, Parameter(help="The id of a key, or the first characters of either, six or more.")]


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
    """Make a key and print it: it is kept nowhere, so this is the only time."""
    given = {"name": name, "user": user, "roles": role, "scopes": scope or None, "expires_in": expires_in}
    try:
        body = msgspec.convert(given, KeyBody)
    except msgspec.ValidationError as error:
        raise Stop(f"This is no key: {error}.") from error

    async def made() -> NewKey:
        async with to_access(at, acting(at, ""), acts=True) as access:
            return await access.add(body)

    return _show(asyncio.run(made()), json=json)


@keys.command(name="ls")
def list_keys(*, at: At = HERE, json: Json = False) -> int:
    """List keys, the oldest first, also those that have ended; never the keys themselves."""

    async def all_keys() -> Sequence[Key]:
        async with to_access(at, acting(at, ""), acts=False) as access:
            return await access.keys()

    found = asyncio.run(all_keys())
    if json:
        print_json(Page(items=[*found]))
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

    async def made() -> NewKey:
        async with to_access(at, acting(at, ""), acts=True) as access:
            return await access.rotate(await _named(access, key_id), grace)

    return _show(asyncio.run(made()), json=json)


@keys.command
def end(key_id: KeyName, /, *, at: At = HERE) -> int:
    """End a key: from then on it opens nothing."""

    async def ended() -> str:
        async with to_access(at, acting(at, ""), acts=True) as access:
            id_ = await _named(access, key_id)
            await access.end(id_)
            return id_

    say(f"The key {asyncio.run(ended())} has ended.")
    return DONE


async def _named(access: Access, name: str) -> str:
    """Return the id of the key that a name stands for."""
    if len(name) < _SHORTEST:
        raise Stop(f"`{name}` is too short; give at least {_SHORTEST} characters.")
    found = [key.id for key in await access.keys() if key.id.startswith(name) or key.prefix.startswith(name)]
    if len(found) > 1:
        raise Stop(f"`{name}` is the beginning of several; give more of it.", BAD_INPUT, details=tuple(found))
    if not found:
        raise Stop(f"There is no key {name}.", UNKNOWN, hint="`layover keys ls` lists those that there are.")
    return found[0]


def _show(made: NewKey, *, json: bool) -> int:
    if json:
        print_json(made)
        return DONE
    say(made.key or "")
    until = f", until {moment(made.expires_at)}" if made.expires_at is not None else ""
    note(f"This is the key {made.id}{until}. It is not shown again.")
    return DONE
