"""Beginning executions: ids, keys, what is refused, and what is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any
from uuid import UUID

import pytest

from layover.core.payloads import MAX_INLINE, PayloadNotJson, PayloadTooLarge
from layover.errors import (
    AlreadyExists,
    Closed,
    InvalidInput,
    LayoverError,
    NotFound,
)
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import Held, Scripted, call, delay, end, engine_at, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

OWN = "0190a1b2-0000-7000-8000-000000000001"
ECHO = flow(end("${input}"))


async def test_an_execution_has_an_id_in_the_order_of_time(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        first, second = await engine.executions.start("flow"), await engine.executions.start("flow")
    assert UUID(first.id).version == UUID(second.id).version == 7
    assert first.id[:13] <= second.id[:13]


async def test_an_own_id_is_taken_in_its_usual_form(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        started = await engine.executions.start("flow", 5, id=OWN.upper())
        assert started.id == OWN
        assert await engine.executions.result(OWN.upper()) == 5


@pytest.mark.parametrize("id_", ["", "order-1", OWN[:-1], f"{OWN}0", f" {OWN}", OWN.replace("-", "")])
async def test_an_id_that_is_no_uuid_is_malformed(tmp_path: Path, id_: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        with pytest.raises(InvalidInput) as refused:
            await engine.executions.start("flow", id=id_)
        assert refused.value.code == "malformed_id"
        with pytest.raises(InvalidInput):
            await engine.queries.get(id_)
        assert await engine.lists.counts() == {}


async def test_an_id_in_use_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        await engine.executions.start("flow", "first", id=OWN)
        with pytest.raises(AlreadyExists) as refused:
            await engine.executions.start("flow", "second", id=OWN)
        assert refused.value.code == "already_exists"
        assert await engine.executions.result(OWN) == "first"
        assert await engine.lists.counts() == {"completed": 1}


async def test_the_same_key_is_the_same_execution(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        first = await engine.executions.start("flow", 1, key="order-7")
        again = await engine.executions.start("flow", 1, key="order-7", on_conflict="return")
        assert again.id == first.id
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", 1, key="order-7")
        assert (await engine.executions.start("flow", 1, key="order-8")).id != first.id


async def test_the_same_key_with_another_input_is_refused(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        first = await engine.executions.start("flow", {"paid": 1}, key="k")
        running = await work.begun()
        with pytest.raises(AlreadyExists, match=first.id) as refused:
            await engine.executions.start("flow", {"paid": True}, key="k", on_conflict="return")
        assert refused.value.code == "idempotency_mismatch"
        running.returns()
        await engine.executions.wait(first.id)
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", {"paid": True}, key="k", on_conflict="return")
        await engine.workflow_status.set("flow", "deleted")
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", {"paid": True}, key="k", on_conflict="return")
        assert (await engine.executions.start("flow", {"paid": 1}, key="k", on_conflict="return")).id == first.id


async def test_the_same_key_of_another_workflow_is_another_execution(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        await engine.workflows.register({**ECHO, "name": "other"})
        one, other = await engine.executions.start("flow", key="k"), await engine.executions.start("other", key="k")
        assert one.id != other.id


async def test_the_same_key_many_times_at_once_begins_one_execution(tmp_path: Path) -> None:
    work = Scripted("done")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        starts = [engine.executions.start("flow", 1, key="k", on_conflict="return", wait="end") for _ in range(20)]
        found = await asyncio.gather(*starts)
        assert len({one.id for one in found}) == 1
        assert {one.status for one in found} == {"completed"}
        assert len(work.calls) == 1


async def test_one_of_many_starts_under_an_id_at_once_wins_and_the_others_raise(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        starts = [engine.executions.start("flow", n, id=OWN) for n in range(20)]
        found = await asyncio.gather(*starts, return_exceptions=True)
        (won,) = [one for one in found if not isinstance(one, BaseException)]
        assert sum(isinstance(one, AlreadyExists) for one in found) == 19
        assert await engine.executions.result(OWN) == won.input


async def test_a_key_whose_execution_is_still_running_can_be_waited_for(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        first = await engine.executions.start("flow", key="k")
        running = await work.begun()
        waiting = asyncio.create_task(engine.executions.start("flow", key="k", on_conflict="return", wait="end"))
        running.returns("it")
        found = await waiting
        assert (found.id, found.output) == (first.id, "it")


async def test_an_unknown_workflow_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(NotFound) as refused:
            await engine.executions.start("nothing")
        assert refused.value.code == "unknown_workflow"


async def test_an_unknown_execution_is_said_to_be_unknown(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        asked = [
            engine.queries.get,
            engine.executions.wait,
            engine.executions.result,
            engine.queries.why,
            engine.queries.nodes,
        ]
        for ask in asked:
            with pytest.raises(NotFound) as refused:
                await ask(OWN)
            assert refused.value.code == "unknown_execution"
        for command in (engine.control.pause, engine.control.resume, engine.control.cancel, engine.control.retry):
            with pytest.raises(NotFound):
                await command(OWN)


async def test_input_that_does_not_fit_is_refused_with_the_places(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["id"], "properties": {"lines": {"items": {"type": "integer"}}}}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("${input.id}"), input=schema))
        with pytest.raises(InvalidInput) as refused:
            await engine.executions.start("flow", {"lines": [1, "two"]})
        assert refused.value.code == "invalid_input"
        assert {path for path, _ in refused.value.errors} == {"", "lines/1"}
        assert await engine.lists.counts() == {}
        assert (await engine.executions.start("flow", {"id": 3}, wait="end")).output == 3


async def test_input_that_is_too_large_or_no_json_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        with pytest.raises(PayloadTooLarge):
            await engine.executions.start("flow", "x" * MAX_INLINE)
        for given in (object(), {"deep": [print]}, "\udc80"):
            with pytest.raises(PayloadNotJson):
                await engine.executions.start("flow", given)
        assert await engine.lists.counts() == {}


async def test_what_cannot_be_written_is_refused_and_takes_nothing_with_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path, executions=1) as engine:
        await engine.workflows.register(ECHO)
        for options in (Options(user="\udc80"), Options(tags=("\udc80",)), Options(correlation_id="\udc80")):
            starts = [
                engine.executions.start("flow", options=options),
                engine.executions.start("flow", "well", wait="end"),
            ]
            refused, well = await asyncio.gather(*starts, return_exceptions=True)
            assert isinstance(refused, LayoverError)
            assert not isinstance(well, BaseException)
            assert well.output == "well"
        assert (await engine.executions.start("flow", 1, wait="end")).status == "completed"
        assert await engine.lists.counts() == {"completed": 4}


async def test_what_is_said_about_an_execution_is_kept(tmp_path: Path) -> None:
    options = Options(user="ann", tags=("red", "blue"), priority=3, correlation_id="c-1")
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        started = await engine.executions.start("flow", {"a": 1}, options=options)
        for seen in (started, await engine.executions.wait(started.id)):
            assert (seen.user, seen.tags, seen.priority, seen.correlation_id) == ("ann", ("red", "blue"), 3, "c-1")
            assert seen.input == {"a": 1}


async def test_a_start_can_wait_for_rest(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        assert started.status == "paused"
        assert [one.kind for one in started.waiting_on] == ["form"]


async def test_a_start_can_wait_for_the_end_beyond_a_rest(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay(duration="50ms"), end("late")))
        started = await engine.executions.start("flow", wait="end")
        assert (started.status, started.output) == ("completed", "late")


async def test_a_start_is_durable_although_there_is_no_room_to_drive_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, executions=1) as engine:
        await engine.workflows.register(flow(call("a", input={"n": "${input}"})))
        await engine.executions.start("flow", 1)
        first = await work.begun()
        parked = await engine.executions.start("flow", 2)
        assert (await engine.queries.get(parked.id)).status == "running"
        assert await engine.lists.counts() == {"running": 2}
        assert len(work.calls) == 1
        first.returns()
        second = await work.begun()
        assert second.given == {"n": 2}
        second.returns("later")
        assert await engine.executions.result(parked.id) == "later"


async def test_a_start_without_room_waits_until_it_has_really_come_to_rest(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, executions=1) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        await engine.executions.start("flow")
        first = await work.begun()
        parked = asyncio.create_task(engine.executions.start("flow", id=OWN, wait="rest"))
        while len(await engine.lists.list(status=["running"])) != 2:
            pass  # it is being begun
        first.returns()
        (await work.begun()).returns()
        assert (await parked).status == "paused"


async def test_a_start_without_room_runs_in_the_next_engine(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, executions=1) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow")
        await work.begun()
        parked = await engine.executions.start("flow")
        await engine.stop(grace=0)
    async with engine_at(tmp_path, Scripted("there")) as engine:
        assert await engine.executions.result(parked.id) == "there"
        (node,) = await engine.queries.nodes(parked.id)
        assert [one.cause for one in node.attempts] == ["reached"]


async def test_an_engine_that_is_not_open_says_so(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    with pytest.raises(Closed):
        await engine.executions.start("flow")
    async with engine:
        await engine.workflows.register(ECHO)
    with pytest.raises(Closed) as refused:
        await engine.executions.start("flow")
    assert refused.value.code == "closed"


async def test_an_engine_can_be_opened_again(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    for _ in range(2):
        async with engine:
            await engine.workflows.register(ECHO)
            assert (await engine.executions.start("flow", 1, wait="end")).output == 1


async def test_an_execution_goes_on_after_its_caller_gave_up_waiting(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        starting = [asyncio.create_task(engine.executions.start("flow", key=f"{number}")) for number in range(20)]
        for number, one in enumerate(starting):
            for _ in range(number % 5):
                await asyncio.sleep(0)
            one.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        for number in range(20):
            again = await engine.executions.start("flow", key=f"{number}", on_conflict="return", wait="end")
            assert (again.status, again.output) == ("completed", "well")


async def test_what_is_returned_is_the_callers_own(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${input.list}"), variables={"v": [1]}))
        begun = await engine.executions.start("flow", {"list": [1]})
        running = await work.begun()
        assert isinstance(begun.input, dict)
        begun.input["list"].append(2)
        begun.variables["v"] = None
        running.returns()
        assert await engine.executions.result(begun.id) == [1]
        assert (await engine.queries.get(begun.id)).variables == {"v": [1]}


async def test_a_word_that_names_no_state_to_wait_for_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ECHO)
        started = await engine.executions.start("flow", 1)
        for asked in (engine.executions.start("flow", 1, wait="foo"), engine.executions.wait(started.id, "foo")):  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="not 'foo'"):
                await asked
        assert await engine.lists.counts() == {"completed": 1}


@pytest.mark.parametrize("nonsense", ["nonsense", "", None, 7])
async def test_what_is_no_id_is_said_to_be_none(tmp_path: Path, nonsense: Any) -> None:
    async with engine_at(tmp_path) as engine:
        for ask in (
            engine.queries.get,
            engine.executions.wait,
            engine.executions.result,
            engine.queries.why,
            engine.control.pause,
        ):
            with pytest.raises(InvalidInput, match=f"`{nonsense}` is not an execution id; those are UUIDs."):
                await ask(nonsense)
