"""Where addresses become stores: the only place that names a concrete one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from layover.core.errors import LayoverError
from layover.ports.store import Inspectable
from layover.runtime.engine import Engine as _Engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.nodes.registry import AnyFunction
    from layover.ports.store import Store
    from layover.runtime.settings import Settings
    from layover.stores.sqlite.beside import Shape

DEFAULT = "sqlite:///layover.db"


class UnknownDatabase(LayoverError):  # noqa: N818 - it says what the database is
    """An address that leads to no store we know."""

    code = "unknown_database"


def open_store(address: str) -> Store:
    """Return the store at an address such as `sqlite:///app.db` (three slashes: relative, four: absolute)."""
    scheme, separator, rest = address.partition("://")
    if scheme == "sqlite" and separator and rest.startswith("/") and len(rest) > 1:
        from layover.stores.sqlite import SqliteStore  # noqa: PLC0415 - only who uses it loads it

        return SqliteStore(rest[1:])
    raise UnknownDatabase(f"`{address}` is no address of a database; use one such as `{DEFAULT}`.")


def address_of(place: str) -> str:
    """Return the address of a database that is named by its address or by its path."""
    return place if "://" in place else f"sqlite:///{place}"


def file_of(place: str) -> Path | None:
    """Return the file behind an address, if it is one in a file."""
    scheme, _, rest = address_of(place).partition(":///")
    return Path(rest) if scheme == "sqlite" and rest else None


def living_instances(place: str) -> list[str]:
    """Return the instances that have a database open and drive executions, as far as that can be seen."""
    from layover.stores.sqlite import beside  # noqa: PLC0415 - as above

    path = file_of(place)
    return beside.living_instances(path) if path is not None else []


def shape_of(place: str) -> Shape:
    """Return how far the tables of a database are, and how far this release would bring them."""
    from layover.stores.sqlite import beside  # noqa: PLC0415 - as above

    return beside.shape_of(file_of(place) or Path())


def library() -> str:
    """Return the version of the library behind the embedded store; one that is known to lose data is an error."""
    from layover.stores.sqlite import beside  # noqa: PLC0415 - as above

    return beside.library()


def try_lock(folder: Path) -> None:
    """Raise an error if instances could not hold their locks in a folder."""
    from layover.stores.sqlite import beside  # noqa: PLC0415 - as above

    beside.try_lock(folder)


def inspectable_store(place: str) -> Inspectable:
    """Return the store at an address, or in the file at a path, to be looked at."""
    store = open_store(address_of(place))
    if not isinstance(store, Inspectable):
        raise UnknownDatabase(f"The database `{place}` cannot be looked at without using it.")
    return store


class Engine(_Engine):
    """A durable workflow engine on the database at an address."""

    def __init__(
        self,
        db: str = DEFAULT,
        *,
        nodes: Iterable[AnyFunction] = (),
        probes: Mapping[str, AnyFunction] | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(open_store(db), nodes=nodes, probes=probes, settings=settings)
