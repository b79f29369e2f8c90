"""`layover links`: links by which people reach the page of a pause point."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act
from layover.cli.exits import DONE
from layover.cli.id_prefix import point_named
from layover.cli.options import HERE, At, By, Json, PointName, acting
from layover.cli.screen import print_json, say

if TYPE_CHECKING:
    from layover import PointLink

links = App(name="links", help="Links by which people reach the page of a pause point: make and revoke them.")

User = Annotated[str, Parameter(help="The user whom the link is for.")]
OnlyUser = Annotated[str | None, Parameter(name="--user", help="Only the links of this user.")]
ExpiresIn = Annotated[str | None, Parameter(name="--expires-in", help="How long it works, such as 2d.")]


@links.command
def create(
    point: PointName, user: User, /, *, expires_in: ExpiresIn = None, by: By = "", at: At = HERE, json: Json = False
) -> int:
    """Make a link for a user, and print it: it is shown this once."""

    async def made() -> PointLink:
        async with door_to_act(at, acting(at, by)) as door:
            return await (await point_named(door, point)).create_link(user, expires_in=expires_in)

    link = asyncio.run(made())
    if json:
        print_json(link)
    else:
        say(link.url or "")
    return DONE


@links.command
def revoke(point: PointName, /, *, user: OnlyUser = None, by: By = "", at: At = HERE) -> int:
    """Let links to a pause point lead nowhere from now on: all, or those of one user."""

    async def revoked() -> int:
        async with door_to_act(at, acting(at, by)) as door:
            return await (await point_named(door, point)).revoke_links(user)

    count = asyncio.run(revoked())
    say(f"{count} {'link is' if count == 1 else 'links are'} revoked.")
    return DONE
