"""Every call of the client against a server: what it asks for is what that understands, and what comes back is read."""

from __future__ import annotations

import inspect
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from layover.client import ApiError, AsyncClient
from tests.api.harness import Api, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.usefixtures("each_database")

ASKING = {
    "name": "asking",
    "nodes": [
        {"id": "size", "type": "form", "title": "Which?", "schema": {"type": "integer"}, "next": "review"},
        {"id": "review", "type": "approval", "title": "May it?"},
    ],
}
ECHO = {"name": "echo", "nodes": [{"id": "out", "type": "end", "output": "${input}"}]}
CALLING = {
    "name": "calling",
    "nodes": [{"id": "pick", "type": "callback", "call": "order_goods", "input": {"token": "${callback.token}"}}],
}
tokens: list[str] = []


def order_goods(token: str) -> None:
    """Remember where to reply to."""
    tokens.append(token)


@asynccontextmanager
async def asked(folder: Path, as_: str = "ada:admin") -> AsyncIterator[tuple[Api, AsyncClient]]:
    async with (
        served(folder, order_goods) as api,
        AsyncClient(api.url, key=await api.key_of(as_)) as client,
    ):
        yield api, client


def test_every_call_is_made_here() -> None:
    text = Path(__file__).read_text()
    client = AsyncClient("http://nowhere.invalid")
    groups = {name: group for name, group in vars(client).items() if not name.startswith("_")}
    calls = {
        f"client.{name}.{call}("
        for name, group in groups.items()
        for call, _ in inspect.getmembers(group, inspect.isroutine)
        if not call.startswith("_")
    }
    assert len(calls) > 45
    assert sorted(call for call in calls if call not in text) == []


async def test_workflows(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        first = await client.workflows.save(ECHO)
        second = await client.workflows.replace("echo", {**ECHO, "variables": {"x": 1}})
        again = await client.workflows.save("name: other\nnodes: [{id: a, type: nobody_knows}]\n", allow_unknown=True)
        assert [(one.name, one.version) for one in (first, second, again)] == [("echo", 1), ("echo", 2), ("other", 1)]
        with pytest.raises(ApiError) as raised:
            await client.workflows.save({"name": "bad", "nodes": [{"id": "a", "type": "nobody_knows"}]})
        assert (raised.value.status, raised.value.code) == (422, "invalid_definition")
        assert raised.value.errors
        assert [one.code for one in (await client.workflows.check({"name": "x"})).problems]
        assert [one.name for one in (await client.workflows.list(limit=1)).items] == ["echo"]
        assert [one.name async for one in client.workflows.each()] == ["echo", "other"]
        assert (await client.workflows.get("echo", version=1)).hash == first.hash
        assert {one.version for one in (await client.workflows.versions("echo")).items} == {1, 2}
        assert {one.version async for one in client.workflows.each_version("echo")} == {1, 2}
        assert (await client.workflows.graph("echo")).nodes[0].id == "out"
        assert [one.path for one in (await client.workflows.diff("echo", 1, 2)).differences]
        assert (await client.workflows.dry_run("echo", {"a": 1})).output == {"a": 1}
        bundle = await client.workflows.export(["echo"])
        assert [one.name for one in (await client.workflows.import_(bundle)).workflows] == ["echo"]


async def test_whether_a_workflow_may_be_started(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save(ECHO)
        assert (await client.workflows.deactivate("echo", "broken")).state == "inactive"
        with pytest.raises(ApiError) as raised:
            await client.executions.start("echo")
        assert raised.value.code == "workflow_inactive"
        assert (await client.workflows.activate("echo")).state == "active"
        assert (await client.workflows.pause("echo", "lunch", running=True)).state == "paused"
        held = await client.executions.start("echo")
        assert (await client.workflows.resume("echo")).executions == 1
        events = [event.type async for event in client.executions.stream(held.id)]
        assert events[0] == "ExecutionCreated"
        assert events[-1] == "ExecutionCompleted"
        await client.workflows.delete("echo")
        with pytest.raises(ApiError) as raised:
            await client.workflows.get("echo")
        assert raised.value.code == "unknown_workflow"


async def test_looking_at_executions(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save(ECHO)
        await client.workflows.save(ASKING)
        done = await client.executions.start(
            "echo", {"n": 1}, tags=["t"], priority=3, correlation_id="c", wait="30s", version=1
        )
        assert (done.status, done.output, done.tags, done.priority, done.correlation_id) == (
            ("completed", {"n": 1}, ["t"], 3, "c")
        )
        paused = await client.executions.start("asking", wait="30s", key="once")
        assert (await client.executions.start("asking", wait="30s", key="once")).id == paused.id
        assert isinstance(paused.pause_points, list)
        assert [point.context_id for point in paused.pause_points] == ["size"]
        assert (await client.executions.get(done.id)).id == done.id
        page = await client.executions.list(limit=1)
        assert [one.id for one in page.items] == [paused.id]
        rest = await client.executions.list(cursor=page.next)
        assert [one.id for one in rest.items] == [done.id]
        found = [one.id async for one in client.executions.each(status=["completed"], where=["input.n=1"], tag="t")]
        assert found == [done.id]
        assert [one.id for one in (await client.executions.paused(workflow="asking")).executions] == [paused.id]
        log = await client.executions.history(done.id, since=1, limit=1)
        assert [event.seq for event in log.items] == [1]
        assert [event.seq async for event in client.executions.each_event(done.id)] == list(range(done.last_seq + 1))
        assert [node.node for node in (await client.executions.nodes(done.id, limit=1)).items] == ["out"]
        assert [node.node async for node in client.executions.each_node(done.id)] == ["out"]
        assert [leg.cause for leg in (await client.executions.legs(done.id)).items] == ["created"]
        assert [leg.cause async for leg in client.executions.each_leg(done.id)] == ["created"]
        assert (await client.executions.graph(done.id)).nodes[0].status == "completed"
        assert (await client.executions.why(paused.id)).reasons[0].context_id == "size"


async def test_operating(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save(ASKING)
        one = await client.executions.start("asking", wait="30s")
        assert (await client.executions.pause(one.id, "lunch")).paused_reason == "lunch"
        assert (await client.executions.resume(one.id, {"note": 1}, "back")).variables == {"note": 1}
        (point,) = (await client.points.list(execution_id=one.id)).items
        await client.points.answer(point.id, 5)
        assert (await client.executions.rewind(one.id, "size", "wrong size")).id == one.id
        assert (await client.executions.cancel(one.id, "enough")).status == "cancelled"
        with pytest.raises(ApiError) as raised:
            await client.executions.retry(one.id)
        assert (raised.value.code, raised.value.current_status) == ("wrong_state", "cancelled")


async def test_pause_points(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save(ASKING)
        one = await client.executions.start("asking", wait="30s")
        (point,) = (await client.points.list(workflow="asking", kind="form", for_="me")).items
        assert (await client.points.get(point.id)).title == "Which?"
        with pytest.raises(ApiError) as raised:
            await client.points.answer(point.id, "no number")
        assert raised.value.code == "invalid_answer"
        assert (await client.points.answer(point.id, 5, comment="c")).answer == 5
        two = await client.executions.start("asking", wait="30s")
        open_ = [point async for point in client.points.each(execution_id=two.id, status=["open"])]
        assert (await client.points.cancel(open_[0].id, "nobody needs it")).id == open_[0].id
        assert (await client.executions.get(one.id)).id == one.id


async def test_approvals(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save({"name": "review", "nodes": [{"id": "ok", "type": "approval", "title": "May it?"}]})
        for _ in range(2):
            await client.executions.start("review", wait="30s")
        first, second = [point async for point in client.approvals.each(for_="me")]
        assert [one.id for one in (await client.approvals.list(workflow="review", limit=1)).items] == [first.id]
        approved = await client.approvals.approve(first.id, "fine")
        assert [(one.by, one.approved, one.comment) for one in approved.decisions] == [("ada", True, "fine")]
        assert (await client.approvals.reject(second.id)).decisions[0].approved is False
        assert (await client.approvals.get(second.id)).decisions[0].by == "ada"
        await client.executions.start("review", wait="30s")
        (third,) = [point async for point in client.approvals.each(for_="me")]
        assert (await client.points.delegate(third.id, "ben")).status == "open"


async def test_resuming_by_place(tmp_path: Path) -> None:
    async with asked(tmp_path) as (_, client):
        await client.workflows.save(ASKING)
        one = await client.executions.start("asking", wait="30s")
        two = await client.executions.start("asking", wait="30s")
        assert len((await client.resuming.paused("asking")).executions) == 2
        assert [found.execution_id async for found in client.resuming.each_paused("asking")] == [one.id, two.id]
        resumed = await client.resuming.resume("asking", one.id, "size", 5)
        assert (resumed.execution_id, resumed.context_id) == (one.id, "size")
        assert (await client.resuming.cancel("asking", two.id, "size")).execution_id == two.id


async def test_signals_and_callbacks(tmp_path: Path) -> None:
    async with asked(tmp_path) as (api, client):
        sent = await client.signals.send("paid", "k1", {"n": 1}, id="once")
        assert (sent.id, sent.matched, sent.repeated) == ("once", [], False)
        assert (await client.signals.send("paid", "k1", {"n": 1}, id="once")).repeated
        await client.workflows.save(CALLING)
        tokens.clear()
        done = await client.executions.start("calling")
        await api.engine.wait(done.id, "rest")
        await client.callbacks.heartbeat(tokens[0])
        await client.callbacks.complete(tokens[0], {"pallet": 7})
        assert await api.engine.result(done.id) == {"pallet": 7}
        failed = await client.executions.start("calling")
        await api.engine.wait(failed.id, "rest")
        await client.callbacks.fail(tokens[1], "sold out", retryable=False)
        assert (await api.engine.wait(failed.id)).status == "failed"
        with pytest.raises(ApiError) as raised:
            await client.callbacks.complete(tokens[0])
        assert (raised.value.status, raised.value.code) == (410, "token_used")


async def test_keys_and_the_audit_log(tmp_path: Path) -> None:
    async with asked(tmp_path) as (api, client):
        assert (await client.keys.me()).user == "ada"
        made = await client.keys.add("import", user="bob", roles=["viewer"], scopes=["execution:read"], expires_in="1h")
        assert made.key is not None
        async with AsyncClient(api.url, key=made.key) as other:
            assert (await other.keys.me()).permissions == ["execution:read"]
        rotated = await client.keys.rotate(made.id, grace="1h")
        assert rotated.key not in (None, made.key)
        await client.keys.end(rotated.id)
        assert {one.user for one in (await client.keys.list()).items} >= {"bob"}
        ended = [one.id async for one in client.keys.each() if one.ended_at is not None]
        assert rotated.id in ended
        page = await client.audit.list(user="ada", act="key.add", limit=1)
        assert [one.target for one in page.items] == [made.id]
        acts = [one.act async for one in client.audit.each(user="ada")]
        assert sorted(acts) == ["key.add", "key.end", "key.rotate"]  # two may have been done in one millisecond


async def test_whoever_has_no_key_is_told(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for key, code in ((None, "unauthenticated"), ("x" * 40, "unauthenticated")):
            async with AsyncClient(api.url, key=key) as client:
                with pytest.raises(ApiError) as raised:
                    await client.executions.list()
            assert (raised.value.status, raised.value.code) == (401, code)
