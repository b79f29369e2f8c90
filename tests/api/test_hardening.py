"""Whatever is sent, to whatever route: it is answered, with a reason if need be, and never by a fault of ours."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import msgspec
import pytest

from layover.api.answering import SECURITY_HEADERS
from layover.api.bodies import place_of_nul
from layover.api.routes import ROUTES
from layover.api.routing import NoQuery
from layover.model.executions import StartBody
from layover.runtime.results.points import context_of
from tests.api.acting import resting
from tests.api.harness import ADMIN_KEY, served
from tests.runtime.harness import approval, fan_out, flow, form

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from layover.api.routing import Route
    from tests.api.harness import Answered, Api

each_database = pytest.mark.usefixtures("each_database")

# What people write where a text, a number or a list is expected: as JSON, since no program can write some of it.
HOSTILE = (
    b'"\\u0000"',
    b'"a\\u0000b"',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\xed\xa0\x80"',
    b'"\xff"',
    b'"\x00"',
    b'"\\n"',
    b'"\\u202e\\ufeff\\uffff"',
    b'"' + "🦆".encode() * 300 + b'"',
    b'"' + b"x" * 100_000 + b'"',
    b'"../../etc/passwd"',
    b'"\'; DROP TABLE executions; --"',
    b'"%s%n${input}{{7*7}}"',
    b"1e999",
    b"-1e999",
    b"1e308",
    b"NaN",
    b"-0",
    b"1" + b"0" * 400,
    b"-1" + b"0" * 400,
    b"1" + b"0" * 5_000,
    b"9223372036854775807",
    b"9223372036854775808",
    b"2147483648",
    b"0.1",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'["\\u0000"]',
    b'{"\\u0000": "\\u0000"}',
    b'{"$secret": "NAME"}',
    b'{"$token": "t"}',
    b"[" * 150 + b"]" * 150,
)
# The same in paths and parameters.
IN_PATHS = (
    "%00",
    "a%00b",
    "%ff",
    "%ed%a0%80",
    "%2e%2e",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..",
    "%0d%0aset-cookie:%20a=b",
    "%25%32%65",
    "%",
    "%zz",
    "%F0%9F%A6%86",
    "x" * 5_000,
    "-1",
    "9" * 400,
    "1e999",
    "null",
    "00000000-0000-0000-0000-000000000000",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "a:b.0:c.1",
    ":",
    "'%20OR%201=1--",
    "%EF%BC%91",
)
IN_PARAMETERS = ("", "2147483648", "9223372036854775808", "MTg0NDY3NDQwNzM3MDk1NTE2MTUgeA", "input.a=%00", "a~b")
QUERIES = ("unknown=1", "=", "&&&", "a=%00", "%00=a", "&".join(f"a{n}=1" for n in range(200)))
NO_BODIES = (b"", b"{", b"[]", b"7", b'"x"', b"null", b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"a":1}', b"a: [*b]")


class Known(NamedTuple):
    """Something of everything, by what paths call it."""

    path: dict[str, str]
    approval: str


async def furnished(api: Api, number: int) -> Known:
    """Have something of everything there, that nobody has done anything to."""
    name = f"forms{number}"
    forms = await resting(api, flow(fan_out(form(), over="[1, 2]"), name=name))
    approvals = await resting(api, flow(approval(), name=f"approvals{number}"))
    [row, *_] = await api.engine.points.list(forms["id"])
    key = await api.post("/keys", {"name": "n", "user": "ada", "roles": []})
    path = {
        "execution": forms["id"],
        "workflow": name,
        "name": name,
        "context": context_of(row.point),
        "token": "A" * 43,
        "key": key.json["id"],
        "point": row.point.id,
    }
    return Known(path, approvals["points"]["review"])


def path_of(route: Route, known: Known, **other: str) -> str:
    """Return the path of a route to something that is there; `other` parts of it are written as given."""
    families = {"/keys/": "key", "/pause-points/": "point", "/approvals/": "approval"}
    kind = next((name for part, name in families.items() if part in route.path), "execution")
    here = {**known.path, "approval": known.approval, "context:path": known.path["context"]}
    here["id"] = here[kind]
    path = route.path
    for name, value in here.items():
        path = path.replace(f"{{{name}}}", other.get(name.partition(":")[0], quote(value, safe=":")))
    return path


def parts_of(route: Route) -> list[str]:
    return [part.partition("}")[0].partition(":")[0] for part in route.path.split("{")[1:]]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


USUAL: dict[str, dict[str, Any]] = {
    "StartBody": {"workflow": "forms0"},
    "RewindBody": {"to": "each"},
    "SignalBody": {"name": "go"},
    "KeyBody": {"name": "n", "user": "ada", "roles": []},
    "BundleBody": {"format": "layover/1", "workflows": []},
}


def usual_of(route: Route) -> dict[str, Any] | None:
    """Return a body that a route takes."""
    return None if route.body is None else USUAL.get(route.body.__name__, {})


def bodies_of(route: Route) -> Iterator[bytes]:
    """Give bodies of a route, each with something hostile in one of its fields."""
    if route.body is bytes:
        yield from HOSTILE
        return
    assert route.body is not None
    usual = USUAL.get(route.body.__name__, {})
    for field in msgspec.structs.fields(route.body):
        if field.encode_name == "wait":
            continue  # a server that waits is no fault
        rest = b"".join(
            b"," + msgspec.json.encode(name) + b":" + msgspec.json.encode(value)
            for name, value in usual.items()
            if name != field.encode_name
        )
        for value in HOSTILE:
            yield b"{" + msgspec.json.encode(field.encode_name) + b":" + value + rest + b"}"


def check(answered: Answered, asked: object) -> None:
    """What is refused is refused with a reason; a fault is never the caller's to see."""
    assert answered.status < 500, (asked, answered)
    if answered.status >= 400:
        assert answered.headers["content-type"] == "application/problem+json", (asked, answered)
        assert answered.json["code"], (asked, answered)
    for name, value in SECURITY_HEADERS.items():
        assert name in answered.headers, (asked, name)
        assert name == "content-security-policy" or answered.headers[name] == value or "/docs" in str(asked)
    assert "access-control-allow-origin" not in answered.headers
    assert "set-cookie" not in answered.headers


@each_database
async def test_no_body_makes_a_fault(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for number, route in enumerate(route for route in ROUTES if route.body is not None):
            path = path_of(route, await furnished(api, number))
            for body in (*bodies_of(route), *NO_BODIES):
                check(await api.ask(route.method, path, raw=body), (named(route), body[:200]))


@each_database
async def test_no_path_makes_a_fault(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for number, route in enumerate(route for route in ROUTES if "{" in route.path):
            known = await furnished(api, number)
            for part in parts_of(route):
                for value in IN_PATHS:
                    status = await status_of(api, route.method, path_of(route, known, **{part: value}), usual_of(route))
                    assert status < 500, (named(route), part, value, status)


@each_database
async def test_no_parameter_makes_a_fault(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for number, route in enumerate(route for route in ROUTES if route.query is not NoQuery):
            path = path_of(route, await furnished(api, number))
            names = [field.encode_name for field in msgspec.structs.fields(route.query)]
            given = [f"{name}={value}" for name in names for value in (*IN_PATHS, *IN_PARAMETERS)]
            for query in (*given, *QUERIES):
                status = await status_of(api, route.method, f"{path}?{query}", usual_of(route))
                assert status < 500, (named(route), query, status)


async def status_of(api: Api, method: str, target: str, body: object) -> int:
    """Send a request whose target is written as it is, which no client would; return the status."""
    host, port = api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    sent = msgspec.json.encode(body) if body is not None else b""
    head = (
        f"{method} {target} HTTP/1.1\r\nhost: here\r\nx-api-key: {ADMIN_KEY}\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    )
    writer.write(head.encode("latin-1") + sent)
    line = await reader.readline()
    writer.close()
    return int(line.split(b" ")[1])


# What nothing has to know a route for


@pytest.mark.parametrize(
    "target",
    [
        "//",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v1/me/",
        "/API/V1/ME",
        "/../etc/passwd",
        "/%2e%2e",
        "/%00",
        "*",
        "/%",
    ],
)
async def test_what_is_not_there_is_not_found(tmp_path: Path, target: str) -> None:
    async with served(tmp_path) as api:
        assert await status_of(api, "GET", target, None) in (400, 404)


async def test_every_answer_has_the_headers_that_keep_browsers_careful(tmp_path: Path) -> None:
    origin = {"origin": "https://evil.example.org"}
    async with served(tmp_path) as api:
        told = [
            await api.get("/me", headers=origin),
            await api.get("/me", as_="", headers=origin),
            await api.get("/keys", as_="viewer", headers=origin),
            await api.get("/nothing", headers=origin),
            await api.get("/healthz", as_="", headers=origin),
            await api.post("/keys", {}, headers=origin),
            await api.ask("PUT", "/me", headers=origin),
            await api.ask("OPTIONS", "/keys", headers={**origin, "access-control-request-method": "POST"}),
            await api.ask("HEAD", "/me", headers=origin),
            await api.delete("/keys/none", headers=origin),
        ]

    assert [one.status for one in told] == [200, 401, 403, 404, 200, 422, 405, 405, 200, 404]
    for one in told:
        assert {name: one.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert one.headers["x-request-id"]
        assert not [name for name in one.headers if name.startswith("access-control")]
        assert "server" not in one.headers


async def test_a_head_is_a_get_without_its_body(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        whole, head = await api.get("/me"), await api.ask("HEAD", "/me")
        nothing = await api.ask("HEAD", "/nothing")

    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(whole.body)))
    assert (nothing.status, nothing.body) == (404, b"")


async def test_another_method_gets_405_and_the_allowed_ones(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        told = {one: await api.ask(one, "/keys") for one in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW")}

    assert {one.status for one in told.values()} <= {400, 405}
    assert told["PUT"].headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("given", ["", "a b", "a\tb", "x" * 65, "<script>", "a;b", "ä"])
async def test_an_odd_request_id_is_not_repeated(tmp_path: Path, given: str) -> None:
    async with served(tmp_path) as api:
        told = await api.get("/me", headers={"x-request-id": given})
        own = await api.get("/nothing", headers={"x-request-id": "Req_7.a-b"})

    assert told.headers["x-request-id"] != given
    assert len(told.headers["x-request-id"]) == 16
    assert (own.headers["x-request-id"], own.json["request_id"]) == ("Req_7.a-b", "Req_7.a-b")


@pytest.mark.parametrize("name", ["Authorization", "X-API-Key", "Idempotency-Key", "Content-Type"])
async def test_a_header_that_counts_is_given_once(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as api:
        headers = [("X-API-Key", ADMIN_KEY)] if name != "X-API-Key" else []
        headers += [(name, ADMIN_KEY), (name, ADMIN_KEY)]
        async with api.session.post(f"{api.url}/api/v1/keys", data=b"{}", headers=headers) as response:
            told = await response.json(content_type=None)
        twice = [("X-API-Key", ADMIN_KEY), ("accept", "a"), ("accept", "b")]
        async with api.session.get(f"{api.url}/api/v1/me", headers=twice) as response:
            assert response.status == 200

    assert (told["status"], told["code"]) == (400, "invalid_parameter")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json"}, 201),
        ({"content-type": "Application/JSON; charset=utf-8"}, 201),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": "application/jsonp"}, 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
        ({"content-type": "application/json", "content-encoding": "identity"}, 201),
    ],
)
async def test_a_body_is_of_a_kind_that_the_route_takes(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    body = msgspec.json.encode({"name": "n", "user": "ada", "roles": []})
    async with served(tmp_path) as api:
        told = await api.ask("POST", "/keys", raw=body, headers=headers)

    assert told.status == status


# Texts that databases cannot hold


def test_a_nul_is_found_in_texts_and_left_alone_in_data() -> None:
    def place(text: str) -> str | None:
        return place_of_nul(msgspec.json.decode(text, type=StartBody))

    assert place('{"workflow":"a","correlation_id":"\\u0000"}') == "correlation_id"
    assert place('{"workflow":"a","tags":["a","b\\u0000"]}') == "tags[1]"
    assert place('{"workflow":"a","input":{"\\u0000":["\\u0000"]}}') is None
    assert place('{"workflow":"a","tags":["\\\\u0000"]}') is None


@each_database
async def test_data_may_hold_what_texts_may_not(tmp_path: Path) -> None:
    given = {"a\0": "\0", "duck": "🦆", "large": 10**300, "small": 5e-324}
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow({"id": "finish", "type": "end", "output": "${input}"}))
        started = await api.post("/executions", {"workflow": "flow", "input": given, "wait": "60s"})
        found = await api.get(f"/executions/{started.json['id']}")
        refused = await api.post("/executions", {"workflow": "flow", "correlation_id": "\0"})

    assert (started.status, found.json["output"]) == (200, given)
    assert (refused.status, refused.code) == (422, "invalid_body")
    assert refused.json["errors"][0]["path"] == "correlation_id"
