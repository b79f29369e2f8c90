"""Whichever way an approval is decided, it is judged alike."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.acting import acts, points_of
from tests.api.harness import listening, served
from tests.runtime.harness import HOUR, Between, HandWound, approval, engine_on, flow, until_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

WAYS = ("answer", "approve", "reject", "resume", "resume_point")
BOTH = "approver,operator"


class Way:
    """One way to decide; `otherwise` is the other decision."""

    def __init__(self, api: Api, way: str, execution: str, point: str) -> None:
        self._api = api
        self._way = way
        self._execution = execution
        self._point = point

    async def decide(self, as_: str, *, otherwise: bool = False, **more: Any) -> Answered:
        approved = (self._way != "reject") != otherwise
        name = "approve" if approved else "reject"
        data = {"resume_data": more.pop("data", {})} if self._way == "resume" else {}
        said = {"reason": more.pop("comment")} if self._way == "resume" and "comment" in more else {}
        path, body = {
            "answer": (f"/pause-points/{self._point}/answer", {"approved": approved, **more}),
            "approve": (f"/approvals/{self._point}/{name}", more),
            "reject": (f"/approvals/{self._point}/{name}", more),
            "resume": (f"/executions/{self._execution}/resume", {"approved": approved, **data, **said}),
            "resume_point": (f"/api/resume/flow/{self._execution}/review", {"approved": approved, **more}),
        }[self._way]
        return await self._api.post(path, body, as_=as_)

    @property
    def done(self) -> int:
        """What is answered to a decision that is taken."""
        return {"resume": 200, "resume_point": 202}.get(self._way, 201)

    @property
    def done_before(self) -> int:
        return {"resume_point": 202}.get(self._way, 200)


async def started(api: Api, way: str, **rules: Any) -> Way:
    """Return a way to decide what waits for a decision, requested by mia."""
    await api.engine.workflows.register(flow(approval(**rules)))
    told = (await api.post("/executions", {"workflow": "flow", "wait": "60s"}, as_=f"mia:{BOTH}")).json
    return Way(api, way, told["id"], told["pause_points"][0]["id"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("rules", "said", "answered"),
    [
        ({"approvers": {"users": ["eve"]}}, {}, (403, "not_allowed")),
        ({"exclude_requester": True}, {}, (403, "requester_excluded")),
        ({"approvers": {"users": ["eve", "mia"]}, "need": 2, "order": "sequence"}, {}, (409, "not_your_turn")),
        ({"comment": "required"}, {}, (422, "comment_required")),
        ({"schema": {"type": "object", "required": ["a"]}}, {"data": {"b": 1}}, (422, "invalid_answer")),
        ({}, {"data": {"a": {"$secret": "KEY"}}}, (422, "payload_reserved")),
    ],
)
async def test_a_decision_that_may_not_be_leaves_all_as_it_is(
    tmp_path: Path, way: str, rules: dict[str, Any], said: dict[str, Any], answered: tuple[int, str]
) -> None:
    async with served(tmp_path) as api:
        review = await started(api, way, **rules)
        refused = await review.decide(f"mia:{BOTH}", **said)

        assert (refused.status, refused.code) == answered
        (execution,) = await api.engine.lists.list()
        assert list(await points_of(api, execution.head.execution_id)) == ["review"]
        assert [act for _, act, _ in await acts(api, execution.head.execution_id)] == ["execution.start"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_repeated_decision_counts_once_and_cannot_be_changed(tmp_path: Path, way: str) -> None:
    async with served(tmp_path) as api:
        review = await started(api, way, need=2, reject_need=2)
        first = await review.decide(f"mia:{BOTH}")
        again = await review.decide(f"mia:{BOTH}")
        changed = await review.decide(f"mia:{BOTH}", otherwise=True)
        second = await review.decide(f"ben:{BOTH}")

        assert (first.status, again.status, second.status) == (review.done, review.done_before, review.done)
        assert (changed.status, changed.code) == (409, "already_decided")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("said", [{"comment": "ok", "data": {"a": 1}}])
async def test_a_decision_brings_a_comment_and_data(tmp_path: Path, way: str, said: dict[str, Any]) -> None:
    async with served(tmp_path) as api:
        review = await started(api, way, comment="required", schema={"type": "object", "required": ["a"]})
        assert (await review.decide(f"mia:{BOTH}", **said)).status == review.done
        (item,) = (await api.get("/approvals?status=applied&status=answered")).json["items"]
        (decision,) = item["decisions"]
        assert (decision["by"], decision["comment"], decision["data"]) == ("mia", "ok", {"a": 1})


class Overtaken(Between):
    """A store to which something happens just before an answer comes."""

    def __init__(self, folder: Path, clock: HandWound) -> None:
        super().__init__(folder)
        self.store = clock.store(folder)
        self.first: Callable[[], Awaitable[object]] | None = None

    async def answers_reserve(self, *given: Any) -> Any:
        first, self.first = self.first, None
        if first is not None:
            await first()
        return await self.store.answers.reserve(*given)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("happens", "answered"),
    [
        ("answered", (409, "already_answered")),
        ("cancelled", (409, "point_closed")),
        ("ended", (409, "point_closed")),
        ("expired", (410, "expired")),
    ],
)
async def test_an_answer_that_comes_too_late_learns_the_winner(
    tmp_path: Path, way: str, happens: str, answered: tuple[int, str]
) -> None:
    clock = HandWound()
    store = Overtaken(tmp_path, clock)
    async with engine_on(store) as engine, listening(engine) as api:
        review = await started(api, way, deadline="1h", on_deadline="fail")
        (row,) = await engine.points.list()

        async def meanwhile() -> None:
            match happens:
                case "answered":
                    await engine.answers.answer(row.point.id, by="eve", approved=way == "reject")
                case "cancelled":
                    await engine.answers.cancel_point(row.point.id)
                case "ended":
                    await engine.control.cancel(row.execution_id)
                case _:
                    clock.skip(engine, 2 * HOUR)
                    await until_status(engine, row.execution_id, "failed")

        store.first = meanwhile
        late = await review.decide(f"mia:{BOTH}")

        assert (late.status, late.code) == answered
        if happens == "answered":
            winner = late.json["winner"]
            assert (winner["by"], winner["answer"]["approved"]) == ("eve", way == "reject")
        assert [act for _, act, _ in await acts(api, row.execution_id)] == ["execution.start"]


async def test_an_answer_that_nothing_came_of_yet_goes_with_its_point(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval()))
        begun = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list()
        await api.engine.control.pause(begun.id)
        await api.engine.answers.answer(row.point.id, by="eve", approved=True)
        cancelled = await api.post(f"/pause-points/{row.point.id}/cancel")

    assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
