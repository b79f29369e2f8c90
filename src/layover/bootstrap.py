"""Where addresses become stores: the only place that names a concrete one."""

from __future__ import annotations

import re
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from layover.errors import LayoverError
from layover.ports.store import Inspectable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.nodes.registry import AnyFunction
    from layover.ports.store import Store
    from layover.ports.vitals import Vitals
    from layover.runtime.runtime import Runtime
    from layover.runtime.settings import RuntimeSettings
    from layover.stores.migrations import Shape
    from layover.stores.postgres.address import Address

DEFAULT = "sqlite:///layover.db"
_SECRET = re.compile(r"://[^@]*@|[?#].*")


class UnknownDatabase(LayoverError):  # noqa: N818 - it says what the database is
    """An address that leads to no store we know."""

    code = "unknown_database"


class MissingDriver(LayoverError):  # noqa: N818 - it says what there is not
    """An address of a database that nothing is installed for."""

    code = "missing_driver"


def open_store(address: str) -> Store:
    """Return the store at an address.

    It is such as `sqlite:///app.db` (three slashes: relative, four: absolute) or `postgresql://user@host/name`.
    """
    scheme, separator, rest = address.partition("://")
    if scheme == "sqlite" and separator and rest.startswith("/") and len(rest) > 1:
        from layover.stores.sqlite import SqliteStore  # noqa: PLC0415 - only who uses it loads it

        return SqliteStore(rest[1:])
    if _server_of(address) is not None:
        from layover.stores.postgres import PostgresStore  # noqa: PLC0415 - as above

        return PostgresStore(address)
    shown = _SECRET.sub("://", address)
    known = f"`{DEFAULT}` or `postgresql://user@host/name`"
    raise UnknownDatabase(f"`{shown}` is not the address of a database. One is written like {known}.")


def address_of(place: str) -> str:
    """Return the address of a database that is named by its address or by its path."""
    return place if "://" in place else f"sqlite:///{place}"


def file_of(place: str) -> Path | None:
    """Return the file behind an address, if it is one in a file."""
    scheme, _, rest = address_of(place).partition(":///")
    return Path(rest) if scheme == "sqlite" and rest else None


async def living_instances(place: str) -> list[str]:
    """Return the instances that have a database open and drive executions, as far as that can be seen."""
    server, path = _server_of(place), file_of(place)
    if server is not None:
        from layover.stores.postgres import admin as postgres_admin  # noqa: PLC0415 - as above

        return await postgres_admin.living_instances(server)
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    return sqlite_admin.living_instances(path) if path is not None else []


async def shape_of(place: str) -> Shape:
    """Return how far the tables of a database are, and how far this release would bring them."""
    server = _server_of(place)
    if server is not None:
        from layover.stores.postgres import admin as postgres_admin  # noqa: PLC0415 - as above

        return await postgres_admin.shape_of(server)
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    return sqlite_admin.shape_of(file_of(place) or Path())


async def migrate_to(place: str, number: int) -> None:
    """Bring the tables of a database that is there to the shape after a migration, up or down."""
    server, path = _server_of(place), file_of(place)
    if server is not None:
        from layover.stores.postgres import admin as postgres_admin  # noqa: PLC0415 - as above

        await postgres_admin.migrate_to(server, number)
    elif path is not None and path.is_file():
        from layover.stores.sqlite.connection import connect, translated  # noqa: PLC0415 - as above
        from layover.stores.sqlite.migrations import migrate  # noqa: PLC0415 - as above

        with closing(connect(path)) as db, translated(path):
            migrate(db, path, time.time_ns() // 1_000_000, number)
    else:
        await inspectable_store(place).open_to_read()  # which says that it is not there


async def library(place: str) -> tuple[str, str]:
    """Return what keeps a database, and its version; one that is known to lose data, or too old, is an error."""
    server = _server_of(place)
    if server is not None:
        from layover.stores.postgres import admin as postgres_admin  # noqa: PLC0415 - as above

        return "postgresql", await postgres_admin.library(server)
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    return "sqlite", sqlite_admin.library()


async def vitals_of(place: str) -> Vitals | None:
    """Return how carefully a database keeps what is written; None if there is none yet."""
    server, path = _server_of(place), file_of(place)
    if server is not None:
        from layover.stores.postgres import admin as postgres_admin  # noqa: PLC0415 - as above

        return await postgres_admin.vitals_of(server)
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    return sqlite_admin.vitals_of(path) if path is not None and path.is_file() and path.stat().st_size else None


def try_write(path: Path) -> None:
    """Raise an error if the file of a database cannot be written now."""
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    sqlite_admin.try_write(path)


def try_lock(folder: Path) -> None:
    """Raise an error if instances could not hold their locks in a folder."""
    from layover.stores.sqlite import admin as sqlite_admin  # noqa: PLC0415 - as above

    sqlite_admin.try_lock(folder)


def _server_of(place: str) -> Address | None:
    """Return the server behind an address, if it is one on a server."""
    if place.partition("://")[0] not in ("postgresql", "postgres"):
        return None
    if find_spec("asyncpg") is None:
        raise MissingDriver('For a database on PostgreSQL its driver is needed: pip install "layover[postgres]"')
    from layover.stores.postgres.address import read_address  # noqa: PLC0415 - as above

    return read_address(place)


def inspectable_store(place: str) -> Inspectable:
    """Return the store at an address, or in the file at a path, to be looked at."""
    store = open_store(address_of(place))
    if not isinstance(store, Inspectable):
        raise UnknownDatabase(f"The database `{_SECRET.sub('://', place)}` cannot be looked at without using it.")
    return store


def open_runtime(
    db: str = DEFAULT,
    *,
    nodes: Iterable[AnyFunction] = (),
    probes: Mapping[str, AnyFunction] | None = None,
    undos: Mapping[str, AnyFunction] | None = None,
    settings: RuntimeSettings | None = None,
) -> Runtime:
    """Return a runtime on the database at an address."""
    from layover.runtime.runtime import Runtime  # noqa: PLC0415 - as above: `layover check` runs nothing
    from layover.service.batch_acts import UserBatchActs  # noqa: PLC0415 - as above

    return Runtime(open_store(db), nodes=nodes, probes=probes, undos=undos, settings=settings, batch_acts=UserBatchActs)
