"""How many connections are open, and whose: idle ones make room, and operators get through."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover.api import acceptor
from layover.api.connection_limits import ConnectionLimits, ConnectionSlots, limits_of
from layover.api.settings import ApiSettings
from layover.api.trusted_proxies import TrustedProxies
from tests.api.harness import ADMIN_KEY, UNLIMITED, served
from tests.runtime.harness import Held, call, flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api


FEW = replace(UNLIMITED, connections=8, connections_by_address=8, connections_reserved=2)


def slots_of(most: int = 4, by_address: int = 4, reserved: int = 0, trusted: tuple[str, ...] = ()) -> ConnectionSlots:
    limits = ConnectionLimits(most=most, by_address=by_address, reserved=reserved)
    return ConnectionSlots(limits, TrustedProxies(trusted))


def idle(slots: ConnectionSlots, host: str, closed: list[str], name: str) -> None:
    slot = slots.take(host)
    assert slot is not None
    slots.rest(slot, lambda: closed.append(name))


# Slots


def test_the_connection_that_was_idle_for_longest_makes_room() -> None:
    slots, closed = slots_of(most=3), list[str]()
    for number in range(3):
        idle(slots, f"10.0.0.{number}", closed, f"{number}")
    for number in range(3, 5):
        idle(slots, f"10.0.0.{number}", closed, f"{number}")

    assert (closed, slots.count) == (["0", "1"], 3)


def test_a_connection_with_a_request_in_progress_is_never_closed_for_another() -> None:
    slots = slots_of(most=2)
    first, second = slots.take("10.0.0.1"), slots.take("10.0.0.2")
    assert first is not None
    assert second is not None
    slots.rest(first, lambda: pytest.fail("it is at work"))
    slots.work(first)
    refused = slots.take("10.0.0.3")
    slots.free(second)

    assert refused is None
    assert slots.take("10.0.0.3") is not None


def test_an_address_at_its_limit_only_crowds_out_itself() -> None:
    slots, closed = slots_of(most=10, by_address=2), list[str]()
    idle(slots, "10.0.0.9", closed, "another's")
    for number in range(4):
        idle(slots, "2001:db8::1:0" if number % 2 else "2001:db8::2", closed, f"{number}")
    busy = slots_of(most=10, by_address=1)
    busy.take("10.0.0.1")

    assert (closed, slots.count) == (["0", "1"], 3)
    assert busy.take("10.0.0.1") is None
    assert busy.take("::ffff:10.0.0.1") is None
    assert busy.take("10.0.0.2") is not None


def test_a_trusted_proxy_has_as_many_connections_as_there_are() -> None:
    slots = slots_of(most=5, by_address=1, trusted=("10.0.0.0/8",))
    taken = [slots.take("10.1.2.3") for _ in range(6)]

    assert [one is not None for one in taken] == [True] * 5 + [False]


def test_beyond_the_limit_a_few_slots_are_reserved() -> None:
    slots = slots_of(most=2, by_address=9, reserved=2)
    taken = [slots.take("10.0.0.1") for _ in range(5)]
    is_full = slots.is_full
    for slot in taken[:2]:
        assert slot is not None
        slots.free(slot)

    assert [one and one.is_reserved for one in taken] == [False, False, True, True, None]
    assert (is_full, slots.is_full, slots.count) == (True, False, 2)


def test_slots_that_are_free_leave_nothing_behind() -> None:
    slots = slots_of(most=1_000)
    for number in range(500):
        slot = slots.take(f"10.0.{number % 250}.1")
        assert slot is not None
        slots.rest(slot, lambda: None)
        slots.free(slot)
        slots.free(slot)
        slots.rest(slot, lambda: None)

    assert (slots.count, *(len(part) for part in (slots._idle, slots._addresses))) == (0, 0, 0)  # noqa: SLF001 - what is kept


@pytest.mark.parametrize("files", [64, 256, 1_024, 65_536])
def test_files_are_left_for_everything_else(files: int) -> None:
    limits = limits_of(ApiSettings(), files)
    wanted = limits_of(ApiSettings(connections=1_000_000), files)

    assert limits.most + limits.reserved <= files * 3 // 4
    assert limits.by_address == limits.most // 2
    assert wanted.most <= files * 3 // 4
    assert limits_of(ApiSettings(connections=40, connections_by_address=7), files).by_address == 7


# Over sockets


def connected(api: Api) -> socket.socket:
    host, port = api.url.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)))
    made.settimeout(0)
    return made


async def is_closed(by_server: socket.socket) -> bool:
    try:
        return await asyncio.get_running_loop().sock_recv(by_server, 1) == b""
    except ConnectionError:
        return True


async def asked(over: socket.socket, line: str, key: str = "") -> bytes:
    loop = asyncio.get_running_loop()
    head = f"{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n" + (f"x-api-key: {key}\r\n" if key else "")
    await loop.sock_sendall(over, f"{head}\r\n".encode())
    answer = b""
    while piece := await loop.sock_recv(over, 65_536):
        answer += piece
    return answer


async def test_idle_connections_keep_no_caller_out(tmp_path: Path) -> None:
    async with served(tmp_path, settings=FEW) as api:
        with ExitStack() as opened:
            flood = [opened.enter_context(connected(api)) for _ in range(40)]
            for one in flood[:32]:  # all but the newest made room
                assert await is_closed(one)
            over = opened.enter_context(connected(api))
            answer = await asked(over, "GET /api/v1/me", ADMIN_KEY)

    assert answer.startswith(b"HTTP/1.1 200")


async def test_where_no_connection_is_idle_operators_and_health_are_answered_on_those_in_reserve(
    tmp_path: Path,
) -> None:
    work = Held()
    settings = replace(FEW, connections=2)
    async with served(tmp_path, work, settings=settings) as api:
        await api.engine.workflows.register(flow(call("a")))
        started = await api.engine.executions.start("flow")
        await work.begun()
        viewer, operator = await api.key_of("viewer"), await api.key_of("operator")
        loop = asyncio.get_running_loop()
        with ExitStack() as opened:
            for _ in range(2):
                stream = opened.enter_context(connected(api))
                head = f"GET /api/v1/executions/{started.id}/stream HTTP/1.1\r\nhost: a\r\nx-api-key: {viewer}\r\n\r\n"
                await loop.sock_sendall(stream, head.encode())
                assert (await loop.sock_recv(stream, 12)) == b"HTTP/1.1 200"
            answers = [
                await asked(opened.enter_context(connected(api)), line, key)
                for line, key in [
                    ("GET /api/v1/me", viewer),
                    ("GET /docs", ""),
                    ("GET /healthz", ""),
                    ("GET /metrics", ""),
                    ("GET /api/v1/me", operator),
                ]
            ]

    assert [answer[9:12] for answer in answers] == [b"503", b"503", b"200", b"200", b"200"]
    assert b"too_many_connections" in answers[0]


async def test_a_connection_beyond_the_limit_gets_503_and_is_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work = Held()
    settings = replace(FEW, connections=1, connections_reserved=0)
    async with served(tmp_path, work, settings=settings) as api:
        await api.engine.workflows.register(flow(call("a")))
        waiting = asyncio.ensure_future(api.post("/executions", {"workflow": "flow", "wait": "60s"}))
        begun = await work.begun()
        loop = asyncio.get_running_loop()
        refused = []
        for _ in range(3):
            with connected(api) as over:
                refused.append(await loop.sock_recv(over, 65_536))
        begun.returns()
        done = await waiting

    assert [one[9:12] for one in refused] == [b"503"] * 3
    assert b"too_many_connections" in refused[0]
    assert done.status == 200
    assert len([line for line in caplog.messages if line.startswith("connection_refused")]) == 1


class Starved(socket.socket):
    """A listening socket of a process that has no file left for the first connection."""

    failed = False

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.failed:
            self.failed = True
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_a_file_left_a_connection_waits_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "_PAUSE", 0.001)
    made = asyncio.Event()

    class Made(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.set()
            transport.abort()  # type: ignore[attr-defined]  # it is one that is written to

    with Starved(socket.AF_INET) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0)
        accepting = acceptor.Acceptor(listening, slots_of(), lambda _slot: Made())
        with socket.create_connection(listening.getsockname()):
            await made.wait()
        await accepting.close()

    assert listening.failed
