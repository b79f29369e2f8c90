"""Hostile servers: endless responses, bombs, and redirects to private addresses."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import tracemalloc
import zlib

import pytest
from aiohttp import web

from layover.nodes import http_compression
from layover.nodes.http_addresses import is_public
from layover.nodes.http_errors import HttpError
from tests.nodes.http_site import CONTEXT, HUSH, Site, ask, failure_of, node, raw_site, site_of, well

# Too much


async def test_a_body_may_have_a_million_bytes_and_no_more() -> None:
    sizes = {"/most": 1_000_000, "/more": 1_000_001}
    async with site_of(lambda request: web.Response(text="a" * sizes[request.path])) as site:
        assert (await ask(site.url("/most")))["body"] == "a" * 1_000_000
        failure = await failure_of(site.url("/more"))
        assert (failure.code, failure.retryable) == ("payload_too_large", False)


async def test_a_body_without_end_is_not_read_to_its_end() -> None:
    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await answer.prepare(request)
        while True:
            await answer.write(b"a" * 10_000)

    async with Site(endless).open() as site:
        assert (await failure_of(site.url())).code == "payload_too_large"


def bare(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"well done")),
        ("GZIP", gzip.compress(b"well ") + gzip.compress(b"done")),
        ("deflate", zlib.compress(b"well done")),
        ("deflate", bare(b"well done")),
        ("identity", b"well done"),
    ],
    ids=["gzip", "gzip twice", "deflate", "deflate without a header", "not packed"],
)
async def test_a_compressed_body_is_decompressed(encoding: str, packed: bytes) -> None:
    headers = {"Content-Type": "text/plain", "Content-Encoding": encoding}
    async with site_of(lambda _: web.Response(body=packed, headers=headers)) as site:
        assert (await ask(site.url()))["body"] == "well done"
        assert site.seen[0].headers["Accept-Encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("encoding", "packed", "code"),
    [
        ("gzip", gzip.compress(b"a" * 1_000_001), "payload_too_large"),
        ("gzip", gzip.compress(b"a" * 600_000) * 2, "payload_too_large"),
        ("gzip", gzip.compress(b"well done")[:-1], "http_bad_answer"),
        ("gzip", b"well done", "http_bad_answer"),
        ("br", b"well done", "http_bad_answer"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"well done")), "http_bad_answer"),
    ],
    ids=["a bomb", "a bomb in parts", "cut off", "not packed", "unknown", "in two layers"],
)
async def test_a_body_that_cannot_be_decompressed_is_refused(encoding: str, packed: bytes, code: str) -> None:
    headers = {"Content-Type": "text/plain", "Content-Encoding": encoding}
    async with site_of(lambda _: web.Response(body=packed, headers=headers)) as site:
        assert (await failure_of(site.url())).code == code


async def test_a_compression_bomb_is_refused() -> None:
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    bomb = gzip.compress(b"a" * 100_000_000)
    async with site_of(lambda _: web.Response(body=bomb, headers=headers)) as site, node() as http:
        tracemalloc.start()
        try:
            with pytest.raises(HttpError):
                await http(CONTEXT, url=site.url())
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 20_000_000


class CountedZlib:
    """Replaces the module: counts its objects, and their input between two turns of the event loop."""

    error = zlib.error

    def __init__(self) -> None:
        self.members = 0
        self.at_once: list[int] = []

    def decompressobj(self, window: int) -> CountedMember:
        self.members += 1
        return CountedMember(zlib.decompressobj(window), self)

    def given(self, data: bytes) -> None:
        if not self.at_once or self.at_once[-1] == 0:
            asyncio.get_running_loop().call_soon(self.at_once.append, 0)
            self.at_once.append(0)
        self.at_once[-1] += len(data)


class CountedMember:
    def __init__(self, member: zlib._Decompress, counted: CountedZlib) -> None:
        self._member = member
        self._counted = counted

    def decompress(self, data: bytes, most: int = 0) -> bytes:
        self._counted.given(data)
        return self._member.decompress(data, most)

    def __getattr__(self, name: str) -> object:
        return getattr(self._member, name)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> CountedZlib:
    counting = CountedZlib()
    monkeypatch.setattr(http_compression, "zlib", counting)
    return counting


@pytest.mark.parametrize("members", [101, 45_000])
async def test_the_number_of_compressed_members_is_bounded(counted: CountedZlib, members: int) -> None:
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    async with site_of(lambda _: web.Response(body=gzip.compress(b"") * members, headers=headers)) as site:
        assert (await failure_of(site.url())).code == "http_bad_answer"
    assert counted.members <= 100


async def test_a_body_of_several_members_is_whole(counted: CountedZlib) -> None:
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    packed = b"".join(gzip.compress(b"%02d" % number * 5_000) for number in range(100))
    async with site_of(lambda _: web.Response(body=packed, headers=headers)) as site:
        assert (await ask(site.url()))["body"] == "".join(f"{number:02}" * 5_000 for number in range(100))
    assert counted.members == 100


async def test_the_event_loop_runs_while_a_body_is_decompressed(counted: CountedZlib) -> None:
    """Compressed data can be made so that it is slow to read, whatever its output: so only a little is read at once."""
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    text = "".join(hashlib.sha256(b"%d" % number).hexdigest() for number in range(14_000))
    packed = gzip.compress(text.encode())
    async with site_of(lambda _: web.Response(body=packed, headers=headers)) as site:
        assert (await ask(site.url()))["body"] == text
    assert sum(counted.at_once) >= len(packed)
    assert max(counted.at_once) <= 20_000


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 Fine\r\nX-Long: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 Fine\r\n" + b"".join(b"X-%d: a\r\n" % number for number in range(10_000)) + b"\r\n",
        b"220 mail.example ready\r\n\r\n",
    ],
    ids=["a long one", "many", "mail"],
)
async def test_large_headers_and_responses_that_are_not_http_are_refused(head: bytes) -> None:
    async with raw_site(head) as url:
        failure = await failure_of(url)
        assert (failure.code, failure.retryable) == ("http_bad_answer", False)


# Redirects


def sent_on(request: web.BaseRequest) -> web.StreamResponse:
    """Respond to `/3` by a redirect to `/2`, and so on; to `/to?url=` by one to that address."""
    if request.path == "/to":
        return web.Response(status=int(request.query.get("status", 302)), headers={"Location": request.query["url"]})
    left = int(request.path[1:])
    return web.Response(text="well") if left == 0 else web.Response(status=302, headers={"Location": f"/{left - 1}"})


async def test_five_redirects_are_followed_and_no_more() -> None:
    async with site_of(sent_on) as site:
        assert (await ask(site.url("/5")))["body"] == "well"
        failure = await failure_of(site.url("/6"))
        assert (failure.code, failure.retryable) == ("http_bad_answer", False)
        assert str(failure) == "GET 127.0.0.1 redirects more than 5 times."


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://", "ftp://127.0.0.1/"])
async def test_a_redirect_leads_to_another_address_of_http(target: str) -> None:
    async with site_of(sent_on) as site:
        assert (await failure_of(site.url(f"/to?url={target}"))).code == "http_bad_answer"


@pytest.mark.parametrize(("status", "method", "body"), [(307, "POST", b'"it"'), (303, "GET", b"")])
async def test_a_redirect_repeats_the_request_or_becomes_a_get(status: int, method: str, body: bytes) -> None:
    async with site_of(sent_on) as site:
        await ask(site.url(f"/to?status={status}&url=/0"), method="POST", body="it")
        assert (site.seen[1].method, site.seen[1].body) == (method, body)


@pytest.mark.parametrize("given", [{"auth": {"bearer": HUSH}}, {"headers": {"authorization": HUSH, "Cookie": HUSH}}])
async def test_credentials_are_not_sent_to_another_host(given: dict[str, object]) -> None:
    async with site_of(sent_on) as site, site_of(sent_on) as other:
        await ask(site.url(f"/to?url={other.url('/0')}"), **given)
        await ask(site.url("/1"), **given)
        assert [HUSH in str(seen.headers) for seen in other.seen] == [False]
        assert [HUSH in str(seen.headers) for seen in site.seen] == [True, True, True]


async def test_cookies_are_not_remembered() -> None:
    async with site_of(lambda _: web.Response(headers={"Set-Cookie": "a=1"})) as site, node() as http:
        for _ in range(2):
            await http(CONTEXT, url=site.url(host="localhost"))  # a numeric address would have no cookies
        assert ["Cookie" in seen.headers for seen in site.seen] == [False, False]


# Addresses that are not public


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:{}/", "http://localhost:{}/", "http://0x7f.0.0.1:{}/"),
        *("http://[::ffff:127.0.0.1]:{}/", "http://[::1]:{}/", "http://0.0.0.0:{}/"),
    ],
)
async def test_private_addresses_are_refused_in_any_spelling(url: str) -> None:
    async with site_of(well) as site, node(may_reach=is_public) as http:
        with pytest.raises(HttpError) as raised:
            await http(CONTEXT, url=url.format(site.port))
        assert (raised.value.code, raised.value.retryable, site.seen) == ("http_refused", False, [])


async def test_a_redirect_to_a_private_address_is_refused() -> None:
    async with site_of(sent_on) as site, node(may_reach=lambda address: address == "127.0.0.1") as http:
        assert (await http(CONTEXT, url=site.url("/1")))["body"] == "well"
        with pytest.raises(HttpError) as raised:
            await http(CONTEXT, url=site.url(f"/to?url={site.url('/0', host='127.0.0.2')}"))
        assert raised.value.code == "http_refused"


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    async with site_of(well) as site:
        assert (await ask(site.url()))["body"] == "well"
