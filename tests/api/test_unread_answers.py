"""Connections whose clients read nothing, leave, or send what is not a request; and the lines that strangers cause."""

from __future__ import annotations

import asyncio
import socket
from logging import WARNING
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from uvicorn.protocols.http.flow_control import FlowControl

from layover.api.answering import CONNECTION, Answering
from layover.api.connection_limits import Slot
from layover.api.connection_log import ConnectionLog
from layover.api.connections import Connection
from layover.api.log_limits import LogLimit
from layover.api.request import Response
from layover.api.settings import ApiSettings
from tests.api.harness import ADMIN_KEY, UNLIMITED, served
from tests.runtime.harness import Held, call, flow

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from pathlib import Path

    import pytest

    from tests.api.harness import Api


# Readers


def unhurried(api: Api) -> socket.socket:
    """Return a connection whose client has little room for answers."""
    host, port = api.url.removeprefix("http://").split(":")
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    made.connect((host, int(port)))
    made.settimeout(0)
    return made


async def large_answer(api: Api) -> bytes:
    """Return a request whose answer has a megabyte, on a connection that is kept."""
    await api.engine.workflows.register(flow(call("a")))
    started = await api.engine.executions.start("flow", "x" * 900_000)
    return f"GET /api/v1/executions/{started.id} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {ADMIN_KEY}\r\n\r\n".encode()


async def test_a_client_that_does_not_read_its_answers_is_let_go(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "layover.api")
    settings = replace(UNLIMITED, stalled_after=0.05)
    async with served(tmp_path, Held(), settings=settings) as api:
        request = await large_answer(api)
        with unhurried(api) as over:
            await asyncio.get_running_loop().sock_sendall(over, request * 20)  # more than the kernel has room for
            while not any(line.startswith("reader_let_go") for line in caplog.messages):  # noqa: ASYNC110 - a log line
                await asyncio.sleep(0.01)
        assert (await api.get("/me")).status == 200


class Reader:
    """The other end of a connection, as its transport sees it; a test says how much is left to read."""

    def __init__(self) -> None:
        self.left = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.left

    def abort(self) -> None:
        self.aborted = True


class Later:
    """A loop in which nothing happens before the test says so."""

    def __init__(self) -> None:
        self.due: list[Any] = []

    def call_later(self, _seconds: float, work: Any, *given: Any) -> Later:
        self.due = [lambda: work(*given)]
        return self

    def cancel(self) -> None:
        self.due = []

    def pass_by(self) -> None:
        due, self.due = self.due, []
        for work in due:
            work()


def watched() -> tuple[Connection, Reader, Later]:
    connection, reader, later = Connection.__new__(Connection), Reader(), Later()
    slot = Slot("10.0.0.1", is_reserved=False)
    fields = {"transport": reader, "loop": later, "flow": FlowControl(reader), "_slot": slot}  # type: ignore[arg-type]  # as much of one as it uses
    vars(connection).update(fields, _settings=ApiSettings(least_read=1_000))
    return connection, reader, later


async def test_what_is_not_a_request_is_noted_a_few_times_and_upgrades_are_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with served(tmp_path) as api:
        upgrade = "connection: upgrade\r\nupgrade: websocket"
        for text in (f"GET /healthz HTTP/1.1\r\nhost: localhost\r\n{upgrade}", *["NONSENSE\r\n"] * 12):
            with unhurried(api) as over:
                await asyncio.get_running_loop().sock_sendall(over, f"{text}\r\n\r\n".encode())
                assert await asyncio.get_running_loop().sock_recv(over, 12) in (b"HTTP/1.1 200", b"HTTP/1.1 400")
    noted = [record for record in caplog.records if record.getMessage().startswith("malformed_request")]
    assert {record.levelname for record in noted} == {"INFO"}
    assert not [record for record in caplog.records if record.name == "uvicorn.error" and record.levelno >= WARNING]


def test_lines_about_what_is_not_a_request_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    now = [0.0]
    log = ConnectionLog(lambda: now[0])
    for _ in range(15):
        log.warning("Invalid HTTP request received.")
    assert len(caplog.messages) == 10
    now[0] = 10.0
    log.warning("Invalid HTTP request received.")
    assert caplog.messages[-1] == "malformed_request what='Invalid HTTP request received.' left_out=5"


async def test_on_a_connection_that_is_closed_nothing_is_sent() -> None:
    sent: list[str] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message["type"])

    closed: list[str] = []
    extensions = {CONNECTION: {"is_closing": lambda: bool(closed)}}
    answering = Answering(send, "its id", {"extensions": extensions}, is_head=False)
    await answering.reply(Response("a text"))
    assert sent == ["http.response.start", "http.response.body"]
    closed.append("by the client")
    await answering.reply(Response("a text"))
    assert len(sent) == 2


def test_a_client_that_reads_too_little_is_let_go() -> None:
    connection, reader, later = watched()
    reader.left = 100_000
    connection.pause_writing()
    for reader.left in (99_000, 90_000, 70_000):
        later.pass_by()
        assert not reader.aborted
    reader.left = 69_001
    later.pass_by()

    assert reader.aborted


def test_a_client_that_reads_its_answers_is_not_let_go_for_those_that_follow() -> None:
    connection, reader, later = watched()
    reader.left = 100_000
    connection.pause_writing()
    reader.left = 500
    connection.resume_writing()
    reader.left = 200_000
    connection.pause_writing()
    reader.left = 10_000
    connection.resume_writing()
    reader.left = 0
    later.pass_by()

    assert not reader.aborted
    assert later.due == []


def test_lines_that_strangers_cause_are_few_and_the_rest_is_counted() -> None:
    now = 0.0
    limit = LogLimit(2, 10.0, lambda: now)
    first = [limit.take() for _ in range(5)]
    now = 10.0

    assert (first, limit.take(), limit.take()) == ([0, 0, None, None, None], 3, 0)
