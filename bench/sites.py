"""Where the runtime is measured: an engine and a floor on empty databases of one kind, and what they did."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import asynccontextmanager, contextmanager
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from floor import Floor

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager

    from engines import Engine
    from floor import Asked, Id, Lease, Step


def _disk() -> tuple[Path, str]:
    """Return a folder for databases and its file system: one that is a disk, since /tmp may be memory."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    kinds = {Path(where): kind for where, kind in mounts}
    for place in (Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()):  # noqa: S108 - any disk will do
        found = place.resolve()
        kind = next(kinds[parent] for parent in (found, *found.parents) if parent in kinds)
        if kind not in ("tmpfs", "ramfs"):
            return found, kind
    raise SystemExit("There is no disk to measure on: set TMPDIR to a folder on one.")


FOLDER, FILE_SYSTEM = _disk()


class Counts(NamedTuple):
    """What was done so far: transactions that wrote, and where a server tells, the rest."""

    commits: int
    statements: int = 0
    wal_bytes: int = 0
    server_cpu: float = 0


class AnyFloor(Protocol):
    """What the floors have in common."""

    def new_id(self) -> Id:
        """Return an id for an execution."""

    async def execute(self, steps: list[Step]) -> None:
        """Write an execution from its beginning to its end."""

    async def go_on(self, id_: Id, steps: list[Step], done: int = 1, lease: Lease = ...) -> None:
        """Write an execution to its end."""

    def ask(self, id_: Id, step: Step, point: str, asked: Asked) -> asyncio.Future[None]:
        """Write the first append of an execution that rests at a pause point."""

    async def answer(self, id_: Id, step: Step, point: str, asked: Asked) -> None:
        """Write an answer to a pause point after the first step, and take up its execution."""

    def claim(self, id_: Id) -> asyncio.Future[None]:
        """Take up an execution."""

    def append(
        self, id_: Id, seq: int, step: Step, lease: Lease, *, closing: bool = False, point: str | None = None
    ) -> asyncio.Future[None]:
        """Write a later append."""


class Site(Protocol):
    """A kind of database, ready to be measured on."""

    @property
    def name(self) -> str:
        """What people call it."""

    def empty(self) -> AbstractAsyncContextManager[str]:
        """Give the address of an empty database for one round."""

    def floor(self, address: str) -> AbstractAsyncContextManager[AnyFloor]:
        """Give the floor on the database at an address."""

    async def counts(self, doer: Engine | AnyFloor) -> Counts:
        """Return what an engine or a floor has done so far."""

    async def hot(self, address: str) -> float:
        """Return which part of the updates of heads touched no index, if that can be told."""

    async def settle(self) -> None:
        """Do what the database does by itself some time after much was written."""


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder on the disk for one round."""
    path = Path(tempfile.mkdtemp(prefix="layover-bench-", dir=FOLDER))
    try:
        yield path
    finally:
        shutil.rmtree(path)


class SqliteSite:
    """Files."""

    name = "SQLite"

    @asynccontextmanager
    async def empty(self) -> AsyncIterator[str]:
        """Give the address of a file that is not there yet."""
        with folder() as place:
            yield f"sqlite:///{place / 'engine.db'}"

    def floor(self, address: str) -> AbstractAsyncContextManager[AnyFloor]:
        """Give the floor on a file."""
        return Floor(Path(address.removeprefix("sqlite:///")))

    async def counts(self, doer: Engine | AnyFloor) -> Counts:
        """Return how many transactions were written."""
        return Counts(told_by(doer, "transactions"))

    async def hot(self, _address: str) -> float:
        """There is nothing to tell."""
        return nan

    async def settle(self) -> None:
        """There is nothing to wait for."""


def told_by(doer: Engine | AnyFloor, counter: str) -> int:
    """Return what a counter stands at that a floor has, or the store of an engine, though it is no part of the port."""
    instance = getattr(doer, "instance", None)
    found: int = getattr(doer if instance is None else instance.store, counter)
    return found
