"""Keys to use this interface with, and who the caller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from layover.api.durations import milliseconds_of
from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.access import ApiKey, Caller, KeyBody, NewApiKey, RotateBody
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Keys", "Keys to use this interface with, and who the caller is.")


class KeysQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of the keys."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


def _not_shown_again(reply: Response) -> Response:
    """Return what is kept of an answer with a key: all but that."""
    made = reply.value
    return Response(msgspec.structs.replace(made, key=None) if isinstance(made, NewApiKey) else None, reply.status)


@routes.get("/me", open="known", answers={200: Caller})
async def me(call: Request[None, NoQuery]) -> Response:
    """Tell who the caller is, and what they may do."""
    return Response(call.caller)


@routes.post("/keys", needs=("admin",), body=KeyBody, answers={201: NewApiKey}, kept=_not_shown_again)
async def add_key(call: Request[KeyBody, NoQuery]) -> Response:
    """Make a key, which is shown this once: not even the same request again shows it a second time."""
    body = call.body
    lasts = milliseconds_of("expires_in", body.expires_in, least=1)
    made = await call.service.access.create_api_key(body.name, body.user, body.roles, body.scopes, lasts)
    return Response(made, 201)


@routes.get("/keys", needs=("admin",), query=KeysQuery, answers={200: Page[ApiKey]}, problems=("malformed_cursor",))
async def list_keys(call: Request[None, KeysQuery]) -> Response:
    """List all keys, the oldest first, also those that have ended; never the keys themselves."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.access.api_keys(limit, query.cursor))


@routes.delete("/keys/{id}", needs=("admin",), answers={204: None}, problems=("unknown_key",))
async def end_key(call: Request[None, NoQuery]) -> Response:
    """End a key at once."""
    await call.service.access.delete_api_key(call.path["id"])
    return Response(status=204)


@routes.post(
    "/keys/{id}/rotate",
    needs=("admin",),
    body=RotateBody,
    body_required=False,
    answers={201: NewApiKey},
    problems=("unknown_key",),
    kept=_not_shown_again,
)
async def rotate_key(call: Request[RotateBody, NoQuery]) -> Response:
    """Make a key in the place of another, for the same user and as long as that one; the old one ends after `grace`."""
    grace = milliseconds_of("grace", call.body.grace)
    return Response(await call.service.access.rotate_api_key(call.path["id"], grace), 201)
