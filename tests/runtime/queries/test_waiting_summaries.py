"""What a list says that an execution waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import Engine
from layover.core.approval_rules import ApprovalRules, RecordedDecision
from layover.core.engine.state import ExecutionStatus, Point
from layover.ports.records import PointRow
from layover.ports.view_records import Standing
from layover.runtime.queries import waiting_summaries
from layover.runtime.results.waiting import waiting_of
from tests.runtime.harness import address_in, approval, end, flow

if TYPE_CHECKING:
    from pathlib import Path

    from layover.model.executions import WaitingSummary

RULES = ApprovalRules(roles=("managers",), need=2)
APPROVAL = Point(id="p", node="ask", kind="approval", opened_at=1, deadline=9_000)


def summary(
    point: Point | None, status: ExecutionStatus = "waiting", wake_at: int | None = None
) -> WaitingSummary | None:
    row = PointRow(execution_id="e", workflow="w", status="open", point=point) if point is not None else None
    return waiting_of(status, wake_at, Standing(updated_at=1, points=int(point is not None), point=row))


@pytest.mark.parametrize(
    ("rules", "decisions", "text"),
    [
        (None, (), "anybody"),
        (ApprovalRules(), (), "anybody"),
        (ApprovalRules(users=("ann",), roles=("managers",)), (), "ann, managers"),
        (ApprovalRules(users=("a", "b", "c", "d", "e")), (), "a, b, c and 2 more"),
        (RULES, (), "managers, 0 of 2"),
        (RULES, (RecordedDecision(by="a", approved=True, at=2),), "managers, 1 of 2"),
        (RULES, (RecordedDecision(by="a", approved=False, at=2),), "managers, 0 of 2"),
    ],
)
def test_people_are_named_with_how_many_of_them_have_approved(
    rules: ApprovalRules | None, decisions: tuple[RecordedDecision, ...], text: str
) -> None:
    point = Point(id="p", node="ask", kind="approval", opened_at=1, deadline=9_000, rules=rules, decisions=decisions)
    found = summary(point, "paused")
    assert found is not None
    assert (found.kind, found.text, found.count) == ("person", text, 1)
    assert found.until is not None
    assert found.until.milliseconds == 9_000


def test_a_timer_is_called_that() -> None:
    found = summary(Point(id="p", node="n", kind="timer", opened_at=1, deadline=5))
    assert found is not None
    assert (found.kind, found.text) == ("timer", "timer")


def test_a_call_that_is_made_again_later_is_a_retry() -> None:
    found = summary(None, wake_at=7_000)
    assert found is not None
    assert found.until is not None
    assert (found.kind, found.until.milliseconds) == ("retry", 7_000)


def test_what_an_operator_has_paused_waits_for_an_operator() -> None:
    found = summary(Point(id="p", node="n", kind="timer", opened_at=1, deadline=5), "paused")
    assert found is not None
    assert found.kind == "operator"


@pytest.mark.parametrize("status", ["pending", "running", "pausing"])
def test_what_does_not_stand_still_waits_for_nothing(status: ExecutionStatus) -> None:
    assert summary(APPROVAL, status) is None


@pytest.mark.usefixtures("each_database")
async def test_a_list_that_is_read_again_says_what_holds_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_summaries, "_MOST", 2)  # fewer than there are: some are read anew each time
    definition = flow(approval(approvers={"users": ["ann", "bob"]}, need=2), end(1))
    async with Engine(address_in(tmp_path), workflows=[definition]) as engine:
        started = [await engine.start("flow", until="rest") for _ in range(3)]

        async def texts() -> list[str | None]:
            found = {one.id: one.waiting_summary for one in (await engine.executions().page()).items}
            return [one.text if (one := found[handle.id]) is not None else None for handle in started]

        assert await texts() == await texts() == ["ann, bob, 0 of 2"] * 3
        (point,) = (await started[0].points().page()).items
        await (await engine.as_user("ann", roles=["admin"]).point(point.id)).approve()
        await started[2].cancel()
        assert await texts() == ["ann, bob, 1 of 2", "ann, bob, 0 of 2", None]
