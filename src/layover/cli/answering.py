"""`layover answer`, `approve` and `reject`: what people do to pause points."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.client import to_act
from layover.cli.exits import DONE, WRONG_STATE, Stop
from layover.cli.given import given_data
from layover.cli.names import point_named
from layover.cli.options import DEFAULT_DB, By, Db, Json, PointName, Roles, person
from layover.cli.resources import context_of, point_resource
from layover.cli.screen import print_json
from layover.cli.taking import say_taken

if TYPE_CHECKING:
    from layover.ports.records import PointRow

Data = Annotated[
    str | None,
    Parameter(help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
DataOption = Annotated[
    str | None,
    Parameter(name="--data", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
Comment = Annotated[
    str, Parameter(name="--comment", show_default=False, help="What to say with it.", allow_leading_hyphen=True)
]


def answer(
    point: PointName,
    data: Data = None,
    /,
    *,
    by: By = "",
    role: Roles = (),
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> int:
    """Answer a form with data that fits its schema."""
    return _answer(point, db, _Given(given_data(data, "DATA"), by, role), json=json)


def approve(  # noqa: PLR0913 - each is an option
    point: PointName,
    /,
    *,
    comment: Comment = "",
    data: DataOption = None,
    by: By = "",
    role: Roles = (),
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> int:
    """Approve what waits for a decision."""
    given = _Given(given_data(data, "--data"), by, role, approved=True, comment=comment)
    return _answer(point, db, given, json=json)


def reject(  # noqa: PLR0913 - each is an option
    point: PointName,
    /,
    *,
    comment: Comment = "",
    data: DataOption = None,
    by: By = "",
    role: Roles = (),
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> int:
    """Reject what waits for a decision."""
    given = _Given(given_data(data, "--data"), by, role, approved=False, comment=comment)
    return _answer(point, db, given, json=json)


class _Given:
    """What somebody says, and who they are."""

    def __init__(
        self, data: object, by: str, roles: tuple[str, ...], *, approved: bool | None = None, comment: str = ""
    ) -> None:
        self.data = data
        self.by = person(by)
        self.roles = roles
        self.approved = approved
        self.comment = comment


def _answer(name: str, db: str, given: _Given, *, json: bool) -> int:
    row = asyncio.run(_take(name, db, given))
    if json:
        print_json(point_resource(row))
        return DONE
    verb = {None: "answered", True: "approved", False: "rejected"}[given.approved]
    more = "" if row.status != "open" else " (more decisions are needed)"
    say_taken(f"{row.execution_id}:{context_of(row)} is {verb} by {given.by or 'somebody'}{more}.", db)
    return DONE


async def _take(name: str, db: str, given: _Given) -> PointRow:
    async with to_act(db) as client:
        row = await point_named(client, name)
        _check_kind(row, given.approved)
        await client.answer(
            row.point.id,
            given.data,
            by=given.by,
            roles=given.roles,
            approved=given.approved,
            comment=given.comment,
        )
        return await client.point(row.point.id) or row


def _check_kind(row: PointRow, approved: bool | None) -> None:  # noqa: FBT001 - as the engine has it
    """Refuse a decision where data is asked for, which would be taken for an answer without any."""
    if approved is not None and row.point.kind == "form":
        hint = f"`layover answer {row.execution_id}:{context_of(row)} DATA` does."
        raise Stop(f"`{context_of(row)}` asks for an answer, not for a decision.", WRONG_STATE, hint=hint)
