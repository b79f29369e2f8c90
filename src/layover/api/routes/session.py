"""Signing in once with a key, and then being known by a cookie: for pages in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.durations import milliseconds_of
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Routes
from layover.core.moments import Moment
from layover.model.access import OpenSession, Session, SessionBody, SignInLink, SignInLinkBody
from layover.model.shared import Page
from layover.service.permissions import caller_of
from layover.service.sessions import session_credential

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.model.access import Caller
    from layover.ports.access import SessionRow

routes = Routes("Session", "Signing in once with a key, and then being known by a cookie: for pages in a browser.")


@routes.post(
    "/session",
    open="anybody",
    body=SessionBody,
    largest_body=20_000,
    answers={201: Session},
    problems=("unauthenticated", "cross_site"),
)
async def sign_in(call: Request[SessionBody, NoQuery]) -> Response:
    """Open a session with a key or a JWT: for twelve hours at most, and no longer than what opens it.

    The answer sets a cookie, which counts together with the header `X-Layover-Console: 1` and only on requests from the
    server's own pages.
    """
    services = call.services
    services.sessions.check_origin(call.scope, call.headers)
    services.guesses.check(call.scope)
    identity = await services.guard.identify(call.body.key)
    if identity is None:
        services.guesses.note(call.scope, call.body.key, call.request_id)
        await services.sessions.note_refused(call, "key")
        headers = {"www-authenticate": "Bearer"}
        raise Refusal("unauthenticated", "This key is not valid.", headers=headers)
    row, cookie = await services.sessions.open(call, identity)
    caller = caller_of(row.user, row.roles, session_credential(row.id), row.scopes)
    location = {"location": f"{call.base}/api/v1/session"}
    return Response(_session(caller, row), 201, location, cookies=(cookie,))


@routes.get("/session", open="known", answers={200: Session})
async def get_session(call: Request[None, NoQuery]) -> Response:
    """Tell who is signed in, and until when."""
    sessions = call.services.sessions
    row = await sessions.find(sessions.token_in(call.scope, call.headers))
    is_by_cookie = row is not None and call.caller.credential == session_credential(row.id)
    return Response(_session(call.caller, row if is_by_cookie else None))


@routes.delete("/session", open="known", answers={204: None})
async def sign_out(call: Request[None, NoQuery]) -> Response:
    """End the session at once, here and on all instances."""
    return Response(status=204, cookies=(await call.services.sessions.end(call),))


class SessionsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of the sessions."""

    user: Annotated[str, Meta(max_length=255, description="Only those of this user.")] | None = None
    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get(
    "/sessions", open="known", query=SessionsQuery, answers={200: Page[OpenSession]}, problems=("malformed_cursor",)
)
async def list_sessions(call: Request[None, SessionsQuery]) -> Response:
    """List the sessions that have not ended, the oldest first; without `admin` those of the caller."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.access.sessions(query.user, limit, query.cursor))


@routes.delete("/sessions/{id}", open="known", answers={204: None}, problems=("unknown_session",))
async def end_session(call: Request[None, NoQuery]) -> Response:
    """End a session at once: one of the caller's own, or with `admin` any."""
    await call.service.access.end_session(call.path["id"])
    return Response(status=204)


def _not_shown_again(reply: Response) -> Response:
    """Return what is kept of an answer with a link: all but that."""
    made = reply.value
    return Response(msgspec.structs.replace(made, url=None) if isinstance(made, SignInLink) else None, reply.status)


@routes.post("/sign-in-links", needs=("admin",), body=SignInLinkBody, answers={201: SignInLink}, kept=_not_shown_again)
async def create_sign_in_link(call: Request[SignInLinkBody, NoQuery]) -> Response:
    """Make a link that signs one browser in as a user, once: for ten minutes, unless it is said otherwise.

    It is shown this once: not even the same request again shows it a second time.
    """
    body = call.body
    lasts = milliseconds_of("expires_in", body.expires_in, least=1)
    made = await call.service.access.create_sign_in_link(body.user, body.roles, body.scopes, lasts)
    return Response(made, 201)


def _session(caller: Caller, row: SessionRow | None) -> Session:
    return Session(
        user=caller.user,
        roles=tuple(caller.roles),
        permissions=caller.permissions,
        credential=caller.credential,
        expires_at=Moment.of(row.expires_at) if row is not None else None,
    )
