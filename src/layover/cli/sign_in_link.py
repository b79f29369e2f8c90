"""`layover sign-in-link`: a link that signs one browser in, made on a database or on a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.doors import door_to_act
from layover.cli.exits import DONE
from layover.cli.keys import Roles, Scopes  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.options import HERE, At, Json, acting
from layover.cli.screen import moment, note, print_json, say

if TYPE_CHECKING:
    from layover import SignInLink

User = Annotated[str, Parameter(name="--user", help="The user who signs in with it.")]
ExpiresIn = Annotated[
    str | None,
    Parameter(name="--expires-in", help="How long it works, such as 1h: 10 minutes by default, a day at most."),
]


def create_link(
    *, user: User, role: Roles, scope: Scopes = (), expires_in: ExpiresIn = None, at: At = HERE, json: Json = False
) -> int:
    """Make a link that signs one browser in, once, and print it.

    It leads to the public address of the server (`--url`), or to the one that is set for this database
    (LAYOVER_PUBLIC_URL). Only its hash is stored, so this is the only time that it is shown.
    """

    async def made() -> SignInLink:
        async with door_to_act(at, acting(at, "")) as door:
            return await door.create_sign_in_link(user, roles=role, scopes=scope or None, expires_in=expires_in)

    link = asyncio.run(made())
    if json:
        print_json(link)
        return DONE
    say(link.url or "")
    note(f"It signs one browser in as {link.user}, until {moment(link.expires_at)}. It is not shown again.")
    return DONE
