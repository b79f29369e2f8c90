"""A PostgreSQL on a disk that is soon full. It is mounted for the server only, so nobody else sees it."""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import asyncpg

from tests.servers.binaries import server_owner
from tests.servers.postgres import connect, run
from tests.servers.server import PostgresServer

if TYPE_CHECKING:
    from types import TracebackType

_NEW_MOUNTS = 0x0002_0000  # CLONE_NEWNS
_PRIVATE = 0x0004_4000  # MS_REC | MS_PRIVATE
_DETACH = 2  # MNT_DETACH
_SIZE = "48m"  # an empty database takes nearly a quarter of it

_libc = ctypes.CDLL(None, use_errno=True)


def cannot_mount() -> bool:
    """Whether this process may not have mounts of its own; tried by a thread, which takes them with it."""
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(_own_mounts).result()
        except (OSError, AttributeError):  # it is not allowed, or there is no such thing here
            return True
        return False


def _own_mounts() -> None:
    """Let this thread, and what it starts, have mounts that nobody else sees."""
    _check(_libc.unshare(_NEW_MOUNTS))
    _check(_libc.mount(b"none", b"/", None, _PRIVATE, None))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class SmallDisk:
    """A server with a database on a small disk; its log of changes is elsewhere, as who runs a server has it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._server = PostgresServer(settings={"autovacuum": "off"})

    def __enter__(self) -> Self:
        self._thread.submit(self._start).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _start(self) -> None:
        _own_mounts()
        self._server.start()
        disk = self._server.folder / "small"
        disk.mkdir()
        _check(_libc.mount(b"none", os.fsencode(disk), b"tmpfs", 0, f"size={_SIZE}".encode()))
        if owner := server_owner():
            os.chown(disk, *owner)

    def _end(self) -> None:
        self._server.stop("immediate")
        _check(_libc.umount2(os.fsencode(self._server.folder / "small"), _DETACH))
        self._server.close()

    async def database(self) -> str:
        """Return the address of a database that is on the disk."""
        server = self._server.address()
        await run(server, f"CREATE TABLESPACE small LOCATION '{self._server.folder / 'small'}'")
        await run(server, "CREATE DATABASE small TABLESPACE small")
        return self._server.address("small")

    async def fill(self) -> None:
        """Leave no room on the disk."""
        connection = await connect(self._server.address("small"))
        await connection.execute("CREATE TABLE filling (body bytea)")
        await connection.execute("ALTER TABLE filling ALTER body SET STORAGE PLAIN")
        rows = 1_000
        while rows:
            try:
                await connection.execute(
                    "INSERT INTO filling SELECT convert_to(repeat('x', 8000), 'UTF8') FROM generate_series(1, $1::int)",
                    rows,
                )
            except asyncpg.DiskFullError:
                rows //= 2
        await connection.close()

    async def make_room(self) -> None:
        """Take away what filled the disk."""
        await run(self._server.address("small"), "DROP TABLE filling")
