"""An answer taken by a store, which has the point but not the execution, is the answer that the engine will record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.engine import events as ev
from layover.core.engine.answers import Refused, refusal, reserve, schema_of
from layover.core.engine.commands import Answer, Ask, Create, Pause
from layover.core.engine.state import Point
from tests.core.test_approval_rule_laws import PEOPLE, RULES

from .flows import only, rehearse

if TYPE_CHECKING:
    from layover.core.approval_rules import ApprovalRules, Approver

APPROVAL = "  - {id: a, type: approval, schema: {properties: {n: {type: integer}}}, next: {rejected: n}}\n"
FORM = "  - {id: a, type: form, schema: {required: [size]}}\n"
DATA = st.sampled_from([None, {"n": 1}, {"n": "one"}])
ANSWERS = st.lists(st.tuples(PEOPLE, st.booleans() | st.none(), st.sampled_from(["", "so"]), DATA), max_size=8)


@given(RULES, st.booleans(), ANSWERS)
def test_reserving_answers_one_by_one_matches_the_engine(
    rules: ApprovalRules, comment_required: bool, tries: list[tuple[Approver, bool | None, str, object]]
) -> None:
    flow = rehearse(APPROVAL + "  - {id: n, type: compute, output: 1}\n").start()
    rules = msgspec.structs.replace(rules, comment_required=comment_required)
    flow.state.points.put(flow.point("a").id, msgspec.structs.replace(flow.point("a"), rules=rules))
    flow.send(Pause())  # so that an answered point stays in the state
    reserved = flow.point("a")
    schema = schema_of(flow.state, reserved)
    for person, approved, comment, data in tries:
        flow.now += 1
        answer = Answer(
            point=reserved.id, by=person.user, roles=person.roles, approved=approved, comment=comment, data=data
        )
        refused = refusal(flow.state, answer)
        taken = reserve(reserved, schema, answer, flow.now)
        events = flow.send(answer)
        assert (taken if isinstance(taken, Refused) else None) == refused
        assert bool(events) == (isinstance(taken, Point) and taken != reserved)
        reserved = taken if isinstance(taken, Point) else reserved
        assert reserved.decisions == flow.point("a").decisions
        assert reserved.status == flow.point("a").status


def test_a_form_is_answered_by_data_that_fits_its_schema() -> None:
    flow = rehearse(FORM).start()
    point = flow.point("a")
    schema = schema_of(flow.state, point)
    refused = reserve(point, schema, Answer(point=point.id, by="ann", data={}), flow.now)
    assert isinstance(refused, Refused)
    assert refused.code == "invalid_answer"
    taken = reserve(point, schema, Answer(point=point.id, by="ann", data={"size": 4}), flow.now)
    assert isinstance(taken, Point)
    assert (taken.status, taken.output, taken.by) == ("answered", {"size": 4}, "ann")


def test_an_answered_point_is_reserved_once() -> None:
    flow = rehearse("  - {id: a, type: form}\n").start()
    point = flow.point("a")
    first = reserve(point, None, Answer(point=point.id, by="ann"), flow.now)
    assert isinstance(first, Point)
    second = reserve(first, None, Answer(point=point.id, by="bob"), flow.now)
    assert isinstance(second, Refused)
    assert second.code == "already_answered"


def test_a_repeated_decision_leaves_the_point_as_it_is() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann, bob]}, need: 2}\n").start()
    point = flow.point("a")
    answer = Answer(point=point.id, by="ann", approved=True)
    first = reserve(point, None, answer, flow.now)
    assert isinstance(first, Point)
    assert reserve(first, None, answer, flow.now + 1) is first


def test_only_points_that_ask_people_can_be_reserved() -> None:
    flow = rehearse("  - {id: a, type: delay, duration: 1h}\n").start()
    refused = reserve(flow.point("a"), None, Answer(point=flow.point("a").id), flow.now)
    assert isinstance(refused, Refused)
    assert refused.code == "not_answerable"


def test_a_function_that_asks_has_its_own_schema_kept() -> None:
    flow = rehearse("  - {id: a, type: f}\n")
    flow.send(Create(id="execution"))
    flow.send(Ask(node="a", attempt=1, key="size", schema={"type": "integer"}))
    point = flow.point("a")
    assert schema_of(flow.state, point) == {"type": "integer"}
    assert flow.send(Answer(point=point.id, by="ann", data="large")) == []
    flow.send(Answer(point=point.id, by="ann", data=4))
    assert flow.state.node("a").journal == {"size": 4}


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "#/nowhere"}, 5])
def test_a_function_that_asks_with_a_schema_that_cannot_be_used_fails(schema: object) -> None:
    flow = rehearse("  - {id: a, type: f}\n")
    flow.send(Create(id="execution"))
    flow.send(Ask(node="a", attempt=1, key="size", schema=schema))
    assert only(flow, ev.PausePointOpened) == []
    assert flow.error == "bad_schema"
