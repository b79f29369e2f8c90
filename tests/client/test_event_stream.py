"""Following an execution over connections that are lost: nothing is seen twice, and nothing is missed."""

from __future__ import annotations

import pytest

from layover import LayoverError, NotFound, RequestPolicy, Unavailable
from tests.client.scripted import EXECUTION, Hurried, Says, problem, scripted

ID = str(EXECUTION["id"])
END = b'event: end\ndata: {"status": "completed"}\n\n'


def _told(*numbers: int) -> bytes:
    return b"retry: 2000\n\n: alive\n\n" + b"".join(
        b'id: %d\nevent: NodeStarted\ndata: {"seq":%d,"at":"2026-03-01T09:30:00.000Z","type":"T","data":{}}\n\n'
        % (number, number)
        for number in numbers
    )


async def _seen(hurried: Hurried, since: int = 0) -> list[int]:
    return [event.seq async for event in hurried.execution.events(since=since)]


async def test_it_ends_with_the_execution() -> None:
    async with scripted(Says(body=_told(2, 3) + END)) as server, Hurried(server.url) as hurried:
        assert await _seen(hurried, 2) == [2, 3]
    assert server.asked[0].path == f"/api/v1/executions/{ID}/stream?since=2"
    assert server.asked[0].headers["accept"] == "text/event-stream"


async def test_it_goes_on_behind_what_was_seen() -> None:
    cut = _told(2, 3)[:-20]  # in the middle of an event
    says = [Says(body=_told(0, 1)), Says(hangs_up=True), Says(body=cut), Says(body=_told(3) + END)]
    async with scripted(*says) as server, Hurried(server.url) as hurried:
        assert await _seen(hurried) == [0, 1, 2, 3]
    assert [asked.path.partition("?")[2] for asked in server.asked] == ["since=0", "since=2", "since=2", "since=3"]


async def test_lines_may_end_as_on_other_machines() -> None:
    said = (_told(0) + END).replace(b"\n", b"\r\n")
    async with scripted(Says(body=said)) as server, Hurried(server.url) as hurried:
        assert await _seen(hurried) == [0]


async def test_a_busy_server_is_asked_again_and_a_refusal_is_raised() -> None:
    says = [problem(503, "too_many_streams", ("Retry-After", "5")), problem(404, "unknown_execution")]
    async with scripted(*says) as server, Hurried(server.url) as hurried:
        with pytest.raises(NotFound) as raised:
            await _seen(hurried)
    assert raised.value.code == "unknown_execution"
    assert len(server.asked) == 2
    assert min(hurried.waited) >= 5


async def test_it_gives_up_when_nothing_is_heard_any_more() -> None:
    says = [Says(body=_told(0)), *[Says(body=b"")] * 3]
    async with scripted(*says) as server, Hurried(server.url, RequestPolicy(tries=4)) as hurried:
        with pytest.raises(Unavailable) as raised:
            await _seen(hurried)
    assert raised.value.code == "unreachable"
    assert len(server.asked) == 4


async def test_what_is_no_event_is_an_error() -> None:
    async with scripted(Says(body=b"data: nonsense\n\n")) as server, Hurried(server.url) as hurried:
        with pytest.raises(LayoverError) as raised:
            await _seen(hurried)
    assert raised.value.code == "bad_answer"
