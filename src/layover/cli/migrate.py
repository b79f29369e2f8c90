"""`layover migrate`: a database in the shape that this release needs."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

from cyclopts import Parameter

from layover.bootstrap import file_of, inspectable_store, shape_of
from layover.cli.exits import DONE, WRONG_STATE
from layover.cli.options import DEFAULT_DB, Db, Json
from layover.cli.screen import print_json, say, without_password

Check = Annotated[
    bool, Parameter(name="--check", negative="", show_default=False, help="Only say whether there is something to do.")
]


def migrate_database(*, check: Check = False, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Make a database, or bring it up to date with this release; one that is up to date stays as it is.

    With `--check` nothing is changed, and the exit code is 4 if there is something to do.
    """
    before = shape_of(db).taken
    if not check:
        asyncio.run(_open(db))
    shape, shown = shape_of(db), without_password(db)
    if json:
        print_json({"before": before, "after": shape.taken, "newest": shape.newest})
    elif check:
        say(_told(shown, before, shape.newest))
    elif before == shape.taken:
        say(f"{shown} is up to date (schema {shape.taken}).")
    else:
        say(f"{shown}: schema {before if before is not None else 'none'} → {shape.taken}")
    return WRONG_STATE if check and before != shape.newest else DONE


def _told(db: str, taken: int | None, newest: int) -> str:
    if taken is None:
        path = file_of(db)
        return f"{db} is not a database of Layover." if path is not None and path.exists() else f"{db} does not exist."
    if taken > newest:
        return f"{db} was written by a newer release (schema {taken}; this one knows {newest})."
    return (
        f"{db} is up to date (schema {taken})." if taken == newest else f"{db} has schema {taken}; {newest} is needed."
    )


async def _open(db: str) -> None:
    """Open a database for writing, which is what brings it up to date."""
    store = inspectable_store(db)
    await store.open(f"migrate-{os.getpid()}")
    await store.close()
