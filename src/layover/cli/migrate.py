"""`layover migrate`: a database in the schema that this release needs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from cyclopts import Parameter

from layover.admin import MigrationReport, migrate, schema_of, without_password
from layover.admin.addresses import file_of
from layover.cli.exits import DONE, WRONG_STATE
from layover.cli.options import IN, In, Json
from layover.cli.screen import print_json, say

Check = Annotated[
    bool, Parameter(name="--check", negative="", show_default=False, help="Only say whether there is something to do.")
]
To = Annotated[
    int | None,
    Parameter(name="--to", show_default=False, help="The schema to bring it to, up or back, instead of the newest."),
]


def migrate_database(*, check: Check = False, to: To = None, at: In = IN, json: Json = False) -> int:
    """Make a database, or bring it up to date with this release; one that is up to date stays as it is.

    With `--check` nothing is changed, and the exit code is 4 if there is something to do. With `--to` it can be brought
    back to the schema of an older release, while no instance runs; what only the newer schema holds is lost.
    """
    db = at.address
    done = asyncio.run(_checked(db) if check else migrate(db, to=to))
    shown, wanted = without_password(db), done.newest if to is None else to
    if json:
        print_json(done)
    elif check:
        say(_status_line(shown, done.before, wanted))
    elif done.before == done.after:
        say(f"{shown} is up to date (schema {done.after}).")
    else:
        say(f"{shown}: schema {done.before if done.before is not None else 'none'} → {done.after}")
    return WRONG_STATE if check and done.before != wanted else DONE


async def _checked(db: str) -> MigrationReport:
    schema = await schema_of(db)
    return MigrationReport(before=schema.current, after=schema.current, newest=schema.newest)


def _status_line(db: str, current: int | None, newest: int) -> str:
    if current is None:
        path = file_of(db)
        return f"{db} is not a database of Layover." if path is not None and path.exists() else f"{db} does not exist."
    if current > newest:
        return f"{db} was written by a newer release (schema {current}; this one knows {newest})."
    if current == newest:
        return f"{db} is up to date (schema {current})."
    return f"{db} has schema {current}; {newest} is needed."
