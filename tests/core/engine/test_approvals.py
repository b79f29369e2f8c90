"""Approvals and forms: quorums, sequences, requesters, reminders, escalations, delegates, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.answers import refusal
from layover.core.engine.commands import Answer, CancelPoint, Create, Delegate
from layover.core.engine.timing import wake_at

from .flows import only, rehearse

if TYPE_CHECKING:
    from layover.testing import Rehearsal

HOUR = 3_600_000

QUORUM = """
  - {id: a, type: approval, approvers: {users: [ann, bob, cy], roles: [boss]}, need: 2,
     next: {approved: o, rejected: n}}
  - {id: o, type: compute, output: "${nodes.a.decisions.map(d, d.by)}"}
  - {id: n, type: compute, output: refused}
"""


def refused(
    flow: Rehearsal, by: str, *, approved: bool | None = None, roles: tuple[str, ...] = (), comment: str = ""
) -> str:
    """Return the code of the refusal that an answer would get, or nothing."""
    answer = Answer(point=flow.point("a").id, by=by, roles=roles, approved=approved, comment=comment)
    found = refusal(flow.state, answer)
    return found.code if found is not None else ""


def test_an_answer_counts_as_a_resumption_when_it_is_applied_and_not_with_each_decision() -> None:
    flow = rehearse(QUORUM).start().answer("a", approved=True, by="ann")
    assert flow.state.facts.resume_count == 0
    flow.answer("a", approved=True, by="bob")
    assert flow.state.facts.resume_count == 1


def test_the_log_names_the_user_who_cancelled_a_point() -> None:
    flow = rehearse(QUORUM).start()
    point = flow.point("a").id
    flow.send(CancelPoint(point=point, reason="not needed", by="op"))
    assert only(flow, ev.PausePointCancelled) == [ev.PausePointCancelled(point=point, reason="not needed", by="op")]


def test_a_quorum_needs_enough_different_people() -> None:
    flow = rehearse(QUORUM).start().answer("a", approved=True, by="ann")
    assert flow.status == "paused"
    flow.answer("a", approved=True, by="ann")
    assert flow.status == "paused"
    assert flow.answer("a", approved=True, by="eve", roles=("boss",)).output == ["ann", "eve"]


def test_one_rejection_is_enough() -> None:
    assert rehearse(QUORUM).start().answer("a", approved=False, by="bob").output == "refused"


def test_a_user_who_is_not_an_approver_cannot_decide() -> None:
    flow = rehearse(QUORUM).start()
    assert refused(flow, by="eve", approved=True) == "not_allowed"
    flow.answer("a", approved=True, by="eve")
    assert only(flow, ev.PausePointDecided) == []


def test_a_changed_mind_is_refused() -> None:
    flow = rehearse(QUORUM).start().answer("a", approved=True, by="ann")
    assert refused(flow, by="ann", approved=False) == "already_decided"


def test_the_requester_can_be_excluded() -> None:
    flow = rehearse("  - {id: a, type: approval, exclude_requester: true}\n")
    flow.send(Create(id="execution", user="ann"))
    assert refused(flow, by="ann", approved=True) == "requester_excluded"
    assert refused(flow, by="bob", approved=True) == ""


def test_a_required_comment_is_required() -> None:
    flow = rehearse("  - {id: a, type: approval, comment: required}\n").start()
    assert refused(flow, by="ann", approved=True) == "comment_required"
    assert refused(flow, by="ann", approved=True, comment="looks good") == ""


def test_a_sequence_of_approvers_is_enforced() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann, bob]}, need: 2, order: sequence}\n").start()
    assert refused(flow, by="bob", approved=True) == "not_your_turn"
    flow.answer("a", approved=True, by="ann").answer("a", approved=True, by="bob")
    assert flow.status == "completed"


def test_approvers_can_come_from_the_data() -> None:
    flow = rehearse(
        "  - {id: a, type: approval, approvers: {users: ['${input.boss}'], expression: '${input.more}'}}\n"
    ).start({"boss": "bob", "more": ["cy"]})
    assert refused(flow, by="ann", approved=True) == "not_allowed"
    assert (refused(flow, by="bob", approved=True), refused(flow, by="cy", approved=True)) == ("", "")


def test_reminders_are_due_at_their_interval() -> None:
    flow = rehearse("  - {id: a, type: approval, remind: [4h, 1h]}\n").start()
    assert wake_at(flow.state) == flow.now + HOUR
    flow.skip(HOUR)
    assert wake_at(flow.state) == flow.now + 3 * HOUR
    flow.skip(3 * HOUR)
    assert len(only(flow, ev.PausePointReminded)) == 2
    assert flow.status == "paused"


def test_an_escalation_adds_approvers() -> None:
    flow = rehearse(
        "  - {id: a, type: approval, approvers: {users: [ann]}, escalate: {after: 1h, to: {users: ['${input}']}}}\n"
    ).start("cfo")
    assert refused(flow, by="cfo", approved=True) == "not_allowed"
    flow.skip(HOUR)
    assert refused(flow, by="cfo", approved=True) == ""
    assert flow.answer("a", approved=True, by="cfo").status == "completed"


def test_a_delegate_acts_for_an_approver() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann]}}\n").start()
    flow.send(Delegate(point=flow.point("a").id, by="ann", to="dan"))
    assert flow.answer("a", approved=True, by="dan").status == "completed"


def test_a_form_takes_only_data_that_fits_its_schema() -> None:
    flow = rehearse(
        "  - {id: a, type: form, schema: {type: object, required: [size], properties: {size: {type: integer}}}}\n"
    ).start()
    answer = Answer(point=flow.point("a").id, by="ann", data={"size": "large"})
    found = refusal(flow.state, answer)
    assert found is not None
    assert (found.code, found.errors[0][0]) == ("invalid_answer", "size")
    assert flow.send(answer) == []
    assert flow.answer("a", {"size": 4}).output == {"size": 4}


def test_a_form_can_be_restricted_to_some_users() -> None:
    flow = rehearse("  - {id: a, type: form, approvers: {roles: [store]}}\n").start()
    assert refused(flow, by="ann") == "not_allowed"
    assert refused(flow, by="ann", roles=("store",)) == ""


def test_a_cancelled_point_fails_its_node() -> None:
    flow = rehearse(
        "  - {id: a, type: form, next: {error: e}}\n  - {id: e, type: compute, output: '${errors.a.code}'}\n"
    ).start()
    flow.send(CancelPoint(point=flow.point("a").id, reason="not needed"))
    assert flow.output == "pause_cancelled"


def test_an_approval_without_a_possible_approver_is_rejected_at_once() -> None:
    flow = rehearse(
        "  - {id: a, type: approval, approvers: {users: [ann]}, exclude_requester: true, next: {rejected: n}}\n"
        "  - {id: n, type: compute, output: refused}\n"
    ).start(user="ann")
    assert flow.output == "refused"


def test_an_empty_list_of_approvers_fails_the_node() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {expression: '${input}'}}\n").start([])
    assert flow.error == "invalid_argument"


def test_an_escalation_can_be_an_expression() -> None:
    flow = rehearse(
        "  - {id: a, type: approval, approvers: {users: [ann]}, escalate: {after: 1h, to: {expression: '${input}'}}}\n"
    ).start(["cfo"])
    flow.skip(HOUR)
    assert flow.answer("a", approved=True, by="cfo").status == "completed"


def test_variables_that_a_decision_brings_are_set_when_it_is_applied() -> None:
    flow = rehearse(
        """
  - {id: r, type: approval, need: 2, next: {approved: o}}
  - {id: o, type: compute, output: "${vars.approver}, ${vars.seen}"}
"""
    ).start()
    point = flow.point("r").id
    flow.send(Answer(point=point, by="ann", approved=True, variables={"seen": 1, "approver": "ann"}))
    assert flow.state.scopes[""].variables == {"count": 0}
    flow.send(Answer(point=point, by="bob", approved=True, variables={"approver": "bob"}))
    assert flow.output == "bob, 1"
    assert flow.state.facts.resume_data == {"seen": 1, "approver": "bob"}


def test_variables_that_an_answer_brings_in_a_branch_are_set_there_and_in_the_execution() -> None:
    flow = rehearse(
        """
  - id: p
    type: parallel
    branches:
      - {id: a, body: [{id: w, type: form, next: o}, {id: o, type: compute, output: "${vars.n}"}]}
"""
    ).start()
    flow.send(Answer(point=flow.point("w:p.a").id, by="ann", variables={"n": 3}))
    assert flow.output == {"a": 3}
    assert flow.state.scopes[""].variables == {"count": 0, "n": 3}


BEFORE = """
  - {id: a, type: approval, remind: [1h, {before: 1h}, {before: 3d}], deadline: 4h, on_deadline: reject, next: o}
  - {id: o, type: compute, output: done}
"""


def test_reminders_come_after_durations_and_before_the_deadline() -> None:
    flow = rehearse(BEFORE).start()
    opened = flow.now
    flow.skip(5 * HOUR)
    reminded = [at - opened for at, event in flow.log if isinstance(event, ev.PausePointReminded)]
    assert reminded == [HOUR, 3 * HOUR]


def test_a_reminder_at_one_moment_from_both_sides_comes_once() -> None:
    flow = rehearse(BEFORE.replace("remind: [1h,", "remind: [3h,")).start()
    flow.skip(5 * HOUR)
    assert len(only(flow, ev.PausePointReminded)) == 1
