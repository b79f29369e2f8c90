"""What a test says of calls that a crash has interrupted: whether they happened, and what undoes them."""

from __future__ import annotations

import pytest

from layover import NOT_HAPPENED, UNKNOWN
from layover.testing import CommitPoint, Layover, NobodyPlays
from tests.runtime.harness import call, end, flow


async def test_a_probe_and_an_undo_of_one_function_stay_side_by_side(layover: Layover) -> None:
    asked, undone = list[object](), list[object]()

    async def look(amount: int) -> object:
        asked.append(amount)
        return UNKNOWN if len(asked) == 1 else NOT_HAPPENED

    def refund(amount: int) -> None:
        undone.append(amount)

    charge = layover.fake("charge", returns="paid")
    layover.probe("charge", look)
    layover.undo("charge", refund)
    given = {"amount": 7}
    layover.crash_at(CommitPoint.CALL_RETURNED)
    execution = await layover.start(flow(call("a", "charge", input=given, on_crash="probe"), end("${nodes.a}")))
    (point,) = await layover.inbox().all()
    await point.answer({"happened": False, "otherwise": "undo"})
    assert (execution.output, len(charge.calls)) == ("paid", 2)
    assert (asked, undone) == ([7], [7])
    layover.crash_at(CommitPoint.CALL_RETURNED)
    other = await layover.start(
        flow(call("a", "charge", input=given, on_crash="undo"), end("${nodes.a}"), name="other")
    )
    assert (other.output, undone) == ("paid", [7, 7])
    assert [one.type for one in await other.history().all() if "Undo" in one.type] == ["NodeUndone"]


async def test_what_nobody_plays_cannot_be_undone(layover: Layover) -> None:
    with pytest.raises(NobodyPlays, match="nothing to undo: `charge`"):
        layover.undo("charge", print)
