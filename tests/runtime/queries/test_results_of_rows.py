"""What the engine knows, as it crosses the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.core.approval_rules import ApprovalRules
from layover.core.engine import events as ev
from layover.core.engine.answers import schema_of
from layover.core.engine.commands import Answer, Ask, Create, Pause
from layover.core.moments import Moment, moment
from layover.ports.records import PointRow
from layover.runtime.queries.history import HistoryEntry
from layover.runtime.results.executions import event_of
from layover.runtime.results.points import point_of
from tests.core.engine.flows import rehearse

if TYPE_CHECKING:
    from layover.model.points import PausePoint
    from layover.testing import Rehearsal

NESTED = """
  - id: checks
    type: parallel
    branches:
      - {id: first, body: [{id: a, type: form}]}
      - id: second
        body:
          - {id: rounds, type: loop, times: 3, body: [{id: b, type: form}]}
"""


def shown(flow: Rehearsal, context: str, status: str | None = None, **row: Any) -> PausePoint:
    point = flow.point(context)
    found = PointRow(execution_id="e", workflow="w", point=point, schema=schema_of(flow.state, point), **row)
    return point_of(msgspec.structs.replace(found, status=status or point.status))


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_772_357_400_007, "2026-03-01T09:30:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (10**30, "9999-12-31T23:59:59.999Z"),
        (-(10**30), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_moment_has_milliseconds_and_is_in_the_calendar(at: int | None, told: str | None) -> None:
    assert moment(at) == told


def test_a_point_tells_which_branch_and_which_round_it_stands_in() -> None:
    flow = rehearse(NESTED).start().answer("b:checks.second:rounds.0", {})
    first, second = shown(flow, "a:checks.first"), shown(flow, "b:checks.second:rounds.1")
    assert msgspec.to_builtins(first.parallel_scope) == {"node": "checks", "index": 0, "count": 2}
    assert first.loop_scope is None
    assert msgspec.to_builtins(second.parallel_scope) == {"node": "checks", "index": 1, "count": 2}
    assert msgspec.to_builtins(second.loop_scope) == {"node": "rounds", "iteration": 1}
    assert (second.context_id, second.node, second.snapshot_ready) == ("b:checks.second:rounds.1", "b", True)


def test_an_approval_shows_its_approvers_and_decisions() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann, bob], roles: [boss]}, need: 2}\n").start()
    flow.answer("a", approved=True, by="ann")
    found = shown(flow, "a")
    assert (found.status, found.need, found.answer, found.answered_by) == ("open", 2, None, None)
    assert msgspec.to_builtins(found.approvers) == {"users": ("ann", "bob"), "roles": ("boss",)}
    assert [(one.by, one.approved, one.at) for one in found.decisions] == [("ann", True, Moment.of(flow.now))]
    assert found.answered_at is None


def test_approvers_of_an_escalation_are_shown_as_well() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann]}}\n").start()
    rules = ApprovalRules(users=("ann",), escalated_users=("eve",), escalated_roles=("cfo",))
    flow.state.points.put(flow.point("a").id, msgspec.structs.replace(flow.point("a"), rules=rules))
    assert msgspec.to_builtins(shown(flow, "a").approvers) == {"users": ("ann", "eve"), "roles": ("cfo",)}


def test_an_approval_that_was_only_reserved_tells_its_end_all_the_same() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann, bob]}, need: 2}\n").start()
    flow.send(Pause())
    flow.answer("a", approved=True, by="ann")
    flow.now += 5
    flow.answer("a", approved=True, by="bob", comment="so be it")
    whole = shown(flow, "a")
    kept = msgspec.structs.replace(flow.point("a"), output=None, by=None, answered_at=None)
    flow.state.points.put(kept.id, kept)
    told = shown(flow, "a", "applied", closed_at=flow.now + 1)
    assert (told.answer, told.answered_by, told.answered_at) == (whole.answer, whole.answered_by, whole.answered_at)
    assert (told.answered_by, told.answered_at, told.applied_at) == (
        "bob",
        Moment.of(flow.now),
        Moment.of(flow.now + 1),
    )


def test_what_a_running_function_asks_has_its_key_in_its_address() -> None:
    flow = rehearse("  - {id: l, type: loop, times: 1, body: [{id: a, type: f}]}\n")
    flow.send(Create(id="execution"))
    flow.send(Ask(node="a:l.0", attempt=1, key="the size"))
    assert shown(flow, "a:l.0").context_id == "a:l.0/the%20size"


def test_a_queued_answer_is_returned_with_its_position() -> None:
    flow = rehearse("  - {id: a, type: form}\n").start()
    flow.send(Pause())
    flow.send(Answer(point=flow.point("a").id, by="ann", data={"n": 1}))
    row = PointRow(execution_id="e", workflow="w", point=flow.point("a"), status="answered")
    found = point_of(row, 2)
    assert (found.status, found.queue_position, found.answer, found.answered_by) == ("answered", 2, {"n": 1}, "ann")
    assert (found.answered_at, found.applied_at) == (Moment.of(flow.now), None)


def test_an_event_tells_its_times_as_moments_and_data_of_others_as_it_is() -> None:
    opened = ev.PausePointOpened(
        node="a:l.0",
        point="p",
        kind="approval",
        deadline=5,
        remind_at=(1, 2),
        details={"deadline": 5},
        rules=ApprovalRules(),
    )
    found = event_of(HistoryEntry(seq=3, at=4, event=opened))
    assert (found.seq, found.at, found.type, found.context_id, found.attempt) == (
        3,
        Moment.of(4),
        "PausePointOpened",
        "a:l.0",
        None,
    )
    assert found.data["deadline"] == moment(5)
    assert found.data["remind_at"] == [moment(1), moment(2)]
    assert found.data["details"] == {"deadline": 5}
    assert "node" not in found.data
