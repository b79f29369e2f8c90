"""What may be done to an execution in each state that it can be in; what may not be is refused, and changes nothing."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.harness import served
from tests.api.scenarios.scene import MIA, audited, execution, history, points, save, settled, start
from tests.runtime.harness import Held, approval, call, delay, end, flow, form, until_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.api.harness import Api

    Made = Callable[[Api, Held], Awaitable[str]]

pytestmark = pytest.mark.usefixtures("each_database")

TWO = flow(call("a"), call("b"), end("done"))


async def pending(api: Api, _work: Held) -> str:
    await save(api, TWO)
    started = await api.post("/executions", {"workflow": "flow", "delay": "1h"}, as_=MIA)
    return str(started.json["id"])


async def running(api: Api, work: Held) -> str:
    """In its second node."""
    await save(api, TWO)
    id_ = str((await start(api, wait=False))["id"])
    (await work.begun()).returns()
    await work.begun()
    return id_


async def pausing(api: Api, work: Held) -> str:
    id_ = await running(api, work)
    await api.post(f"/executions/{id_}/pause", {"reason": "first"}, as_=MIA)
    return id_


async def held(api: Api, work: Held) -> str:
    """Paused by an operator."""
    id_ = await running(api, work)
    await api.post(f"/executions/{id_}/pause", {"reason": "first"}, as_=MIA)
    work.calls[-1].returns()
    await until_status(api.engine, id_, "paused")
    return id_


async def asking(api: Api, work: Held) -> str:
    """Paused until somebody fills in a form."""
    return await _resting(api, work, form("b", schema={}))


async def undecided(api: Api, work: Held) -> str:
    """Paused until somebody decides."""
    return await _resting(api, work, approval("b"))


async def waiting(api: Api, work: Held) -> str:
    return await _resting(api, work, delay("b"))


async def incident(api: Api, work: Held) -> str:
    """Paused until an operator looks at what failed."""
    await save(api, flow(call("a"), call("b", retry={"max_attempts": 1, "on_exhausted": "pause"}), end("done")))
    id_ = str((await start(api, wait=False))["id"])
    (await work.begun()).returns()
    (await work.begun()).raises(ValueError("no"))
    await settled(api, id_)
    return id_


async def completed(api: Api, work: Held) -> str:
    id_ = await running(api, work)
    work.calls[-1].returns()
    await until_status(api.engine, id_, "completed")
    return id_


async def failed(api: Api, work: Held) -> str:
    id_ = await running(api, work)
    work.calls[-1].raises(ValueError("no"))
    await until_status(api.engine, id_, "failed")
    return id_


async def cancelled(api: Api, work: Held) -> str:
    id_ = await running(api, work)
    assert (await api.post(f"/executions/{id_}/cancel", as_=MIA)).status == 200
    return id_


async def _resting(api: Api, work: Held, node: dict[str, Any]) -> str:
    await save(api, flow(call("a"), node, end("done")))
    id_ = str((await start(api, wait=False))["id"])
    (await work.begun()).returns()
    await settled(api, id_)
    return id_


WRONG = (409, "wrong_state")
UNDECIDED = (409, "decision_required")
BODIES: dict[str, dict[str, Any]] = {"rewind": {"to": "a"}}
# What each act is answered with: the status that the execution then has, or why it is refused.
TABLE: dict[Made, tuple[str, dict[str, object]]] = {
    pending: (
        "pending",
        {"pause": "paused", "resume": WRONG, "cancel": "cancelled", "retry": WRONG, "rewind": WRONG},
    ),
    running: (
        "running",
        {"pause": "pausing", "resume": WRONG, "cancel": "cancelled", "retry": WRONG, "rewind": "running"},
    ),
    pausing: (
        "pausing",
        {"pause": "pausing", "resume": "running", "cancel": "cancelled", "retry": WRONG, "rewind": "paused"},
    ),
    held: (
        "paused",
        {"pause": "paused", "resume": "completed", "cancel": "cancelled", "retry": WRONG, "rewind": "paused"},
    ),
    asking: (
        "paused",
        {"pause": "paused", "resume": WRONG, "cancel": "cancelled", "retry": WRONG, "rewind": "running"},
    ),
    undecided: (
        "paused",
        {"pause": "paused", "resume": UNDECIDED, "cancel": "cancelled", "retry": WRONG, "rewind": "running"},
    ),
    waiting: (
        "waiting",
        {"pause": "paused", "resume": WRONG, "cancel": "cancelled", "retry": WRONG, "rewind": "running"},
    ),
    incident: (
        "paused",
        {"pause": "paused", "resume": "running", "cancel": "cancelled", "retry": "running", "rewind": "running"},
    ),
    completed: (
        "completed",
        {"pause": WRONG, "resume": WRONG, "cancel": WRONG, "retry": WRONG, "rewind": "running"},
    ),
    failed: (
        "failed",
        {"pause": WRONG, "resume": WRONG, "cancel": WRONG, "retry": "running", "rewind": "running"},
    ),
    cancelled: (
        "cancelled",
        {"pause": WRONG, "resume": WRONG, "cancel": WRONG, "retry": WRONG, "rewind": "running"},
    ),
}
CASES = [
    pytest.param(made, status, act, expected, id=f"{act}-{made.__name__}")
    for made, (status, acts) in TABLE.items()
    for act, expected in acts.items()
]


@pytest.mark.parametrize(("made", "status", "act", "expected"), CASES)
async def test_every_act_in_every_state(tmp_path: Path, made: Made, status: str, act: str, expected: object) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        id_ = await made(api, work)
        before, happened, written = await execution(api, id_), await history(api, id_), await audited(api, id_)
        assert before["status"] == status
        answered = await api.post(f"/executions/{id_}/{act}", BODIES.get(act, {}), as_=MIA)

        if isinstance(expected, str):
            assert (answered.status, answered.json.get("status")) == (200, expected), answered.body
            return
        assert (answered.status, answered.code) == expected
        assert answered.json["current_status"] == status
        after = await execution(api, id_)
        assert after == before
        assert await history(api, id_) == happened
        assert await audited(api, id_) == written


async def test_a_second_pause_changes_nothing(tmp_path: Path) -> None:
    for made, status in ((pausing, "pausing"), (held, "paused")):
        work = Held()
        async with served(tmp_path, work) as api:
            id_ = await made(api, work)
            again = await api.post(f"/executions/{id_}/pause", {"reason": "second"}, as_="ben:operator")
            assert (again.status, again.json["status"], again.json["paused_reason"]) == (200, status, "first")


@pytest.mark.parametrize("state", ["applied", "cancelled", "superseded", "execution_cancelled"])
async def test_a_point_that_is_over_takes_nothing(tmp_path: Path, state: str) -> None:
    async with served(tmp_path) as api:
        await save(
            api, flow(form(schema={}, next={"done": "more", "error": "more"}), form("more", schema={}, join="any"))
        )
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        path = f"/pause-points/{point['id']}"
        if state == "cancelled":
            assert (await api.post(f"{path}/cancel", as_=MIA)).status == 200
        elif state == "execution_cancelled":
            assert (await api.post(f"/executions/{id_}/cancel", as_=MIA)).status == 200
        elif state == "superseded":
            assert (await api.post(f"/executions/{id_}/rewind", {"to": "ask"}, as_=MIA)).status == 200
        else:
            assert (await api.post(f"{path}/answer", {"data": 1}, as_=MIA)).status == 201
        await settled(api, id_)
        before, written = await execution(api, id_), await audited(api, id_)
        opened = await points(api, id_)

        refused = [
            await api.post(f"{path}/answer", {"data": 2}, as_="ben:operator"),
            await api.post(f"{path}/cancel", as_="ben:operator"),
        ]
        if state != "superseded":  # there, the place has another point
            refused.append(await api.post(f"/api/resume/flow/{id_}/ask", {"input": 2}, as_="ben:operator"))
            refused.append(await api.delete(f"/api/resume/flow/{id_}/ask", as_="ben:operator"))
        code = "already_answered" if state == "applied" else "point_closed"
        assert {(one.status, one.code) for one in refused} == {(409, code)}
        assert (await execution(api, id_), await points(api, id_), await audited(api, id_)) == (before, opened, written)
