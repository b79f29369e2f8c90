"""Starting executions over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.ports.errors import StoreUnavailable
from layover.ports.records import Append, Outcome  # noqa: TC001 - as above
from tests.api.acting import acts, served_forgetfully
from tests.api.harness import listening, served
from tests.runtime.harness import (
    Between,
    Held,
    Scripted,
    approval,
    call,
    delay,
    end,
    engine_on,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

OWN_ID = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"


async def test_an_execution_is_started_by_the_user_of_the_credentials(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a")))
        asked = {
            "workflow": "flow",
            "input": {"order": 7},
            "tags": ["big", "new"],
            "priority": 5,
            "correlation_id": "order-7",
        }
        answered = await api.post("/executions", asked, as_="mia:operator")

        told = answered.json
        assert answered.status == 202
        assert answered.headers["location"] == f"/api/v1/executions/{told['id']}"
        assert (told["workflow"], told["version"], told["input"]) == ("flow", 1, {"order": 7})
        assert (told["tags"], told["priority"], told["correlation_id"]) == (["big", "new"], 5, "order-7")
        assert told["user"] == "mia"
        assert "pause_points" not in told
        assert "response" not in told
        assert await acts(api, told["id"]) == [("mia", "execution.start", told["id"])]


async def test_a_start_that_waits_sees_the_end(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted("well")) as api:
        await api.engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "60s"})

    assert (answered.status, answered.json["status"], answered.json["output"]) == (200, "completed", "well")


async def test_a_start_that_waits_sees_a_failure_too(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(ValueError("no"))) as api:
        await api.engine.workflows.register(flow(call("a")))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "60s"})

    assert (answered.status, answered.json["status"]) == (200, "failed")
    assert answered.json["error"]["type"] == "ValueError"


async def test_a_start_that_waits_gets_what_a_pause_point_responds(tmp_path: Path) -> None:
    asks = approval(response={"see": "/orders/${input.id}"})
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(asks))
        answered = await api.post("/executions", {"workflow": "flow", "input": {"id": 3}, "wait": "60s"})

        told = answered.json
        assert (answered.status, told["status"], told["response"]) == (202, "paused", {"see": "/orders/3"})
        (point,) = told["pause_points"]
        assert (point["kind"], point["status"], point["context_id"]) == ("approval", "open", "review")
        assert point["response"] == {"see": "/orders/3"}


async def test_where_nothing_responds_there_is_no_response(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form()))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "60s"})

    assert (answered.status, len(answered.json["pause_points"])) == (202, 1)
    assert "response" not in answered.json


async def test_a_start_does_not_wait_for_a_function_that_no_instance_has(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(1)) as api:
        await api.engine.workflows.register(flow(call("a", "other")))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "60s"})
        assert (answered.status, answered.json["status"]) == (202, "waiting")


async def test_a_start_waits_no_longer_than_it_says(tmp_path: Path) -> None:
    async with served(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a")))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "1ms"})

    assert answered.status == 202
    assert answered.json["status"] in ("pending", "running")


async def test_a_start_that_waits_is_answered_when_the_server_stops(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a")))
        asking = asyncio.get_running_loop().create_task(api.post("/executions", {"workflow": "flow", "wait": "60s"}))
        await work.begun()
        api.services.stopping.set()
        answered = await asking

    assert (answered.status, answered.json["status"]) == (202, "running")


async def test_a_start_does_not_wait_for_a_machine_less_than_it_says(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(delay(duration="50ms"), end("late")))
        answered = await api.post("/executions", {"workflow": "flow", "wait": "60s"})

    assert (answered.status, answered.json["output"]) == (200, "late")


async def test_a_start_may_be_delayed(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("at last")))
        answered = await api.post("/executions", {"workflow": "flow", "delay": "1h"})

    assert (answered.status, answered.json["status"], answered.json["started_at"]) == (202, "pending", None)


async def test_a_start_may_name_a_version(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        await api.engine.workflows.register(flow(end("two")))
        older = await api.post("/executions", {"workflow": "flow", "version": 1, "wait": "60s"})
        newest = await api.post("/executions", {"workflow": "flow", "wait": "60s"})
        none = await api.post("/executions", {"workflow": "flow", "version": 3})

    assert (older.json["output"], older.json["version"]) == ("one", 1)
    assert (newest.json["output"], newest.json["version"]) == ("two", 2)
    assert (none.status, none.code) == (404, "unknown_version")


async def test_an_id_of_ones_own_is_used_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        first = await api.post("/executions", {"workflow": "flow", "id": OWN_ID.upper()})
        second = await api.post("/executions", {"workflow": "flow", "id": OWN_ID})
        keyed = await api.post("/executions", {"workflow": "flow", "id": OWN_ID}, key="other")
        none = await api.post("/executions", {"workflow": "flow", "id": "order-7"})

        assert (first.status, first.json["id"]) == (202, OWN_ID)
        assert (second.status, second.code) == (409, "already_exists")
        assert (keyed.status, keyed.code) == (409, "already_exists")
        assert (none.status, none.code) == (400, "malformed_id")
        assert len(await acts(api, OWN_ID)) == 1


async def test_an_id_in_use_may_be_returned(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        body = {"workflow": "flow", "id": OWN_ID, "on_conflict": "return", "wait": "60s", "until": "end"}
        first = await api.post("/executions", body)
        second = await api.post("/executions", body)
        other = await api.post("/executions", {**body, "on_conflict": "perhaps"})

        assert (second.status, second.json) == (first.status, first.json)
        assert (other.status, other.code) == (422, "invalid_body")
        assert len(await acts(api, OWN_ID)) == 1


async def test_the_same_key_and_input_may_be_waited_for_differently(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        first = await api.post("/executions", {"workflow": "flow", "input": 1, "wait": "60s"}, key="k")
        again = await api.post("/executions", {"workflow": "flow", "input": 1, "tags": ["t"]}, key="k")
        other = await api.post("/executions", {"workflow": "flow", "input": True}, key="k")

        assert (again.status, again.json["id"]) == (200, first.json["id"])
        assert (other.status, other.code) == (409, "idempotency_mismatch")


async def test_the_same_key_is_the_same_execution_for_every_sender(tmp_path: Path) -> None:
    async with served(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a")))
        body = {"workflow": "flow", "input": {"order": 7}}
        first = await api.post("/executions", body, as_="mia:operator", key="order-7")
        again = await api.post("/executions", body, as_="mia:operator", key="order-7")
        another = await api.post("/executions", body, as_="ben:operator", key="order-7")
        other = await api.post("/executions", {**body, "input": {"order": 8}}, key="order-7")

        assert (again.status, again.body) == (first.status, first.body)
        assert again.headers["idempotency-replayed"] == "true"
        assert again.headers["location"] == first.headers["location"]
        assert (another.status, another.json["id"]) == (202, first.json["id"])
        assert another.headers["idempotency-replayed"] == "true"
        assert another.headers["location"] == first.headers["location"]
        assert (other.status, other.code) == (409, "idempotency_mismatch")
        assert len(await api.engine.lists.list()) == 1


@pytest.mark.parametrize("keeps_replies", [True, False])
async def test_a_key_tells_another_caller_nothing_but_id_and_status(tmp_path: Path, keeps_replies: bool) -> None:
    serving = served if keeps_replies else served_forgetfully
    async with serving(tmp_path, Scripted("secret output")) as api:
        await api.engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        body = {"workflow": "flow", "input": {"secret": "input"}, "tags": ["secret tag"], "wait": "60s"}
        first = await api.post("/executions", body, as_="mia:operator", key="order-7")
        another = await api.post("/executions", body, as_="ben:operator", key="order-7")
        guessed = await api.post("/executions", {**body, "input": None}, as_="ben:operator", key="order-7")

        assert first.json["output"] == "secret output"
        assert (another.status, another.json["id"], another.json["status"]) == (200, first.json["id"], "completed")
        assert another.headers["idempotency-replayed"] == "true"
        assert b"secret" not in another.body
        assert b"mia" not in another.body
        assert (guessed.status, guessed.code) == (409, "idempotency_mismatch")
        assert b"secret" not in guessed.body


async def test_a_key_used_inside_the_program_tells_callers_nothing_but_id_and_status(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), end("done")))
        inside = await api.engine.executions.start("flow", {"secret": 1}, key="order-7", wait="rest")
        same = await api.post("/executions", {"workflow": "flow", "input": {"secret": 1}}, key="order-7")
        other = await api.post("/executions", {"workflow": "flow"}, key="order-7")

        assert (same.status, same.json["id"], same.json["status"]) == (202, inside.id, "paused")
        assert (same.json["input"], "pause_points" in same.json) == (None, False)
        assert (other.status, other.code) == (409, "idempotency_mismatch")


async def test_a_refused_start_is_not_replayed_to_another_caller(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        body = {"workflow": "flow", "input": 1}
        refused = await api.post("/executions", body, as_="mia:operator", key="k")
        await api.engine.workflows.register(flow(end("done")))
        kept = await api.post("/executions", body, as_="mia:operator", key="k")
        another = await api.post("/executions", body, as_="ben:operator", key="k")

        assert (refused.code, kept.code) == ("unknown_workflow", "unknown_workflow")
        assert (another.status, another.json["user"], another.json["input"]) == (202, "ben", 1)


@pytest.mark.parametrize("id_", [None, OWN_ID])
async def test_another_input_with_the_same_key_is_refused_when_the_reply_is_no_longer_kept(
    tmp_path: Path, id_: str | None
) -> None:
    async with served_forgetfully(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a")))
        body = {"workflow": "flow", **({"id": id_} if id_ is not None else {})}
        first = await api.post("/executions", {**body, "input": {"n": 1, "m": 2.0}}, key="k")
        same = await api.post("/executions", {**body, "input": {"m": 2.0, "n": 1}}, key="k")
        other = await api.post("/executions", {**body, "input": {"n": True, "m": 2.0}}, key="k")

        assert (same.status, same.json["id"]) == (202, first.json["id"])
        assert (other.status, other.code) == (409, "idempotency_mismatch")


@pytest.mark.parametrize("body", [{"workflow": "flow"}, {"workflow": "flow", "id": OWN_ID}])
async def test_a_start_whose_answer_was_lost_is_known_by_its_key(tmp_path: Path, body: dict[str, Any]) -> None:
    async with served_forgetfully(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a")))
        first = await api.post("/executions", body, key="k")
        again = await api.post("/executions", body, key="k")

        assert (again.status, again.json["id"]) == (202, first.json["id"])
        assert "idempotency-replayed" not in again.headers
        assert len(await acts(api, first.json["id"])) == 1


async def test_two_at_once_with_one_key_start_one_execution(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form()))
        answers = await asyncio.gather(*(api.post("/executions", {"workflow": "flow"}, key="k") for _ in range(10)))

        assert {(one.status, one.status == 409 and one.code) for one in answers} <= {(202, False), (409, "in_progress")}
        assert len(await api.engine.lists.list()) == 1


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"wait": "61s"}, "wait"),
        ({"wait": "soon"}, "wait"),
        ({"delay": "later"}, "delay"),
        ({"version": 0}, "version"),
        ({"tags": [""]}, "tags[0]"),
        ({"priority": "high"}, "priority"),
        ({"user": "somebody"}, "user"),
        ({"workflow": "no name"}, "workflow"),
        ({"workflow": "flow\n"}, "workflow"),
    ],
)
async def test_what_does_not_fit_is_named(tmp_path: Path, body: dict[str, Any], path: str) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        answered = await api.post("/executions", {"workflow": "flow", **body})

        assert (answered.status, answered.code) == (422, "invalid_body")
        assert [one["path"] for one in answered.json["errors"]] == [path]
        assert list(await api.engine.lists.list()) == []


async def test_an_input_has_to_fit_the_workflow(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one"), input=schema))
        answered = await api.post("/executions", {"workflow": "flow", "input": {"order": "seven"}})
        reserved = await api.post("/executions", {"workflow": "flow", "input": {"order": 1, "a": {"$secret": "KEY"}}})

    assert (answered.status, answered.code) == (422, "invalid_input")
    assert [one["path"] for one in answered.json["errors"]] == ["order"]
    assert (reserved.status, reserved.code) == (422, "payload_reserved")


async def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    one_at_a_time = {"concurrency": {"limit": 1, "on_conflict": "reject"}}
    async with served(tmp_path, Held()) as api:
        await api.engine.workflows.register(flow(call("a"), settings=one_at_a_time))
        unknown = await api.post("/executions", {"workflow": "nothing"})
        first = await api.post("/executions", {"workflow": "flow"})
        await until_status(api.engine, first.json["id"], "running")
        full = await api.post("/executions", {"workflow": "flow"})
        await api.engine.workflow_status.set("flow", "inactive")
        inactive = await api.post("/executions", {"workflow": "flow"})

    assert (unknown.status, unknown.code) == (404, "unknown_workflow")
    assert (full.status, full.code, full.json["holders"]) == (409, "limit_reached", [first.json["id"]])
    assert (inactive.status, inactive.code) == (409, "workflow_inactive")


async def test_a_start_without_permission_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("one")))
        nobody = await api.post("/executions", {"workflow": "flow"}, as_="")
        viewer = await api.post("/executions", {"workflow": "flow"}, as_="viewer")
        approver = await api.post("/executions", {"workflow": "flow"}, as_="approver")

        assert (nobody.status, nobody.code) == (401, "unauthenticated")
        assert (viewer.status, viewer.code) == (403, "forbidden")
        assert (approver.status, approver.code) == (403, "forbidden")
        assert list(await api.engine.lists.list()) == []


@pytest.mark.parametrize(
    "body",
    [{"tags": ["a\0b"]}, {"correlation_id": "a\0b"}, {"input": {"a": "a\0b"}}, {"input": "\0"}, {"input": 10**400}],
)
async def test_characters_and_numbers_that_not_every_database_has_do_no_harm(
    tmp_path: Path, body: dict[str, Any]
) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form()))
        answered = await api.post("/executions", {"workflow": "flow", **body})

    assert answered.status in (202, 400, 422), answered.body


class Full(Between):
    """A store with no room for anything."""

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        raise StoreUnavailable(f"The disk of /var/lib/secret is full; {len(appends)} appends.", code="full")


async def test_a_full_disk_gets_503_at_once(tmp_path: Path) -> None:
    async with engine_on(Full(tmp_path), Scripted("well")) as engine, listening(engine) as api:
        await engine.workflows.register(flow(call("a")))
        refused = await api.post("/executions", {"workflow": "flow"})
        assert (refused.status, refused.code) == (503, "store_unavailable")
        assert refused.json["detail"].startswith("The disk of the database is full")
        assert "secret" not in refused.body.decode()
        assert not engine.instance.driver.active


async def test_what_started_an_execution_can_be_given(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(end("${trigger.kind}")))
        started = await api.post("/executions", {"workflow": "flow", "trigger": {"kind": "webhook"}, "wait": "10s"})
        assert (started.json["output"], started.json["trigger"]) == ("webhook", {"kind": "webhook"})
