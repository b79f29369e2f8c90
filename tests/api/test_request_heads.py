"""The heads of requests: bounded in size, number and time."""

from __future__ import annotations

import asyncio
from socket import IPPROTO_TCP
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.api.server import listen
from tests.api.harness import UNLIMITED, served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

each_database = pytest.mark.usefixtures("each_database")


async def test_heads_of_requests_are_bounded(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        path = await refused_or_closed(api, f"GET /{'x' * 200_000} HTTP/1.1\r\nhost: here\r\n\r\n")
        header = await refused_or_closed(api, f"GET /api/v1/me HTTP/1.1\r\nhost: here\r\na: {'x' * 200_000}\r\n\r\n")
        many = "".join(f"h{n}: x\r\n" for n in range(20_000))
        headers = await refused_or_closed(api, f"GET /api/v1/me HTTP/1.1\r\nhost: here\r\n{many}\r\n")
        odd = [
            await refused_or_closed(api, text)
            for text in (
                "\x16\x03\x01\x02\x00",
                "GET\r\n\r\n",
                "GET /api/v1/me HTTP/9.9\r\n\r\n",
                "POST /api/v1/keys HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
                "POST /api/v1/keys HTTP/1.1\r\nhost: a\r\ncontent-length: 1e3\r\n\r\n",
                "POST /api/v1/keys HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
                "POST /api/v1/keys HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
                "GET /api/v1/me HTTP/1.1\r\nhost: a\r\na b: c\r\n\r\n",
                "GET /api/v1/me HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
            )
        ]
        alive = await api.get("/me")

    assert {path, header, headers, *odd} <= {0, 400, 401, 404, 413, 414, 431}
    assert alive.status == 200


async def test_a_head_without_an_end_is_not_read_for_ever(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for begun in ("GET /", "GET /api/v1/me HTTP/1.1\r\nhost: ", "GET /api/v1/me HTTP/1.1\r\na: b\r\n" * 2):
            host, port = api.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(begun.encode())
            answered = b""
            while not answered:
                writer.write(b"x: y\r\n" * 1_000 if begun.endswith("\n") else b"x" * 10_000)
                try:
                    await writer.drain()
                    async with asyncio.timeout(0.01):
                        answered = await reader.read(100)
                except TimeoutError:
                    continue
                except OSError:
                    break
            writer.close()
            assert answered[:12] in (b"HTTP/1.1 400", b"")
        alive = await api.get("/me")

    assert alive.status == 200


async def test_a_head_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with served(tmp_path, settings=replace(UNLIMITED, head_timeout=0.05)) as api:
        host, port = api.url.removeprefix("http://").split(":")
        for begun in (b"", b"GET /api/v1/me HT", b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nGET /x"):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(begun)
            await reader.read()  # until the server closes the connection
            writer.close()
        alive = await api.get("/me")

    assert alive.status == 200


def test_an_answer_does_not_wait_for_one_more_packet() -> None:
    with listen("127.0.0.1", 0) as listening_at:
        assert listening_at.proto == IPPROTO_TCP  # by this asyncio knows what to send at once


async def refused_or_closed(api: Api, text: str) -> int:
    """Send a text; return the status of what comes back, or 0 if the server only closes the connection."""
    host, port = api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(text.encode("latin-1"))
        writer.write_eof()
        line = await reader.readline()
    except OSError:
        line = b""
    writer.close()
    return int(line.split(b" ")[1]) if line else 0
