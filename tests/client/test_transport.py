"""What a client does on its way to a server: who it shows its key to, what it tries again, and when it gives up."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from layover import BadUse, Client, Closed, InvalidInput, LayoverError, RequestPolicy, Unavailable
from layover.client.request_policy import RetryLimits
from layover.client.requests import path_of
from tests.client.scripted import EXECUTION, KEY, Hurried, Says, problem, scripted

if TYPE_CHECKING:
    from collections.abc import Awaitable

ID = str(EXECUTION["id"])


async def test_a_call_that_changes_something_has_a_key_of_its_own() -> None:
    async with scripted(Says(), Says(), Says()) as server, Hurried(server.url) as hurried:
        for key in (None, None, "mine"):
            await hurried.execution.pause(idempotency_key=key)

    keys = [asked.headers["idempotency-key"] for asked in server.asked]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_what_passes_is_tried_again_with_the_same_key(status: int) -> None:
    busy = problem(status, "stopping", ("Retry-After", "2"))
    async with scripted(busy, busy, Says()) as server, Hurried(server.url) as hurried:
        found = await hurried.client.start("order", {"n": 1})

    assert found.id == ID
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert [asked.body for asked in server.asked] == [b'{"workflow":"order","input":{"n":1}}'] * 3
    assert len(hurried.waited) == 2
    assert min(hurried.waited) >= 2


async def test_a_lost_connection_is_made_again() -> None:
    lost = Says(hangs_up=True)
    async with scripted(lost, lost, Says()) as server, Hurried(server.url) as hurried:
        assert (await hurried.execution.pause()).id == ID

    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert len(hurried.waited) == 2


async def test_the_same_request_at_work_elsewhere_is_waited_for() -> None:
    busy = problem(409, "in_progress", ("Retry-After", "1"))
    async with scripted(*[busy] * 10, Says()) as server, Hurried(server.url, RequestPolicy(tries=2)) as hurried:
        assert (await hurried.execution.pause()).id == ID

    assert len(server.asked) == 11
    assert min(hurried.waited) >= 1


@pytest.mark.parametrize("says", [Says(hangs_up=True), problem(503, "stopping")])
async def test_a_reply_to_a_callback_is_sent_once_since_it_may_have_been_taken(says: Says) -> None:
    async with scripted(says) as server, Hurried(server.url) as hurried:
        with pytest.raises(LayoverError):
            await hurried.client.callback("token").complete(5)

    (asked,) = server.asked
    assert "authorization" not in asked.headers
    assert "idempotency-key" not in asked.headers


async def test_a_reply_that_was_not_taken_is_sent_again() -> None:
    busy = problem(429, "rate_limited", ("Retry-After", "1"))
    async with scripted(busy, Says(202)) as server, Hurried(server.url) as hurried:
        await hurried.client.callback("token").complete({"ok": True})

    assert [asked.body for asked in server.asked] == [b'{"ok":true}'] * 2


async def test_it_gives_up_after_so_many_tries() -> None:
    busy = problem(503, "store_unavailable")
    async with scripted(*[busy] * 3) as server, Hurried(server.url, RequestPolicy(tries=3)) as hurried:
        with pytest.raises(LayoverError) as raised:
            await hurried.client.execution(ID)

    assert (type(raised.value), raised.value.code) == (Unavailable, "store_unavailable")
    assert len(server.asked) == 3


async def test_it_does_not_wait_for_longer_than_the_whole_may_take() -> None:
    busy = problem(429, "rate_limited", ("Retry-After", "60"))
    async with scripted(busy) as server, Hurried(server.url, RequestPolicy(total="30s")) as hurried:
        with pytest.raises(LayoverError, match="It is rate_limited"):
            await hurried.client.execution(ID)

    assert hurried.waited == []


async def test_waits_grow_and_are_never_the_same_for_all() -> None:
    limits = RetryLimits(RequestPolicy(first_wait="1s", longest_wait="8s"))
    for tried, longest in enumerate([1, 2, 4, 8, 8, 8], start=1):
        waits = {limits.wait_after(tried, None) for _ in range(50)}
        assert longest / 2 <= min(waits) < max(waits) <= longest
    assert limits.wait_after(1_000_000, None) <= 8


async def test_a_server_that_does_not_answer_is_left() -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    with silent:
        async with Hurried(url, RequestPolicy(total="50ms")) as hurried:
            with pytest.raises(Unavailable) as raised:
                await hurried.client.execution(ID)
    assert raised.value.code == "timed_out"


async def test_an_unreachable_server_raises_unavailable_after_the_last_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    async with Hurried(url, RequestPolicy(tries=2)) as hurried:
        with pytest.raises(Unavailable, match="cannot be reached") as raised:
            await hurried.client.callback("token").complete()
    assert raised.value.code == "unreachable"
    assert len(hurried.waited) == 1  # a reply that never left is sent again


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
        with pytest.raises(LayoverError) as raised:
            await hurried.client.execution(ID)
    assert raised.value.code == code
    assert len(server.asked) == 1


async def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    async with scripted(Says(200, b" " * 2_000_000)) as server, Hurried(server.url) as hurried:
        hurried.client._transport._longest_answer = 1_000_000  # noqa: SLF001 - so that the test is short
        with pytest.raises(LayoverError) as raised:
            await hurried.client.execution(ID)
    assert raised.value.code == "answer_too_large"


async def test_an_answer_of_a_later_release_is_understood() -> None:
    async with scripted(Says(200, {**EXECUTION, "mood": "good"})) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.execution(ID)).status == "running"


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with scripted(Says()) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.execution(ID)).id == ID


async def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refused = problem(401, "unauthenticated")
    async with scripted(refused) as server, Hurried(server.url) as hurried:
        with pytest.raises(LayoverError) as raised:
            await hurried.client.callback("a-token-that-nobody-may-see").complete()
        client = hurried.client
        seen = f"{raised.value!r} {client!r} {vars(client)} {client._transport.address!r}"  # noqa: SLF001 - all of it
    assert KEY not in seen + caplog.text
    assert "a-token" not in seen + caplog.text


async def test_a_name_in_a_path_stays_one_name() -> None:
    async with scripted(*[Says()] * 3) as server, Hurried(server.url) as hurried:
        for name in ("a?c#d%2F", "ü", " x"):
            await hurried.client.execution(name)
        for nothing in ("", ".", "..", "a/b"):
            with pytest.raises(InvalidInput, match="is not an execution id"):
                await hurried.client.execution(nothing)
            for find, what in (("find_batch", "batch"), ("delivery", "delivery")):
                with pytest.raises(InvalidInput, match=f"is not a {what} id"):
                    await getattr(hurried.client, find)(nothing)
    paths = [asked.path.removeprefix("/api/v1/executions/") for asked in server.asked]
    assert paths == ["a%3Fc%23d%252F", "%C3%BC", "%20x"]


def test_a_query_says_only_what_is_given() -> None:
    path = path_of("executions", status=["a", "b"], tag=None, for_="me", allow=True, limit=0, where=[])
    assert path == "/api/v1/executions?status=a&status=b&for=me&allow=true&limit=0"


async def test_a_server_may_be_mounted_below_a_path() -> None:
    async with scripted(Says()) as server, Hurried(f"{server.url}/below/") as hurried:
        await hurried.client.execution(ID)
    assert server.asked[0].path == f"/below/api/v1/executions/{ID}"


@pytest.mark.parametrize(
    "url",
    ["", "layover", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h#x", "http://h:x", "http://h:0"],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        Client(url)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "ü"])
def test_an_invalid_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        Client("http://h", api_key=key)
    assert not key or key not in str(raised.value)


@pytest.mark.parametrize("key", ["", "x" * 256, "ü", "a\nb"])
async def test_an_invalid_idempotency_key_is_refused(key: str) -> None:
    async with Hurried("http://127.0.0.1:1") as hurried:
        with pytest.raises(LayoverError, match="idempotency_key"):
            await hurried.execution.retry(idempotency_key=key)


@pytest.mark.parametrize("data", [object(), {"n": float("nan")}], ids=["object", "nan"])
async def test_data_that_is_not_json_is_refused(data: object) -> None:
    async with Hurried("http://127.0.0.1:1") as hurried:
        with pytest.raises(LayoverError) as raised:
            await hurried.client.start("order", data)
    assert raised.value.code == "payload_not_json"


async def test_a_client_works_while_it_is_open() -> None:
    async with scripted(Says(), Says()) as server:
        client = Client(server.url)
        with pytest.raises(Closed, match="is not open"):
            await client.execution(ID)
        for _ in range(2):
            async with client:
                assert (await client.execution(ID)).id == ID
            with pytest.raises(Closed):
                await client.execution(ID)
        await client.close("1s")


@pytest.mark.parametrize("grace", [5, "soon"])
async def test_how_long_closing_may_take_is_a_length_of_time(grace: object) -> None:
    with pytest.raises(InvalidInput, match="grace"):
        await Client("http://h").close(grace)  # type: ignore[arg-type]


async def test_a_request_that_is_not_answered_when_the_client_is_closed_is_given_up() -> None:
    asked = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()  # until the client is gone
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Hurried(url) as hurried, asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(_refused(hurried.client.execution(ID)))
        await asked.wait()
        await hurried.client.close()
    assert isinstance(reading.result(), Closed)


async def test_closing_with_grace_waits_for_the_answer() -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_: web.BaseRequest) -> web.Response:
        asked.set()
        await may_answer.wait()
        return web.json_response(EXECUTION)

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    client = Client(f"http://127.0.0.1:{runner.addresses[0][1]}")
    async with client, asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(client.execution(ID))
        await asked.wait()
        closing = tasks.create_task(client.close("1m"))
        await asyncio.sleep(0)
        assert not closing.done()
        may_answer.set()
    assert reading.result().id == ID
    await runner.cleanup()


async def _refused(asking: Awaitable[object]) -> LayoverError:
    with pytest.raises(LayoverError) as raised:
        await asking
    return raised.value


async def test_only_an_engine_knows_a_callback_by_its_point() -> None:
    async with Hurried("http://127.0.0.1:1") as hurried:
        with pytest.raises(BadUse, match="token"):
            hurried.client.callback(point_id="p")
        with pytest.raises(BadUse):
            hurried.client.callback()


@pytest.mark.parametrize(
    "policy",
    [{"total": 30}, {"connect": "soon"}, {"tries": 0}],
    ids=["number", "word", "try"],
)
def test_a_policy_is_made_of_lengths_of_time(policy: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as raised:
        RequestPolicy(**policy)  # type: ignore[arg-type]
    assert [path for path, _ in raised.value.errors] == [*policy]


async def test_many_calls_at_once_share_a_client() -> None:
    async with scripted(*[Says()] * 50) as server, Hurried(server.url) as hurried:
        found = await asyncio.gather(*(hurried.client.execution(ID) for _ in range(50)))
    assert found[0].info == found[-1].info


def test_without_what_makes_requests_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "from layover import Client, LayoverError, SyncClient\n"
        "for kind in (Client, SyncClient):\n"
        "    try:\n        kind('http://h')\n"
        "    except LayoverError as error:\n        print(error.code, error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    said = "not_installed The client needs `aiohttp`: install it with `pip install layover[http]`."
    assert done.stdout.splitlines() == [said, said]
