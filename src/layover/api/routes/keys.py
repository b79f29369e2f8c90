"""Keys to use this interface with, and who the caller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from layover.api.access.keys import key_credential, made_in_place_of, made_key
from layover.api.cursors import cursor_of, parsed_uuid
from layover.api.permissions import PERMISSIONS, permissions_of
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.access import Key, KeyBody, Me, NewKey, RotateBody
from layover.api.resources.problems import FieldError
from layover.api.resources.shared import Page
from layover.api.routing import Routes
from layover.api.serializers.access import key_of
from layover.core.definitions.durations import parse_duration
from layover.core.moments import moment
from layover.runtime.ids import MalformedId, checked_id

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.ports.access import Key as KeyRow

routes = Routes("Keys", "Keys to use this interface with, and who the caller is.")


class KeysQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of the keys."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


def _not_shown_again(reply: Reply) -> Reply:
    """Return what is kept of an answer with a key: all but that."""
    made = reply.value
    return Reply(msgspec.structs.replace(made, key=None) if isinstance(made, NewKey) else None, reply.status)


@routes.get("/me", open="known", answers={200: Me})
async def me(call: Request[None, NoQuery]) -> Reply:
    """Tell who the caller is, and what they may do."""
    caller = call.caller
    return Reply(
        Me(
            user=caller.user,
            roles=list(caller.roles),
            permissions=sorted(caller.permissions),
            credential=caller.credential,
        )
    )


@routes.post("/keys", needs=("admin",), body=KeyBody, answers={201: NewKey}, kept=_not_shown_again)
async def add_key(call: Request[KeyBody, NoQuery]) -> Reply:
    """Make a key, which is shown this once: not even the same request again shows it a second time."""
    body = call.body
    scopes = None if body.scopes is None else tuple(sorted(set(body.scopes)))
    unknown = [FieldError(path=f"scopes[{n}]", message=_unknown(name)) for n, name in _unknown_of(body.scopes)]
    if unknown:
        raise Refusal("invalid_body", "The body is not as it should be.", errors=unknown)
    lasts = None if body.expires_in is None else _length(body.expires_in, "expires_in", least=1)
    row, shown = made_key(
        call.engine.instance.clock.now(),
        name=body.name,
        user=body.user,
        roles=tuple(body.roles),
        by=call.caller.user,
        scopes=scopes,
        lasts=lasts,
    )
    _check_gift(call, row)
    entry = call.audit("key.add", row.id, user=row.user, roles=row.roles, scopes=row.scopes, expires_at=row.expires_at)
    await call.services.store.add_key(row, entry)
    return Reply(_shown(row, shown), 201)


@routes.get("/keys", needs=("admin",), query=KeysQuery, answers={200: Page[Key]}, problems=("malformed_cursor",))
async def list_keys(call: Request[None, KeysQuery]) -> Reply:
    """List all keys, the oldest first, also those that have ended; never the keys themselves."""
    settings, query = call.services.settings, call.query
    most = min(query.limit or settings.page, settings.longest_page)
    after = parsed_uuid(query.cursor)[1] if query.cursor is not None else ""
    rows = await call.services.store.keys(after, most + 1)
    following = cursor_of(rows[most - 1].created_at, rows[most - 1].id) if len(rows) > most else None
    return Reply(Page(items=[key_of(row) for row in rows[:most]], next=following))


@routes.delete("/keys/{id}", needs=("admin",), answers={204: None}, problems=("unknown_key",))
async def end_key(call: Request[None, NoQuery]) -> Reply:
    """End a key at once."""
    now = call.engine.instance.clock.now()
    row = await _found(call)
    is_ended = await call.services.store.end_key(row.id, now, call.audit("key.end", row.id, user=row.user))
    _forget(call, row.id)
    if not is_ended:
        raise _gone()
    return Reply(status=204)


@routes.post(
    "/keys/{id}/rotate",
    needs=("admin",),
    body=RotateBody,
    body_required=False,
    answers={201: NewKey},
    problems=("unknown_key",),
    kept=_not_shown_again,
)
async def rotate_key(call: Request[RotateBody, NoQuery]) -> Reply:
    """Make a key in the place of another, for the same user and as long as that one; the old one ends after `grace`."""
    now = call.engine.instance.clock.now()
    grace = 0 if call.body.grace is None else _length(call.body.grace, "grace", least=0)
    old = await _found(call)
    made = made_in_place_of(old, now, call.caller.user)
    if made is None:
        raise _gone()
    row, shown = made
    _check_gift(call, row)
    entry = call.audit("key.rotate", old.id, by=row.id, user=row.user, ends_at=now + grace)
    is_replaced = await call.services.store.replace_key(old.id, row, now + grace, entry)
    if grace:
        call.services.guard.forget(old.id)
    else:
        _forget(call, old.id)
    if not is_replaced:
        raise _gone()
    return Reply(_shown(row, shown), 201)


def _forget(call: Request[Any, Any], key_id: str) -> None:
    """Let a key that has ended in no more, and end what it follows."""
    call.services.guard.forget(key_id)
    call.services.streams.end(key_credential(key_id))


def _check_gift(call: Request[Any, Any], row: KeyRow) -> None:
    """Refuse a key that permits more than its maker may: nobody can give more than they have."""
    more = permissions_of(row.roles, row.scopes) - call.caller.permissions
    if more:
        raise Refusal("forbidden", f"A key cannot permit more than its maker may: {', '.join(sorted(more))}.")


async def _found(call: Request[None, NoQuery] | Request[RotateBody, NoQuery]) -> KeyRow:
    """Return the key whose id is in the path: the first one after the id before it."""
    try:
        key_id = checked_id(call.path["id"])
    except MalformedId as error:
        raise _gone() from error
    before = str(UUID(int=max(UUID(key_id).int - 1, 0)))
    rows = await call.services.store.keys(before, 1)
    if not rows or rows[0].id != key_id:
        raise _gone()
    return rows[0]


def _gone() -> Refusal:
    return Refusal("unknown_key", "There is no such key, or it has ended.")


def _unknown_of(scopes: list[str] | None) -> list[tuple[int, str]]:
    return [(n, name) for n, name in enumerate(scopes or ()) if name not in PERMISSIONS]


def _unknown(scope: str) -> str:
    return f"`{scope[:100]}` is no permission; those are {', '.join(sorted(PERMISSIONS))}"


def _length(text: str, path: str, *, least: int) -> int:
    try:
        length = parse_duration(text)
        if length < least:
            raise ValueError("it has to be longer than nothing")  # noqa: TRY301 - told like all others
    except ValueError as error:
        errors = [FieldError(path=path, message=str(error))]
        raise Refusal("invalid_body", "The body is not as it should be.", errors=errors) from error
    return length


def _shown(row: KeyRow, key: str) -> NewKey:
    return NewKey(id=row.id, key=key, prefix=row.prefix, expires_at=moment(row.expires_at))
