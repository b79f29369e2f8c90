"""What people do at a point besides answering it: claims, questions that are asked back, replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.answers import Refused, refusal
from layover.core.engine.conversations import judge_act, reserve_act
from layover.core.point_claims import CLAIMED_FOR, PointClaim
from layover.core.point_questions import LONGEST_QUESTION, MOST_QUESTIONS

from .flows import rehearse

if TYPE_CHECKING:
    from layover.testing import Rehearsal

ASKED = """
  - {id: a, type: approval, approvers: {users: [ann, bob, cy]}, need: 2, next: {approved: o, rejected: n}}
  - {id: o, type: compute, output: approved}
  - {id: n, type: compute, output: refused}
"""
ESCALATED = """
  - {id: a, type: approval, approvers: {users: [ann]}, escalate: {after: 5m, to: {users: [eve]}}, next: {approved: o}}
  - {id: o, type: compute, output: approved}
"""
FORM = """
  - {id: a, type: form, next: o}
  - {id: o, type: compute, output: done}
"""


def started(text: str = ASKED, user: str | None = "req") -> Rehearsal:
    return rehearse(text).start(user=user) if user is not None else rehearse(text).start()


def claim(flow: Rehearsal, by: str = "ann", *, take: bool = False, at: int | None = None) -> list[Any]:
    now = flow.now if at is None else at
    return flow.send(cmd.ClaimPoint(point=flow.point("a").id, by=by, take=take, at=now, until=now + CLAIMED_FOR))


def judged(flow: Rehearsal, act: Any) -> str:
    found = judge_act(flow.point("a"), act)
    return found.code if isinstance(found, Refused) else ""


def code_of_answer(flow: Rehearsal, by: str, at: int) -> str:
    found = refusal(flow.state, cmd.Answer(point=flow.point("a").id, by=by, approved=True, at=at))
    return found.code if found is not None else ""


def test_a_claim_stops_the_answers_and_claims_of_others_until_it_runs_out() -> None:
    flow = started()
    point = flow.point("a").id
    assert claim(flow) == [ev.PausePointClaimed(point=point, by="ann", until=flow.now + CLAIMED_FOR)]
    assert code_of_answer(flow, "bob", flow.now) == "claimed"
    assert code_of_answer(flow, "ann", flow.now) == ""
    assert claim(flow, "bob") == []
    assert code_of_answer(flow, "bob", flow.now + CLAIMED_FOR - 1) == "claimed"
    assert code_of_answer(flow, "bob", flow.now + CLAIMED_FOR) == ""


def test_an_answer_is_judged_by_the_moment_at_which_it_was_given_and_not_by_the_clock_that_reads_it() -> None:
    flow = started()
    claim(flow)
    flow.send(cmd.Answer(point=flow.point("a").id, by="bob", approved=True, at=flow.now + CLAIMED_FOR))
    assert [event.decision.by for _, event in flow.log if isinstance(event, ev.PausePointDecided)] == ["bob"]


def test_a_claim_can_be_taken_over_by_another_who_may_answer() -> None:
    flow = started()
    claim(flow)
    claim(flow, "bob", take=True)
    assert flow.point("a").claim == PointClaim("bob", flow.now + CLAIMED_FOR)
    assert code_of_answer(flow, "ann", flow.now) == "claimed"


@pytest.mark.parametrize("take", [True, False])
def test_only_those_who_may_answer_claim(*, take: bool) -> None:
    flow = started()
    point = flow.point("a").id
    assert judged(flow, cmd.ClaimPoint(point=point, by="eve", take=take, at=0, until=1)) == "not_allowed"
    assert judged(flow, cmd.ClaimPoint(point=point, by="", take=take, at=0, until=1)) == "user_required"


def test_a_decision_of_the_claimer_ends_the_claim_though_more_are_needed() -> None:
    flow = started()
    claim(flow)
    flow.answer("a", approved=True, by="ann")
    assert flow.point("a").claim is None
    assert flow.answer("a", approved=True, by="bob").output == "approved"


def test_a_claim_is_given_back_by_its_owner_only() -> None:
    flow = started()
    claim(flow)
    point = flow.point("a").id
    assert judged(flow, cmd.ReleaseClaim(point=point, by="bob", at=flow.now)) == "claimed"
    assert flow.send(cmd.ReleaseClaim(point=point, by="ann", at=flow.now)) == [
        ev.PausePointClaimEnded(point=point, by="ann")
    ]
    assert flow.send(cmd.ReleaseClaim(point=point, by="bob", at=flow.now)) == []
    assert code_of_answer(flow, "bob", flow.now) == ""


def test_who_delegates_gives_the_claim_back() -> None:
    flow = started()
    claim(flow)
    flow.send(cmd.Delegate(point=flow.point("a").id, by="ann", to="dan"))
    assert code_of_answer(flow, "dan", flow.now) == ""


def test_the_delegation_of_another_leaves_the_claim() -> None:
    flow = started()
    claim(flow)
    flow.send(cmd.Delegate(point=flow.point("a").id, by="bob", to="dan"))
    assert code_of_answer(flow, "dan", flow.now) == "claimed"


def test_an_escalation_ends_the_claim() -> None:
    flow = started(ESCALATED)
    claim(flow)
    flow.skip(300_000)
    assert code_of_answer(flow, "eve", flow.now) == ""


def test_a_point_that_is_asked_again_after_a_rewind_is_not_claimed() -> None:
    flow = started()
    claim(flow)
    flow.send(cmd.Rewind(to="a"))
    assert flow.point("a").claim is None


def test_a_question_leaves_the_point_open_and_shows_its_reply() -> None:
    flow = started()
    point = flow.point("a").id
    flow.send(cmd.AskBack(point=point, by="ann", question="Why?", at=flow.now))
    (asked,) = flow.point("a").questions
    assert (asked.by, asked.to, asked.question, asked.reply) == ("ann", "req", "Why?", None)
    flow.send(cmd.ReplyBack(point=point, by="req", text="Because.", at=flow.now))
    (asked,) = flow.point("a").questions
    assert (asked.reply, asked.replied_by, asked.replied_at) == ("Because.", "req", flow.now)
    assert flow.status == "paused"


def test_the_requester_of_a_form_is_asked_too() -> None:
    flow = started(FORM)
    flow.send(cmd.AskBack(point=flow.point("a").id, by="ann", question="Why?", at=flow.now))
    assert flow.point("a").questions[0].to == "req"


def test_replies_go_to_the_oldest_question_or_to_the_one_with_a_number() -> None:
    flow = started()
    point = flow.point("a").id
    for at, by in enumerate(("ann", "bob", "cy"), flow.now):
        flow.send(cmd.AskBack(point=point, by=by, question=by, at=at))
    flow.send(cmd.ReplyBack(point=point, by="req", text="2", number=2, at=flow.now))
    flow.send(cmd.ReplyBack(point=point, by="req", text="1", at=flow.now))
    assert [one.reply for one in flow.point("a").questions] == ["1", "2", None]
    assert judged(flow, cmd.ReplyBack(point=point, by="req", text="x", number=2, at=9)) == "already_replied"
    assert judged(flow, cmd.ReplyBack(point=point, by="req", text="x", number=4, at=9)) == "no_question"


def test_only_the_requester_and_the_person_who_was_asked_reply() -> None:
    flow = started()
    point = flow.point("a").id
    flow.send(cmd.AskBack(point=point, by="ann", question="Why?", to="zoe", at=flow.now))
    for by, code in (("bob", "not_allowed"), ("zoe", ""), ("req", ""), ("", "user_required")):
        assert judged(flow, cmd.ReplyBack(point=point, by=by, text="So.", at=9)) == code


def test_who_is_not_asked_cannot_ask_back() -> None:
    flow = started()
    assert judged(flow, cmd.AskBack(point=flow.point("a").id, by="eve", question="Why?", at=9)) == "not_allowed"


@pytest.mark.parametrize("user", [None, "trigger:flow/nightly"])
def test_a_question_needs_a_person_to_go_to(user: str | None) -> None:
    flow = started(user=user)
    point = flow.point("a").id
    assert judged(flow, cmd.AskBack(point=point, by="ann", question="Why?", at=9)) == "no_requester"
    assert judged(flow, cmd.AskBack(point=point, by="ann", question="Why?", to="zoe", at=9)) == ""


def test_questions_are_bounded_in_number_and_length() -> None:
    flow = started()
    point = flow.point("a").id
    for n in range(MOST_QUESTIONS + 5):
        flow.send(cmd.AskBack(point=point, by="ann", question=f"{n}?", at=flow.now + n))
    assert len(flow.point("a").questions) == MOST_QUESTIONS
    assert judged(flow, cmd.AskBack(point=point, by="ann", question="one more", at=9)) == "too_many_questions"
    fresh = started()
    point = fresh.point("a").id
    for question in ("", "x" * (LONGEST_QUESTION + 1)):
        assert judged(fresh, cmd.AskBack(point=point, by="ann", question=question, at=9)) == "invalid_answer"


def test_a_stored_point_and_the_execution_come_to_the_same() -> None:
    flow = started()
    stored = flow.point("a")
    acts: list[cmd.PointAct] = [
        cmd.ClaimPoint(point=stored.id, by="ann", at=flow.now, until=flow.now + 9),
        cmd.AskBack(point=stored.id, by="bob", question="Why?", at=flow.now - 4),
        cmd.ReplyBack(point=stored.id, by="req", text="So.", at=flow.now - 3),
        cmd.ReleaseClaim(point=stored.id, by="ann", at=flow.now + 1),
        cmd.Answer(point=stored.id, by="bob", approved=True, at=flow.now + 2),
    ]
    for act in acts:
        found = reserve_act(stored, None, act, act.at or 0)
        assert not isinstance(found, Refused)
        stored = found
        flow.send(act)
    assert replace(flow.point("a"), turn=0) == stored
