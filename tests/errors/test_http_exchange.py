"""What is kept of a request that failed, and what is not."""

from __future__ import annotations

import gzip

import pytest
from aiohttp import web

from tests.nodes.http_site import failure_of, site_of


def failing_with(body: bytes, **headers: str) -> web.Response:
    return web.Response(status=500, body=body, headers={"Content-Type": "text/plain", **headers})


async def test_the_head_of_a_long_answer_is_kept() -> None:
    async with site_of(lambda _: failing_with(b"x" * 1_000_000)) as site:
        error = await failure_of(site.url())
    assert error.answer.startswith("500 Internal Server Error\nxxx")
    assert len(error.answer) == 1_000


async def test_a_compressed_answer_can_be_read() -> None:
    body = gzip.compress(b"the reason" + b" and more" * 10_000)
    async with site_of(lambda _: failing_with(body, **{"Content-Encoding": "gzip"})) as site:
        error = await failure_of(site.url())
    assert "the reason and more" in error.answer


async def test_an_answer_that_is_no_text_is_kept_as_far_as_it_goes() -> None:
    async with site_of(lambda _: failing_with(b"\xff\x00bytes", **{"Content-Encoding": "gzip"})) as site:
        error = await failure_of(site.url())
    assert error.answer == "500 Internal Server Error\n\ufffdbytes"


@pytest.mark.parametrize(
    "sent",
    [
        {"headers": {"X-Api-Key": "planted-1"}},
        {"headers": {"Cookie": "planted-1"}},
        {"auth": {"bearer": "planted-1"}},
        {"auth": {"basic": {"user": "u", "password": "planted-1"}}},
        {"query": {"token": "planted-1"}},
    ],
)
async def test_credentials_that_a_server_sends_back_are_masked(sent: dict[str, object]) -> None:
    def echo(request: web.BaseRequest) -> web.Response:
        told = " ".join(f"<{value}>" for value in request.headers.values())
        return failing_with(f"planted-1 token={request.query.get('token')} {told}".encode())

    async with site_of(echo) as site:
        error = await failure_of(site.url("/a"), **sent)
    assert error.request.startswith(f"GET {site.url('/a')}")
    assert "planted" not in error.request
    if "query" not in sent:  # a value by itself is only known where it was sent as a credential
        assert "planted" not in error.answer
        assert "dTpwbGFudGVkLTE=" not in error.answer
