"""Waiting for longer than a server waits at once: it is asked again until it is so, or the time is over."""

from __future__ import annotations

import msgspec
import pytest

from layover import ExecutionFailed, MissingFunctions, WaitTimeout
from tests.client.scripted import EXECUTION, Hurried, Says, problem, scripted

PAUSED = {**EXECUTION, "status": "paused"}
DONE = {**EXECUTION, "status": "completed", "output": 5}
FAILED = {**EXECUTION, "status": "failed", "error": {"code": "broken", "message": "It broke."}}
POINT = {
    "id": "p",
    "execution_id": EXECUTION["id"],
    "workflow": "order",
    "context_id": "ask",
    "node": "ask",
    "kind": "form",
    "status": "open",
    "response": {"url": "x"},
    "opened_at": EXECUTION["created_at"],
}
NOT_YET = Says(202, EXECUTION)
LACKING = problem(409, "missing_functions", execution_id=EXECUTION["id"], functions=["pay"])


async def test_a_result_is_waited_for_as_long_as_it_takes() -> None:
    async with scripted(NOT_YET, NOT_YET, Says(200, DONE)) as server, Hurried(server.url) as hurried:
        assert await hurried.execution.result() == 5
    path = f"/api/v1/executions/{EXECUTION['id']}?wait=25s&until=end"
    assert [asked.path for asked in server.asked] == [path] * 3
    assert len(hurried.waited) == 2  # what was answered early is not asked for again at once


async def test_what_an_execution_failed_with_is_raised() -> None:
    async with scripted(Says(200, FAILED)) as server, Hurried(server.url) as hurried:
        with pytest.raises(ExecutionFailed, match="It broke") as raised:
            await hurried.execution.result()
    assert raised.value.execution_id == EXECUTION["id"]


async def test_a_wait_past_its_timeout_raises() -> None:
    async with scripted(NOT_YET, NOT_YET) as server, Hurried(server.url) as hurried:
        with pytest.raises(WaitTimeout, match="it is running"):
            await hurried.execution.wait("rest", timeout="0s")
        with pytest.raises(WaitTimeout, match="has not ended in time"):
            await hurried.execution.result(timeout="0s")
    assert [asked.path.partition("?")[2] for asked in server.asked] == ["wait=1ms&until=rest", "wait=1ms&until=end"]


async def test_a_wait_for_missing_functions_raises() -> None:
    async with scripted(LACKING) as server, Hurried(server.url) as hurried:
        with pytest.raises(MissingFunctions, match="`pay`"):
            await hurried.execution.wait()


async def test_a_start_waits_for_what_it_is_asked_for() -> None:
    async with scripted(Says(202, PAUSED), Says(202, DONE)) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", until="people")).status == "paused"
        assert (await hurried.client.start("order", until="end", timeout="2s")).output == 5
    bodies = [msgspec.json.decode(asked.body) for asked in server.asked]
    assert bodies == [
        {"workflow": "order", "wait": "25s"},
        {"workflow": "order", "wait": "2s", "until": "end"},
    ]


async def test_a_start_goes_on_waiting_and_is_returned_with_its_open_points() -> None:
    says = [NOT_YET, NOT_YET, Says(200, PAUSED), Says(200, {"items": [POINT]})]
    async with scripted(*says) as server, Hurried(server.url) as hurried:
        found = await hurried.client.start("order", until="people")
    assert isinstance(found.info.pause_points, tuple)
    assert [point.id for point in found.info.pause_points] == ["p"]
    assert found.response == {"url": "x"}
    assert [asked.method for asked in server.asked] == ["POST", "GET", "GET", "GET"]


async def test_a_start_that_was_answered_before_is_read_anew() -> None:
    replayed = Says(202, {**EXECUTION, "user": "ada"}, (("Idempotency-Replayed", "true"),))
    async with scripted(replayed, Says(200, DONE)) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", idempotency_key="k")).output == 5
    of_another = Says(202, EXECUTION, (("Idempotency-Replayed", "true"),))
    async with scripted(of_another) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", idempotency_key="k")).status == "running"


async def test_an_act_that_was_answered_before_is_read_anew_if_the_user_may_read() -> None:
    replayed = Says(200, EXECUTION, (("Idempotency-Replayed", "true"),))
    says = [replayed, Says(200, PAUSED), replayed, problem(403, "forbidden")]
    async with scripted(*says) as server, Hurried(server.url) as hurried:
        assert (await hurried.execution.pause(idempotency_key="k")).status == "paused"
        assert (await hurried.execution.pause(idempotency_key="k")).status == "running"


async def test_a_start_by_a_user_who_may_not_read_is_as_it_was_started() -> None:
    async with scripted(NOT_YET, problem(403, "forbidden")) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", until="end")).status == "running"


async def test_a_start_past_its_time_returns_the_execution() -> None:
    async with scripted(Says(202, EXECUTION), NOT_YET) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", until="end", timeout="1ms")).status == "running"


async def test_a_start_that_lacks_functions_raises_unless_its_time_is_bounded() -> None:
    says = [Says(202, EXECUTION), LACKING, Says(200, EXECUTION), Says(202, EXECUTION), LACKING]
    async with scripted(*says) as server, Hurried(server.url) as hurried:
        assert (await hurried.client.start("order", until="end", timeout="1h")).status == "running"
        with pytest.raises(MissingFunctions):
            await hurried.client.start("order", until="end")
