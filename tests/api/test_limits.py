"""How much is taken from callers: how often, how large, how deep, how slow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, strategies

from layover.api.application import application
from layover.api.bodies import check_nesting
from layover.api.problems import Refusal
from layover.api.routes import ROUTES
from layover.api.settings import ApiSettings
from layover.api.trusted_proxies import TrustedProxies
from layover.coordination.local import LocalLimiter
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening, served
from tests.runtime.harness import Held, end, engine_at, flow
from tests.runtime.operations.test_callbacks import callback

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp

    from tests.api.harness import Api

ASKED = {"name": "n", "user": "ada", "roles": ["operator"]}


class Seconds:
    """A clock that a test winds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# Counting


async def test_so_many_in_any_such_time_and_not_one_more() -> None:
    clock = Seconds()
    limiter = LocalLimiter(clock)
    for clock.now in (0.0, 10.0, 20.0):
        assert await limiter.take("ada", 3, 60.0) is None
    clock.now = 30.0

    assert await limiter.take("ada", 3, 60.0) == 30.0
    assert await limiter.take("ada", 3, 60.0) == 30.0  # what is refused does not count
    assert await limiter.take("bob", 3, 60.0) is None
    clock.now = 59.5
    assert await limiter.take("ada", 3, 60.0) == 0.5
    clock.now = 60.0
    assert await limiter.take("ada", 3, 60.0) is None
    assert await limiter.take("ada", 3, 60.0) == 10.0


async def test_another_limit_holds_from_then_on() -> None:
    clock = Seconds()
    limiter = LocalLimiter(clock)
    for clock.now in (0.0, 1.0, 2.0):
        await limiter.take("ada", 3, 60.0)

    assert await limiter.take("ada", 4, 60.0) is None
    assert await limiter.take("ada", 2, 60.0) == 60.0
    assert await limiter.take("ada", 4, 1.0) is None


async def test_what_is_counted_takes_only_so_much_room() -> None:
    clock = Seconds()
    limiter = LocalLimiter(clock, most_names=10, most_moments=25)
    for n in range(100):
        for _ in range(5):
            await limiter.take(f"user {n}", 5, 60.0)
    assert limiter.size == (5, 25)

    assert await limiter.take("user 99", 5, 60.0) is not None
    for n in range(100):
        await limiter.take(f"address {n}", 5, 60.0)
    assert limiter.size == (10, 10)


async def test_one_name_is_counted_however_many_moments_that_takes() -> None:
    limiter = LocalLimiter(Seconds(), most_moments=2)
    taken = [await limiter.take("ada", 5, 60.0) for _ in range(6)]

    assert taken == [None] * 5 + [60.0]


@pytest.mark.parametrize(
    ("client", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("a socket", "a socket"),
        (None, ""),
    ],
)
def test_a_network_of_ipv6_is_one_place(client: str | None, address: str) -> None:
    scope: dict[str, Any] = {"client": (client, 1) if client is not None else None, "headers": []}
    assert TrustedProxies().address_of(scope) == address


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        ("10.0.0.7", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.7", ["198.51.100.1, 203.0.113.9, 10.0.0.8"], "203.0.113.9"),
        ("10.0.0.7", ["198.51.100.1", "203.0.113.9:4711", "10.0.0.8"], "203.0.113.9"),
        ("10.0.0.7", ["[2001:db8::7]:4711"], "2001:db8::/64"),
        ("10.0.0.7", ["10.0.0.9, 10.0.0.8"], "10.0.0.9"),
        ("10.0.0.7", ["198.51.100.1, unknown"], "10.0.0.7"),
        ("10.0.0.7", ["198.51.100.1, unknown, 10.0.0.8"], "10.0.0.8"),
        ("10.0.0.7", [""], "10.0.0.7"),
        ("10.0.0.7", [], "10.0.0.7"),
        ("::ffff:10.0.0.7", ["203.0.113.9"], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),  # whoever is not trusted says what they like
        (None, ["198.51.100.1"], ""),
    ],
)
def test_behind_trusted_proxies_the_last_address_that_one_of_them_saw_counts(
    client: str | None, forwarded: list[str], address: str
) -> None:
    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    scope: dict[str, Any] = {"client": (client, 1) if client is not None else None, "headers": headers}

    assert TrustedProxies(("10.0.0.0/24",)).address_of(scope) == address


# Over HTTP


async def test_a_caller_past_the_rate_limit_gets_429_with_retry_after(tmp_path: Path) -> None:
    clock = Seconds()
    limits: dict[str, Any] = {"settings": ApiSettings(rate_limit=(3, 60.0)), "limiter": LocalLimiter(clock)}
    async with engine_at(tmp_path) as engine, listening(engine, **limits) as api:
        passed = [await api.get("/me") for _ in range(3)]
        clock.now = 59.9
        refused = await api.get("/me")
        forbidden = await api.get("/keys", as_="viewer")
        other = await api.get("/me", as_="viewer")
        healthy = await api.get("/healthz", as_="")
        clock.now = 60.0
        again = await api.get("/me")

    assert [one.status for one in passed] == [200] * 3
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "rate_limited", "1")
    assert refused.json["retry_after"] == 1
    assert (forbidden.status, other.status, healthy.status, again.status) == (403, 200, 200, 200)


async def test_all_keys_of_a_user_are_one_caller(tmp_path: Path) -> None:
    settings = ApiSettings(rate_limit=(2, 3600.0))
    async with served(tmp_path, settings=settings) as api:
        first = await api.get("/me", as_="ada:viewer")
        second = await api.get("/me", as_="ada:operator")
        third = await api.get("/me", as_="ada:approver")

    assert (first.status, second.status, third.status) == (200, 200, 429)


async def test_callers_without_valid_credentials_are_counted_by_address(tmp_path: Path) -> None:
    settings = ApiSettings(rate_limit=(3, 3600.0))
    async with served(tmp_path, settings=settings) as api:
        nobody = [(await api.get("/me", as_="")).status for _ in range(2)]
        guesses = [(await api.get("/me", as_="", headers={"x-api-key": f"guess {n}"})).status for n in range(3)]
        known = await api.get("/me")

    assert nobody == [401, 401]
    assert guesses == [401, 429, 429]
    assert known.status == 200  # three guesses are not too many


async def test_callbacks_are_counted_by_their_tokens_and_not_by_the_machine_that_they_come_from(tmp_path: Path) -> None:
    work = Held()
    settings = ApiSettings(rate_limit=(2, 3600.0))
    async with engine_at(tmp_path, work) as engine, listening(engine, settings=settings) as api:
        limiter = api.services.limiter
        assert isinstance(limiter, LocalLimiter)
        await engine.workflows.register(flow(callback(heartbeat="1h"), end(1)))
        tokens = []
        for _ in range(3):
            await engine.executions.start("flow")
            tokens.append(str((await work.begun()).given["token"]))
        beats = [(await api.post(f"/callbacks/{token}/heartbeat", as_="")).status for token in tokens * 2]
        refused = await api.post(f"/callbacks/{tokens[0]}", as_="")
        kept = repr(vars(limiter))
        unknown = [(await api.post(f"/callbacks/guess{n}", as_="")).status for n in range(4)]

    assert beats == [202] * 6
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert not any(token in kept for token in tokens)
    assert unknown == [404, 404, 429, 429]  # whoever guesses is known by their address


async def unread(app: ASGIApp, method: str, path: str, *headers: tuple[bytes, bytes], length: int = 2_000_000) -> int:
    """Return the status of the answer to a request whose body must not be read."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-length", str(length).encode()), *headers],
        "client": ("127.0.0.1", 50_000),
    }
    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("the body is read")

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize("act", ["", "/fail", "/heartbeat"])
@pytest.mark.parametrize("token", ["anything", "A" * 43])
async def test_the_body_of_a_callback_with_an_unknown_token_is_never_read(tmp_path: Path, act: str, token: str) -> None:
    async with engine_at(tmp_path) as engine:
        status = await unread(application(engine), "POST", f"/api/v1/callbacks/{token}{act}")

    assert status == 404


async def test_a_delivery_that_is_announced_as_too_large_is_never_read(tmp_path: Path) -> None:
    webhook = {"name": "paid", "type": "webhook", "verify": {"scheme": "none"}}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register({**flow(end("done"), name="order"), "triggers": [webhook]})
        app = application(engine, settings=UNLIMITED)
        assert await unread(app, "POST", "/hooks/order/paid", length=1_000_001) == 413
        assert await unread(app, "POST", "/hooks/order/paid", length=1_000_000) == 500, "this one is read"


async def test_the_body_of_a_delivery_for_no_webhook_is_never_read(tmp_path: Path) -> None:
    taken = [route.path for route in ROUTES if route.body is not None and route.open in ("anybody", "sender")]
    async with engine_at(tmp_path) as engine:
        paths = ("/hooks/order/paid", "/hooks/t/anything", f"/hooks/t/1{'A' * 43}")
        statuses = {await unread(application(engine), "POST", path) for path in paths}

    expected = ["/hooks/{workflow}/{name}", "/hooks/t/{token}", "/api/v1/session"]  # which is known by its key
    assert taken == expected, "who sends a delivery is known by what is in it"
    assert statuses == {404}


async def test_the_body_of_an_unauthenticated_or_forbidden_request_is_never_read(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        without_permission = (b"x-api-key", (await api.key_of("nothing")).encode())
        guessed = (b"x-api-key", b"lay_" + b"A" * 43)
        app = application(engine, settings=UNLIMITED)
        for route in ROUTES:
            if route.body is not None and not route.is_open:
                assert await unread(app, route.method, route.path) == 401
                assert await unread(app, route.method, route.path, guessed) == 401
                if route.open != "known":  # these need no permission
                    assert await unread(app, route.method, route.path, without_permission) == 403


async def test_what_is_refused_is_not_kept_for_the_same_request(tmp_path: Path) -> None:
    clock = Seconds()
    limits: dict[str, Any] = {"settings": ApiSettings(rate_limit=(1, 60.0)), "limiter": LocalLimiter(clock)}
    async with engine_at(tmp_path) as engine, listening(engine, **limits) as api:
        await api.get("/me")
        refused = await api.post("/keys", ASKED, key="k")
        clock.now = 60.0
        done = await api.post("/keys", ASKED, key="k")

    assert (refused.status, done.status) == (429, 201)
    assert "idempotency-replayed" not in done.headers


# Bodies


class Raw:
    """A connection on which a test says every byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, *lines: str, body: bytes = b"") -> None:
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        await self.writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        """Return the status and all that comes until the server closes the connection."""
        text = await self.reader.read()
        self.writer.close()
        return int(text.split(b" ", 2)[1]), text


async def raw(api: Api) -> Raw:
    host, port = api.url.removeprefix("http://").split(":")
    return Raw(*await asyncio.open_connection(host, int(port)))


HEAD = ("POST /api/v1/keys HTTP/1.1", "host: here", f"x-api-key: {ADMIN_KEY}", "content-type: application/json")


async def test_a_body_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, body_limit=100)
    large = {**ASKED, "name": "x" * 100}
    fitting = {**ASKED, "name": "x" * (100 - len(msgspec.json.encode(ASKED)) + 1)}
    async with served(tmp_path, settings=settings) as api:
        announced = await api.post("/keys", large)
        exact = await api.post("/keys", fitting)
        connection = await raw(api)
        await connection.send(*HEAD, "content-length: 101")
        status, _ = await connection.answer()  # before any of it was sent

    assert len(msgspec.json.encode(fitting)) == 100
    assert (announced.status, announced.code, announced.headers["connection"]) == (413, "payload_too_large", "close")
    assert exact.status == 201
    assert status == 413


async def test_a_body_in_chunks_is_counted_as_it_comes(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, body_limit=100)
    async with served(tmp_path, settings=settings) as api:
        connection = await raw(api)
        await connection.send(*HEAD, "transfer-encoding: chunked", body=b"41\r\n" + b" " * 65 + b"\r\n")
        connection.writer.write(b"41\r\n" + b" " * 65 + b"\r\n")
        status, text = await connection.answer()  # there is no end of it

    assert status == 413
    assert b"payload_too_large" in text


async def test_a_body_that_does_not_come_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, body_timeout=0.05)
    async with served(tmp_path, settings=settings) as api:
        connection = await raw(api)
        await connection.send(*HEAD, "content-length: 50", body=b'{"name":')
        status, text = await connection.answer()
        alive = await api.get("/me")

    assert status == 408
    assert b"request_timeout" in text
    assert alive.status == 200


async def test_a_client_that_goes_away_meanwhile_leaves_nothing_behind(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        connection = await raw(api)
        await connection.send(*HEAD, "content-length: 50", body=b'{"name":')
        connection.writer.close()
        await connection.writer.wait_closed()
        listed = await api.get("/keys")

    assert listed.json["items"] == []


@pytest.mark.parametrize(
    ("body", "levels"),
    [
        (b"", 0),
        (b"7", 0),
        (b"[]", 1),
        (b'{"a":[{}]}', 3),
        (b"[" * 10, 10),
        (b"[]" * 10, 1),
        (b'["[[[[[[","\\"[[[["]', 1),
        (b'"\\\\",[[]]', 2),
        (b'{"[":{"}":{}}}', 3),
    ],
)
def test_depth_is_that_of_objects_and_arrays_and_not_of_texts(body: bytes, levels: int) -> None:
    check_nesting(body, ApiSettings(depth_limit=levels))
    if levels:
        with pytest.raises(Refusal, match=f"deeper than {levels - 1} levels"):
            check_nesting(body, ApiSettings(depth_limit=levels - 1))


_JSON = strategies.recursive(
    strategies.none() | strategies.text('"\\[]{}a\n'),
    lambda parts: strategies.lists(parts) | strategies.dictionaries(strategies.text('"\\[]{}a'), parts),
)


@given(_JSON)
def test_nesting_is_counted_as_the_parser_reads_it(value: object) -> None:
    def containers(part: object) -> list[int]:
        """Return the depth of each object and array, from the inside."""
        if not isinstance(part, list | dict):
            return []
        within = [depth for one in (part.values() if isinstance(part, dict) else part) for depth in containers(one)]
        return [1, *(depth + 1 for depth in within)]

    raw, found = msgspec.json.encode(value), containers(value)
    deepest = max(found, default=0)
    check_nesting(raw, ApiSettings(depth_limit=deepest, nesting_limit=len(found)))
    if found:
        with pytest.raises(Refusal, match="deeper than"):
            check_nesting(raw, ApiSettings(depth_limit=deepest - 1))
        with pytest.raises(Refusal, match="more than"):
            check_nesting(raw, ApiSettings(nesting_limit=len(found) - 1))


async def test_a_body_of_too_many_parts_is_refused_before_they_are_made(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(UNLIMITED, nesting_limit=1_000)
    async with served(tmp_path, settings=settings) as api:
        many = await api.ask("POST", "/keys", raw=b"[" + b"[]," * 1_000 + b"]")
        fewer = await api.ask("POST", "/keys", raw=b"[" + b"[]," * 998 + b"[]]")

    assert (many.status, many.code) == (413, "payload_too_large")
    assert (fewer.status, fewer.code) == (422, "invalid_body")


async def test_a_body_that_nests_too_deep_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        deep = [await api.ask("POST", "/keys", raw=one * 50_000) for one in (b"[", b'{"a":', b"[{}]")]
        below = await api.ask("POST", "/keys", raw=b'{"name":' + b"[" * 99 + b"]" * 99 + b"}")

    assert [(one.status, one.code) for one in deep[:2]] == [(400, "malformed")] * 2
    assert deep[2].status in (400, 422)
    assert (below.status, below.code) == (422, "invalid_body")
