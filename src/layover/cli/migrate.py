"""`layover migrate`: a database in the shape that this release needs."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

from cyclopts import Parameter

from layover.bootstrap import file_of, inspectable_store, living_instances, migrate_to, shape_of
from layover.cli.exits import DONE, WRONG_STATE, Stop
from layover.cli.options import DEFAULT_DB, Db, Json
from layover.cli.screen import plural, print_json, say, without_password

Check = Annotated[
    bool, Parameter(name="--check", negative="", show_default=False, help="Only say whether there is something to do.")
]
To = Annotated[
    int | None,
    Parameter(name="--to", show_default=False, help="The schema to bring it to, up or back, instead of the newest."),
]


def migrate_database(*, check: Check = False, to: To = None, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Make a database, or bring it up to date with this release; one that is up to date stays as it is.

    With `--check` nothing is changed, and the exit code is 4 if there is something to do. With `--to` it can be brought
    back to the shape that an older release knows, while no instance runs; what only the newer one knows is lost.
    """
    before, after, newest = asyncio.run(_migrated(db, to, check=check))
    shown, wanted = without_password(db), newest if to is None else to
    if json:
        print_json({"before": before, "after": after, "newest": newest})
    elif check:
        say(_told(shown, before, wanted))
    elif before == after:
        say(f"{shown} is up to date (schema {after}).")
    else:
        say(f"{shown}: schema {before if before is not None else 'none'} → {after}")
    return WRONG_STATE if check and before != wanted else DONE


async def _migrated(db: str, to: int | None, *, check: bool) -> tuple[int | None, int | None, int]:
    """Bring a database to its shape, unless it is only looked at; return how far it was, is, and could be."""
    shape = await shape_of(db)
    if to is not None and not 0 <= to <= shape.newest:
        raise Stop(f"--to: there is no schema {to}; this release knows 0 to {shape.newest}.")
    if check:
        return shape.taken, shape.taken, shape.newest
    if to is None:
        await _open(db)
    else:
        await _check_unused(db)
        await migrate_to(db, to)
    return shape.taken, (await shape_of(db)).taken, shape.newest


async def _check_unused(db: str) -> None:
    living = await living_instances(db)
    if living:
        told = f"{plural(len(living), 'instance')} of it run: {', '.join(living)}"
        raise Stop(f"{without_password(db)} is in use; {told}.", WRONG_STATE, hint="Stop them first.")


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
