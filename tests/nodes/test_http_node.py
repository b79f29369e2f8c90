"""The function that `http` nodes call, against a real server."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
from aiohttp import web

from layover.nodes.context import NodeContext
from layover.nodes.http_errors import HttpError
from tests.nodes.http_site import CONTEXT, HUSH, Site, ask, failure_of, node, raw_site, site_of, well

# Requests


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def test_a_request_is_made_by_its_method(method: str) -> None:
    async with site_of(well) as site:
        answer = await ask(site.url(), method=method)
        assert (answer["status"], answer["body"]) == (200, None if method == "HEAD" else "well")
        assert site.seen[0].method == method


async def test_a_query_is_added_to_that_of_the_address() -> None:
    async with site_of(well) as site:
        query = {"b": "1 & é", "c": [1, True], "d": None, "e": 1.5}
        await ask(site.url("/path?a=1&b=2"), query=query)
        expected = [("a", "1"), ("b", "2"), ("b", "1 & é"), ("c", "1"), ("c", "true"), ("e", "1.5")]
        assert (site.seen[0].path, site.seen[0].query) == ("/path", expected)


async def test_headers_go_out_and_a_key_that_is_the_same_for_every_attempt() -> None:
    async with site_of(well) as site:
        await ask(site.url(), headers={"X-Number": 7, "X-None": None})
        await ask(site.url(), headers={"idempotency-key": "mine"})
        first, second = (seen.headers for seen in site.seen)
        assert (first["x-number"], first["Idempotency-Key"]) == ("7", "%C3%A9%201/call:each.3")
        assert "X-None" not in first
        assert second.getall("Idempotency-Key") == ["mine"]


@pytest.mark.parametrize(
    ("auth", "header"),
    [({"bearer": "abc"}, "Bearer abc"), ({"basic": {"user": "u", "password": "é"}}, "Basic dTrDqQ==")],
)
async def test_auth_becomes_the_authorization_header(auth: object, header: str) -> None:
    async with site_of(well) as site:
        await ask(site.url(), auth=auth)
        assert site.seen[0].headers["Authorization"] == header


@pytest.mark.parametrize(
    ("body", "kind", "sent", "sent_as"),
    [
        ({"a": [1, "é"]}, None, '{"a":[1,"é"]}', "application/json"),
        ("text", None, '"text"', "application/json"),
        (False, None, "false", "application/json"),
        ({"a": 1}, "application/merge-patch+json", '{"a":1}', "application/merge-patch+json"),
        ("<a/>", "application/xml; charset=utf-8", "<a/>", "application/xml; charset=utf-8"),
        ({"a": "1&2", "b": [1, 2]}, "application/x-www-form-urlencoded", "a=1%262&b=1&b=2", None),
        (None, None, "", "application/octet-stream"),
    ],
)
async def test_a_body_is_sent_as_its_content_type_wants_it(
    body: object, kind: str | None, sent: str, sent_as: str | None
) -> None:
    async with site_of(well) as site:
        await ask(site.url(), method="POST", body=body, headers={"content-type": kind})
        assert site.seen[0].body.decode() == sent
        assert site.seen[0].headers.get("Content-Type") == (sent_as or kind)


@pytest.mark.parametrize(
    "given",
    [
        *({"url": 7}, {"url": ""}, {"url": "ftp://h/"}, {"url": "http://"}, {"url": "http:///a"}, {"url": "h"}),
        *(
            {"url": "http://h:99999/"},
            {"url": "http://127.1:1/"},
            {"url": "http://2130706433:1/"},
            {"url": "http://[::1/"},
            {"url": f"http://{'a' * 70}.example/"},
        ),
        *({"method": "get"}, {"method": "CONNECT"}, {"bodi": 1}, {"headers": {"a": {}}}, {"query": {"a": {}}}),
        *({"headers": {"a b": "1"}}, {"headers": {"": "1"}}, {"headers": {"a": "1\r\nb: 2"}}, {"headers": {"a": "\0"}}),
        *({"headers": {"Host": "other"}}, {"headers": {"content-length": 3}}, {"headers": {"Transfer-Encoding": "x"}}),
        *({"auth": {}}, {"auth": "hush"}, {"auth": {"bearer": "hush\n"}}, {"auth": {"bearer": {"$secret": "hush"}}}),
        *({"auth": {"bearer": "hush", "basic": {"user": "u", "password": "hush"}}},),
        *({"auth": {"bearer": "hush"}, "url": "http://user:hush@127.0.0.1:1/"},),
        *({"body": {"a": "hush"}, "headers": {"Content-Type": "text/plain"}},),
    ],
)
async def test_an_invalid_request_is_not_retried(given: dict[str, object]) -> None:
    failure = await failure_of(**{"url": "http://127.0.0.1:1/", **given})  # type: ignore[arg-type]  # as data may be
    assert (failure.code, failure.retryable) == ("http_bad_request", False)


# Responses


@pytest.mark.parametrize(
    ("raw", "kind", "body"),
    [
        (b'{"a": [1, null]}', "application/json", {"a": [1, None]}),
        (b'\xef\xbb\xbf{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
        ("é".encode(), "text/plain", "é"),
        ("é".encode("latin-1"), "text/html; charset=ISO-8859-1", "é"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"", "application/octet-stream", None),
        (b"", "application/json", None),
    ],
)
async def test_json_is_decoded_and_text_is_text(raw: bytes, kind: str, body: object) -> None:
    async with site_of(lambda _: web.Response(body=raw, headers={"Content-Type": kind})) as site:
        assert (await ask(site.url()))["body"] == body


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        *((b"\0\1", "application/octet-stream"), (b"GIF89a", "image/gif")),
        *(
            (b"{", "application/json"),
            pytest.param(b"[" * 100_000, "application/json", id="deep"),
            (b"\xff", "text/plain"),
        ),
        *(
            (b"a", "text/plain; charset=punycode"),
            (b"a", "text/plain; charset=none"),
            (b"a", "text/plain; charset=zlib"),
        ),
    ],
)
async def test_a_response_that_is_neither_json_nor_text_is_refused(raw: bytes, kind: str) -> None:
    async with site_of(lambda _: web.Response(body=raw, headers={"Content-Type": kind})) as site:
        failure = await failure_of(site.url())
        assert (failure.code, failure.retryable) == ("http_bad_answer", False)


async def test_headers_are_in_lower_case_and_can_be_stored() -> None:
    lines = (b"HTTP/1.1 204 Fine\r\n", b"X-One: a\r\nX-ONE: b\r\nX-Odd: \xff\r\n", b"\r\n")
    async with raw_site(*lines) as url:
        answer = await ask(url)
        assert answer == {"status": 204, "headers": {"x-one": "a, b", "x-odd": "\ufffd"}, "body": None}
        json.dumps(answer).encode()


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_a_status_from_400_on_is_a_failure(status: int) -> None:
    async with site_of(lambda _: web.Response(status=status, text=HUSH)) as site:
        failure = await failure_of(site.url(f"/{HUSH}?key={HUSH}"), method="DELETE", auth={"bearer": HUSH})
        assert (failure.code, failure.status, failure.retryable) == ("http_status", status, True)
        assert str(failure) == f"DELETE 127.0.0.1 responded with status {status}."


# No response


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 Fine\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nwel"]
)
async def test_a_broken_connection_may_be_retried(answer: bytes) -> None:
    async with raw_site(answer) as url:
        failure = await failure_of(url + f"?key={HUSH}", method="POST")
        assert (failure.code, failure.retryable) == ("http_unreachable", True)


async def test_an_unreachable_host_may_be_retried() -> None:
    failure = await failure_of(f"http://user:{HUSH}@127.0.0.1:1/{HUSH}?key={HUSH}")
    assert (failure.code, failure.retryable) == ("http_unreachable", True)
    assert str(failure).startswith("GET 127.0.0.1 cannot be reached: ")


async def test_a_request_without_a_response_times_out() -> None:
    async def hang(_request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("nobody lets it go")

    async with Site(hang).open() as site, node(longest=50) as http:
        with pytest.raises(HttpError) as raised:
            await http(CONTEXT, url=site.url())
        assert (raised.value.code, raised.value.retryable) == ("http_timeout", True)
        assert str(raised.value) == "GET 127.0.0.1 did not respond within 50ms."


async def test_a_response_that_never_ends_times_out() -> None:
    async def drip(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await answer.prepare(request)
        await answer.write(b"a")
        await asyncio.Event().wait()
        return answer

    async with Site(drip).open() as site, node(longest=50) as http:
        with pytest.raises(HttpError) as raised:
            await http(CONTEXT, url=site.url())
        assert raised.value.code == "http_timeout"


async def test_a_node_with_a_timeout_ignores_the_default_one() -> None:
    timed = NodeContext(execution_id="x", context_id="a", attempt=1, has_timeout=True)
    async with site_of(well) as site, node(longest=0) as http:
        assert (await http(timed, url=site.url()))["body"] == "well"
        with pytest.raises(HttpError):
            await http(CONTEXT, url=site.url())


# Without the library


async def test_a_missing_library_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "layover.nodes.http_client", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    failure = await failure_of("http://127.0.0.1:1/")
    assert (failure.code, failure.retryable) == ("http_not_installed", False)
    assert "pip install layover[http]" in str(failure)
