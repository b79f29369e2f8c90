"""Links to the decision page: making and revoking them, and who a visitor with a link is.

Whoever has a link may act as its user where links alone are believed, so only an admin makes one, and the audit log
says for whom. A visitor with a link has the roles that the directory knows, and may decide at that one point: the page
offers nothing else.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment
from layover.errors import InvalidInput, NotFound
from layover.model.access import Caller
from layover.model.name_rules import fault_in_name
from layover.model.points import PointLink
from layover.ports.access import NewLink
from layover.runtime.decision_links import has_form_of_token, hash_of, link_address, new_token
from layover.runtime.queries.views import context_of
from layover.service.answers import point_row

if TYPE_CHECKING:
    from layover.ports.access import LinkRow
    from layover.runtime.operations.operations import Opened
    from layover.service.actor import Actor

_GRANTED: Final = ("approval:decide", "execution:read")
_SHOWN: Final = 8  # characters of the hash, by which an entry of the audit log names a link
_FOR_PEOPLE: Final = frozenset({"approval", "form"})


async def create_link(actor: Actor, point_id: str, user: str, expires_in: int | None) -> PointLink:
    """Make a link by which a user reaches the page of a point."""
    actor.require("admin")
    if (fault := fault_in_name(user)) is not None:
        raise InvalidInput(f"`user`: {fault}.", (("user", fault),), code="invalid_parameter")
    if expires_in is not None and expires_in < 1:
        fault = "it has to be longer than nothing"
        raise InvalidInput(f"`expires_in`: {fault}.", (("expires_in", fault),), code="invalid_parameter")
    row = await point_row(actor, point_id)
    if row.point.kind not in _FOR_PEOPLE:
        raise NotFound(f"A {row.point.kind} is not answered by a person.", code="unknown_point")
    instance = actor.runtime.instance
    token, now = new_token(secrets.token_bytes), instance.clock.now()
    link = NewLink(
        hash=hash_of(token),
        point=row.point.id,
        user=user,
        made_at=now,
        expires_at=None if expires_in is None else now + expires_in,
    )
    entry = actor.entry(
        "link.create",
        row.point.id,
        execution_id=row.execution_id,
        context_id=context_of(row.point),
        link=_name_of(link.hash),
        for_user=user,
        expires_at=link.expires_at,
    )
    if not await instance.store.links.add(link, entry):
        raise NotFound(f"There is no pause point {point_id[:100]}.", code="unknown_point")
    return PointLink(
        url=link_address(instance.settings.public_url, token), user=user, expires_at=Moment.maybe(link.expires_at)
    )


async def revoke_links(actor: Actor, point_id: str, user: str | None) -> int:
    """Let the links to a point lead nowhere from now on: all, or those of one user; return how many there were."""
    actor.require("admin")
    row = await point_row(actor, point_id)
    instance = actor.runtime.instance
    entry = actor.entry(
        "link.revoke", row.point.id, execution_id=row.execution_id, context_id=context_of(row.point), for_user=user
    )
    return await instance.store.links.revoke(row.point.id, user, instance.clock.now(), entry)


async def find_link(runtime: Opened, token: str) -> LinkRow | None:
    """Return the link of a token, also one that has expired or was revoked."""
    return await runtime.instance.store.links.find(hash_of(token)) if has_form_of_token(token) else None


async def visitor_of(runtime: Opened, link: LinkRow) -> Caller:
    """Return the user of a link, with the roles that the directory knows, as a caller who may decide."""
    people = await runtime.instance.directory.people([link.user], [])
    roles = next((one.roles for one in people if one.user == link.user), ())
    return Caller(user=link.user, roles=tuple(roles), permissions=_GRANTED, credential=f"link {_name_of(link.hash)}")


def _name_of(hash_: bytes) -> str:
    return hash_.hex()[:_SHOWN]
