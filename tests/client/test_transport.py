"""What a client does on its way to a server: who it shows its key to, what it tries again, and when it gives up."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys

import msgspec
import pytest

from layover.client import ApiError, AsyncClient, RequestPolicy, Unreachable
from layover.client.base_url import NoAddress
from layover.client.requests import path_of
from tests.client.scripted import EXECUTION, KEY, Hurried, Says, problem, scripted

ID = str(EXECUTION["id"])


async def test_a_call_that_changes_something_has_a_key_of_its_own() -> None:
    async with scripted(Says(), Says(), Says()) as server, Hurried(server.url) as hurried:
        for key in (None, None, "mine"):
            await hurried.client.executions.pause(ID, key=key)

    keys = [asked.headers["idempotency-key"] for asked in server.asked]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_what_passes_is_tried_again_with_the_same_key(status: int) -> None:
    busy = problem(status, "stopping", ("Retry-After", "2"))
    async with scripted(busy, busy, Says()) as server, Hurried(server.url) as hurried:
        found = await hurried.client.executions.start("order", {"n": 1})

    assert found.id == ID
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert [asked.body for asked in server.asked] == [b'{"workflow":"order","input":{"n":1}}'] * 3
    assert len(hurried.waited) == 2
    assert min(hurried.waited) >= 2


async def test_a_lost_connection_is_made_again() -> None:
    lost = Says(hangs_up=True)
    async with scripted(lost, lost, Says()) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.executions.pause(ID)).id == ID

    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert len(hurried.waited) == 2


async def test_the_same_request_at_work_elsewhere_is_waited_for() -> None:
    busy = problem(409, "in_progress", ("Retry-After", "1"))
    async with scripted(*[busy] * 10, Says()) as server, Hurried(server.url, tries=2) as hurried:
        assert (await hurried.client.executions.pause(ID)).id == ID

    assert len(server.asked) == 11
    assert min(hurried.waited) >= 1


@pytest.mark.parametrize("says", [Says(hangs_up=True), problem(503, "stopping")])
async def test_a_reply_to_a_callback_is_sent_once_since_it_may_have_been_taken(says: Says) -> None:
    async with scripted(says) as server, Hurried(server.url) as hurried:
        with pytest.raises(ApiError):
            await hurried.client.callbacks.complete("token", 5)

    (asked,) = server.asked
    assert "authorization" not in asked.headers
    assert "idempotency-key" not in asked.headers


async def test_a_reply_that_was_not_taken_is_sent_again() -> None:
    busy = problem(429, "rate_limited", ("Retry-After", "1"))
    async with scripted(busy, Says(202)) as server, Hurried(server.url) as hurried:
        await hurried.client.callbacks.complete("token", {"ok": True})

    assert [asked.body for asked in server.asked] == [b'{"ok":true}'] * 2


async def test_it_gives_up_after_so_many_tries() -> None:
    busy = problem(503, "store_unavailable")
    async with scripted(*[busy] * 3) as server, Hurried(server.url, tries=3) as hurried:
        with pytest.raises(ApiError) as raised:
            await hurried.client.executions.get(ID)

    assert (raised.value.status, raised.value.code) == (503, "store_unavailable")
    assert len(server.asked) == 3


async def test_it_does_not_wait_for_longer_than_the_whole_may_take() -> None:
    busy = problem(429, "rate_limited", ("Retry-After", "60"))
    async with scripted(busy) as server, Hurried(server.url, total=30) as hurried:
        with pytest.raises(ApiError, match="It is rate_limited"):
            await hurried.client.executions.get(ID)

    assert hurried.waited == []


async def test_waits_grow_and_are_never_the_same_for_all() -> None:
    patience = RequestPolicy(first_wait=1, longest_wait=8)
    for tried, longest in enumerate([1, 2, 4, 8, 8, 8], start=1):
        waits = {patience.wait_after(tried, None) for _ in range(50)}
        assert longest / 2 <= min(waits) < max(waits) <= longest
    assert patience.wait_after(1_000_000, None) <= 8


async def test_a_server_that_does_not_answer_is_left() -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    with silent:
        async with Hurried(url, total=0.05) as hurried:
            with pytest.raises(Unreachable) as raised:
                await hurried.client.executions.get(ID)
    assert raised.value.code == "timed_out"


async def test_a_server_that_is_not_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    async with Hurried(url, tries=2) as hurried:
        with pytest.raises(Unreachable, match="cannot be reached") as raised:
            await hurried.client.callbacks.complete("token")
    assert raised.value.code == "unreachable"
    assert len(hurried.waited) == 1  # a reply that never left is sent again


async def test_a_refusal_is_an_error_with_all_that_it_says() -> None:
    said = problem(
        409,
        "already_answered",
        errors=[{"path": "a.b", "message": "wrong"}],
        current_status="paused",
        winner={"by": "ada", "at": None, "answer": 5},
        holders=["x"],
        from_a_later_release=True,
    )
    async with scripted(said) as server, Hurried(server.url) as hurried:
        with pytest.raises(ApiError) as raised:
            await hurried.client.points.answer("p", 5)
    error = raised.value
    assert (error.status, error.code, error.message) == (409, "already_answered", "It is already_answered.")
    assert (error.errors, error.current_status, error.holders) == ((("a.b", "wrong"),), "paused", ("x",))
    assert error.winner is not None
    assert (error.winner.by, error.request_id) == ("ada", "r1")


@pytest.mark.parametrize(
    ("says", "code"),
    [
        (Says(500, b"<html>"), "bad_answer"),
        (Says(404, b""), "bad_answer"),
        (Says(200, b"not json"), "bad_answer"),
        (Says(200, {"id": 5}), "bad_answer"),
        (Says(200, b"[" * 100_000), "bad_answer"),
        (Says(302, b"", (("Location", "http://elsewhere.invalid/"),)), "redirected"),
        (Says(200, EXECUTION, (("Content-Encoding", "br"),)), "bad_answer"),
    ],
)
async def test_what_no_server_of_ours_says_is_an_error(says: Says, code: str) -> None:
    async with scripted(says) as server, Hurried(server.url) as hurried:
        with pytest.raises(ApiError) as raised:
            await hurried.client.executions.get(ID)
    assert raised.value.code == code
    assert len(server.asked) == 1


async def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    async with scripted(Says(200, b" " * 2_000_000)) as server, Hurried(server.url) as hurried:
        hurried.client._transport._longest_answer = 1_000_000  # noqa: SLF001 - so that the test is short
        with pytest.raises(ApiError) as raised:
            await hurried.client.executions.get(ID)
    assert raised.value.code == "answer_too_large"


async def test_an_answer_of_a_later_release_is_understood() -> None:
    async with scripted(Says(200, {**EXECUTION, "mood": "good"})) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.executions.get(ID)).status == "running"


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with scripted(Says()) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.executions.get(ID)).id == ID


async def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refused = problem(401, "unauthenticated")
    async with scripted(refused) as server, Hurried(server.url) as hurried:
        with pytest.raises(ApiError) as raised:
            await hurried.client.callbacks.complete("a-token-that-nobody-may-see")
        client = hurried.client
        seen = f"{raised.value!r} {client!r} {vars(client)} {client._transport.place!r}"  # noqa: SLF001 - all of it
    assert KEY not in seen + caplog.text
    assert "a-token" not in seen + caplog.text


async def test_a_name_in_a_path_stays_one_name() -> None:
    async with scripted(*[Says()] * 3) as server, Hurried(server.url) as hurried:
        for name in ("a/b?c#d%2F", "ü", " x"):
            await hurried.client.executions.get(name)
        for nothing in ("", ".", ".."):
            with pytest.raises(ApiError, match="names nothing"):
                await hurried.client.executions.get(nothing)
    paths = [asked.path.removeprefix("/api/v1/executions/") for asked in server.asked]
    assert paths == ["a%2Fb%3Fc%23d%252F", "%C3%BC", "%20x"]


def test_a_query_says_only_what_is_given() -> None:
    path = path_of("executions", status=["a", "b"], tag=None, for_="me", allow=True, limit=0, where=[])
    assert path == "/api/v1/executions?status=a&status=b&for=me&allow=true&limit=0"


async def test_a_server_may_be_mounted_below_a_path() -> None:
    async with scripted(Says()) as server, Hurried(f"{server.url}/below/") as hurried:
        await hurried.client.executions.get(ID)
    assert server.asked[0].path == f"/below/api/v1/executions/{ID}"


@pytest.mark.parametrize(
    "url",
    ["", "layover", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h#x", "http://h:x", "http://h:0"],
)
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(NoAddress):
        AsyncClient(url)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "ü"])
def test_what_is_no_key_is_told_and_not_shown(key: str) -> None:
    with pytest.raises(NoAddress) as raised:
        AsyncClient("http://h", key=key)
    assert not key or key not in str(raised.value)


@pytest.mark.parametrize("key", ["", "x" * 256, "ü", "a\nb"])
async def test_what_is_no_idempotency_key_is_told(key: str) -> None:
    async with Hurried("http://127.0.0.1:1") as hurried:
        with pytest.raises(ApiError, match="idempotency key"):
            await hurried.client.executions.retry(ID, key=key)


@pytest.mark.parametrize("data", [object(), {"n": float("nan")}], ids=["object", "nan"])
async def test_data_that_is_no_json_is_told(data: object) -> None:
    async with Hurried("http://127.0.0.1:1") as hurried:
        with pytest.raises(ApiError) as raised:
            await hurried.client.executions.start("order", data)
    assert raised.value.code == "payload_not_json"


async def test_many_calls_at_once_share_a_client() -> None:
    async with scripted(*[Says()] * 50) as server, Hurried(server.url) as hurried:
        found = await asyncio.gather(*(hurried.client.executions.get(ID) for _ in range(50)))
    assert len({msgspec.json.encode(one) for one in found}) == 1


def test_without_what_makes_requests_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "from layover import AsyncClient, Client, LayoverError\n"
        "for kind in (AsyncClient, Client):\n"
        "    try:\n        kind('http://h')\n"
        "    except LayoverError as error:\n        print(error.code, error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    said = "not_installed The client needs `aiohttp`: install it with `pip install layover[http]`."
    assert done.stdout.splitlines() == [said, said]
