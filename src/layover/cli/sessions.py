"""`layover sessions`: browsers that have signed in, on a database or on a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
from layover.cli.exits import BAD_INPUT, DONE, Stop
from layover.cli.options import HERE, At, Json, acting
from layover.cli.screen import moment, print_json, print_table, say
from layover.errors import NotFound
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import OpenSession

sessions = App(name="sessions", help="Browsers that have signed in: list their sessions, and end them.")

SessionId = Annotated[str | None, Parameter(help="The id of a session.")]
OfUser = Annotated[str | None, Parameter(name="--user", help="Only sessions of this user.")]
AllOf = Annotated[str | None, Parameter(name="--user", help="End all sessions of this user instead.")]


@sessions.command(name="ls")
def list_sessions(*, user: OfUser = None, at: At = HERE, json: Json = False) -> int:
    """List the sessions that have not ended, the oldest first; without the permission `admin` your own."""

    async def found() -> Sequence[OpenSession]:
        async with door_to_read(at) as door:
            return await door.sessions(user=user).all()

    rows = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(rows)))
        return DONE
    if not rows:
        say("No sessions.")
        return DONE
    table = [["ID", "USER", "ROLES", "OPENED BY", "SINCE", "ENDS"]]
    table += [
        [one.id, one.user, ",".join(one.roles), one.opened_by, moment(one.created_at), moment(one.expires_at)]
        for one in rows
    ]
    print_table(table)
    return DONE


@sessions.command
def end(session_id: SessionId = None, /, *, user: AllOf = None, at: At = HERE) -> int:
    """End a session, or all sessions of a user: the browser has to sign in again.

    Other servers on the same database let a session in for two more seconds at most.
    """
    if (session_id is None) == (user is None):
        raise Stop("Give the id of a session, or --user.", BAD_INPUT, hint="`layover sessions ls` lists the sessions.")

    async def ended() -> int:
        async with door_to_act(at, acting(at, "")) as door:
            if session_id is not None:
                await door.end_session(session_id)
                return 1
            count = 0
            for one in await door.sessions(user=user).all():
                try:
                    await door.end_session(one.id)
                except NotFound:  # it has ended by itself
                    continue
                count += 1
            return count

    count = asyncio.run(ended())
    if session_id is not None:
        say(f"The session {session_id} has ended.")
    else:
        say(f"{count} {'session' if count == 1 else 'sessions'} of {user} ended.")
    return DONE
