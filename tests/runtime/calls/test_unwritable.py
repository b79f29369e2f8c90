"""Values that cannot be written are refused where they enter, and never make a call that succeeded be repeated."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine import events as ev
from layover.core.payloads import PayloadNotJson
from layover.errors import ExecutionFailed, InvalidInput, LayoverError
from layover.ports.errors import StoreError
from layover.ports.records import Append, Outcome  # noqa: TC001 - as above
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    Between,
    Held,
    Scripted,
    call,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

NAN, INFINITY = float("nan"), float("inf")


class Refusing(Between):
    """A store that refuses, for good, every append in which a text stands."""

    def __init__(self, folder: Path, refused: bytes) -> None:
        super().__init__(folder)
        self.refused: bytes | None = refused
        self.refusals = 0

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        if self.refused is not None and any(self.refused in append.events for append in appends):
            self.refusals += 1
            raise StoreError("There is no room for such a thing.")
        return await self.store.appends.commit(appends)


# Moments


UNTIL: dict[str, object] = {"id": "rest", "type": "delay", "until": "${input.until}"}


@pytest.mark.parametrize("until", [10**30, 2**63, 253_402_300_800_000], ids=["huge", "65 bits", "year 10,000"])
async def test_a_moment_that_cannot_be_written_fails_its_node_and_the_call_before_it_is_made_once(
    tmp_path: Path, until: int
) -> None:
    charge = Scripted("charged", name="charge")
    async with engine_at(tmp_path, charge) as engine:
        await engine.workflows.register(flow(call("charge", "charge"), UNTIL))
        done = await engine.executions.start("flow", {"until": until}, wait="end")
        assert done.status == "failed"
        assert done.error is not None
        assert (done.error.code, done.error.context_id) == ("invalid_argument", "rest")
        assert "`until`" in done.error.message
        assert "9999" in done.error.message
        assert len(charge.calls) == 1


async def test_a_workflow_can_take_care_of_a_moment_that_cannot_be_written(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow({**UNTIL, "next": {"error": "finish"}}, end("${errors.rest.code}")))
        assert (await engine.executions.start("flow", {"until": 10**30}, wait="end")).output == "invalid_argument"


async def test_a_moment_of_long_ago_has_passed(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(UNTIL, end("on")))
        assert (await engine.executions.start("flow", {"until": -(10**30)}, wait="end")).output == "on"


# What the store refuses for good


async def test_what_follows_a_call_fails_if_it_cannot_be_written_and_the_call_is_not_repeated(tmp_path: Path) -> None:
    store, charge = Refusing(tmp_path, b"cursed"), Scripted("charged", name="charge")
    async with engine_on(store, charge, Scripted("well")) as engine:
        await engine.workflows.register(flow(call("charge", "charge"), call("b", input={"text": "${'cur' + 'sed'}"})))
        done = await engine.executions.start("flow", wait="end")
        assert done.status == "failed"
        assert done.error is not None
        assert done.error.code == "unwritable"
        assert "There is no room for such a thing." in done.error.message
        nodes = {one.context_id: one for one in await engine.queries.nodes(done.id)}
        assert (nodes["charge"].status, nodes["charge"].output) == ("completed", "charged")
        # It is tried alone once, so that nothing that would pass is given up.
        assert store.refusals == 2
        store.refused = None  # somebody found the cause
        await engine.control.retry(done.id)
        assert await engine.executions.result(done.id) == "well"
        assert len(charge.calls) == 1


async def test_other_calls_that_returned_meanwhile_are_kept_too(tmp_path: Path) -> None:
    store, work = Refusing(tmp_path, b"cursed"), Held()
    body = call("a", input={"n": "${item}"}, next="b")
    follow = {"id": "b", "type": "compute", "output": "${'cur' + 'sed'}"}
    parallel = {**fan_out(body), "body": [body, follow]}
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(parallel))
        started = await engine.executions.start("flow", [1, 2])
        for one in await work.all_begun(2):
            one.returns(one.given["n"])
        with pytest.raises(ExecutionFailed, match="no room"):
            await engine.executions.result(started.id)
        completed = {
            one.event.node: one.event.output
            for one in await engine.queries.history(started.id)
            if isinstance(one.event, ev.NodeCompleted)
        }
        assert completed == {"a:each.0": 1, "a:each.1": 2}
        assert len(work.calls) == 2


async def test_an_answer_behind_which_nothing_can_be_written_is_kept(tmp_path: Path) -> None:
    store = Refusing(tmp_path, b"cursed")
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(form(), {"id": "b", "type": "compute", "output": "${'cur' + 'sed'}"}))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {"n": 1}, by="ann")
        with pytest.raises(ExecutionFailed, match="no room"):
            await engine.executions.result(started.id)
        store.refused = None
        await engine.control.retry(started.id)
        assert await engine.executions.result(started.id) == "cursed"


async def test_a_result_that_cannot_be_written_fails_the_execution_and_is_not_asked_for_again(tmp_path: Path) -> None:
    store, charge = Refusing(tmp_path, b"cursed"), Scripted("cursed", name="charge")
    async with engine_on(store, charge) as engine:
        await engine.workflows.register(flow(call("charge", "charge")))
        done = await engine.executions.start("flow", wait="end")
        assert done.error is not None
        assert (done.error.code, "no room" in done.error.message) == ("unwritable", True)
        assert len(charge.calls) == 1


async def test_a_start_that_is_refused_for_good_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    store = Refusing(tmp_path, b"cursed")
    async with engine_on(store, Scripted("well")) as engine:
        await engine.workflows.register(flow(call("a")))
        with pytest.raises(StoreError, match="no room"):
            await engine.executions.start("flow", {"text": "cursed"})
        assert not engine.instance.driver.active
        assert await engine.lists.counts() == {}


async def test_one_that_is_refused_does_not_spoil_its_group(tmp_path: Path) -> None:
    store, work = Refusing(tmp_path, b"cursed"), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b", "compute", output="${nodes.a}")))
        started = [await engine.executions.start("flow") for _ in range(5)]
        for index, one in enumerate(await work.all_begun(5)):
            one.returns("cursed" if index == 2 else "well")
        done = [await engine.executions.wait(one.id) for one in started]
        assert sorted(one.status for one in done) == ["completed"] * 4 + ["failed"]
        assert len(work.calls) == 5


# Numbers that JSON does not have


@pytest.mark.parametrize(
    ("output", "path"),
    [(NAN, "The value is nan"), ({"a": [1, {"b": INFINITY}], "c": None}, "`a[1].b` is inf")],
    ids=["nan", "within"],
)
async def test_a_function_that_returns_what_json_does_not_have_fails_for_good(
    tmp_path: Path, output: object, path: str
) -> None:
    work = Scripted(output)
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 3, "delay": "0s"})))
        done = await engine.executions.start("flow", wait="end")
        assert done.error is not None
        assert (done.error.code, done.error.retryable) == ("payload_not_json", False)
        assert path in done.error.message
        assert len(work.calls) == 1


async def test_what_json_does_not_have_is_refused_where_it_enters(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        with pytest.raises(PayloadNotJson, match="`lines\\[1\\]` is nan"):
            await engine.executions.start("flow", {"lines": [1, NAN]})
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        with pytest.raises(PayloadNotJson, match="`n` is inf"):
            await engine.answers.answer(row.point.id, {"n": INFINITY}, by="ann")
        with pytest.raises(PayloadNotJson, match="`n` is -inf"):
            await engine.signals.deliver("paid", data={"n": -INFINITY})
        with pytest.raises(InvalidInput, match="`n` is nan"):
            await engine.lists.list(where={"n": NAN})


@pytest.mark.parametrize("items", ["[1.0 / 0.0]", "[{'n': 0.0 / 0.0}]"])
async def test_items_that_json_does_not_have_fail_their_container(tmp_path: Path, items: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow({"id": "each", "type": "loop", "for_each": items, "body": [form()]}))
        done = await engine.executions.start("flow", wait="end")
        assert done.error is not None
        assert (done.error.code, done.error.context_id) == ("invalid_argument", "each")


async def test_items_are_the_same_while_they_are_worked_on_and_when_they_are_read_again(tmp_path: Path) -> None:
    items = "[timestamp('2026-01-02T03:04:05Z'), duration('90s')]"
    body = [{"id": "c", "type": "compute", "output": "${string(item)}", "next": "ask"}, form()]
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow({"id": "each", "type": "parallel", "for_each": items, "body": body}))
        started = await engine.executions.start("flow", wait="rest")
        nodes = {one.context_id: one for one in await engine.queries.nodes(started.id)}
        assert nodes["each"].input == ["2026-01-02T03:04:05.000Z", "90s"]
        assert nodes["c:each.0"].output == "2026-01-02T03:04:05.000Z"


# Texts and numbers beside the input


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (Options(priority=2**31), "priority"),
        (Options(priority=-(10**30)), "priority"),
        (Options(delay=10**30), "delay"),
        (Options(user="a\0"), "user"),
        (Options(tags=("a", "\ud800")), "tags"),
        (Options(correlation_id="\0"), "correlation_id"),
    ],
)
async def test_options_that_cannot_be_written_are_refused_by_name(tmp_path: Path, options: Options, name: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        with pytest.raises(InvalidInput, match=f"`{name}`"):
            await engine.executions.start("flow", options=options)
        assert await engine.lists.counts() == {}


async def test_a_limit_counts_under_a_key_that_no_database_could_keep(tmp_path: Path) -> None:
    limit = {"concurrency": {"limit": 1, "key": "${input.key}"}}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), settings=limit))
        for key, status in (("a\0b", "paused"), ("a\0b", "pending"), ("a\0c", "paused")):
            started = await engine.executions.start("flow", {"key": key})
            await until_status(engine, started.id, status)


@pytest.mark.parametrize("code", ["a\0b", 5, "", "x" * 1_000])
async def test_an_error_with_a_code_that_cannot_be_kept_fails_its_node(tmp_path: Path, code: str) -> None:
    async with engine_at(tmp_path, Scripted(LayoverError("No.", code=code))) as engine:
        await engine.workflows.register(flow(call("a")))
        done = await engine.executions.start("flow", wait="end")
        assert done.error is not None
        assert (done.error.code, done.error.message) == ("failed", "No.")
