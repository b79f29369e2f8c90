"""People: the table of the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.people import Person, PersonBody
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "People",
    "How people can be reached: a small table, for those who have no other directory. A person who is known to a "
    "program or a file is shown by name, and changes there.",
)

_NEEDS: Final = ("admin",)


class PeopleQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of people."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


@routes.get("/people", needs=_NEEDS, query=PeopleQuery, answers={200: Page[Person]}, problems=("malformed_cursor",))
async def list_people(call: Request[None, PeopleQuery]) -> Response:
    """List the people in the table by name."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.people.list(limit, query.cursor))


@routes.get("/people/{user}", needs=_NEEDS, answers={200: Person}, problems=("unknown_person",))
async def get_person(call: Request[None, NoQuery]) -> Response:
    """Show a person as all parts of the directory know them."""
    return Response(await call.service.people.get(call.path["user"]))


@routes.put("/people/{user}", needs=_NEEDS, body=PersonBody, body_required=False, answers={200: Person})
async def save_person(call: Request[PersonBody, NoQuery]) -> Response:
    """Create or replace a person in the table."""
    return Response(await call.service.people.save(call.path["user"], call.body))


@routes.delete("/people/{user}", needs=_NEEDS, answers={204: None}, problems=("unknown_person",))
async def delete_person(call: Request[None, NoQuery]) -> Response:
    """Delete a person from the table."""
    await call.service.people.delete(call.path["user"])
    return Response(status=204)
