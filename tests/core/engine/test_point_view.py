"""What a person is shown is a pure function of the point; an answer may name what was seen."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, RecordedDecision
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.answers import Refused, reserve
from layover.core.engine.point_view import PointView, view_of
from layover.core.engine.state import Point

from .flows import only, rehearse

SCHEMA = {"type": "object", "properties": {"b": {}, "a": {"title": "é"}}}
ASKED = Point(
    id="p",
    node="review",
    kind="approval",
    opened_at=1,
    deadline=1_700_000_000_123,
    on_deadline="reject",
    details={"title": "Pay?", "shown": {"total": 8.0}, "leads_to": {"approved": "pays 8 €", "rejected": "mails"}},
)


def test_a_view_holds_the_question_the_facts_the_form_the_buttons_and_the_deadline() -> None:
    document = json.loads(_view(ASKED).document())
    assert document == {
        "title": "Pay?",
        "shown": {"total": 8.0},
        "form": SCHEMA,
        "buttons": [{"port": "approved", "leads_to": "pays 8 €"}, {"port": "rejected", "leads_to": "mails"}],
        "deadline": {"at": "2023-11-14T22:13:20.123Z", "outcome": "reject", "leads_to": "mails"},
    }


def test_the_canonical_bytes_are_sorted_without_blanks_in_utf_8_and_their_sha_256_is_the_hash() -> None:
    view = _view(ASKED)
    again = json.dumps(json.loads(view.document()), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert view.document() == again.encode()
    assert view.hash() == sha256(view.document()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"decisions": (RecordedDecision(by="ann", approved=True, at=2),)},
        {"reminded": 1},
        {"rules": ApprovalRules(delegates=(("ann", "bob"),))},
        {"status": "answered", "output": 1, "by": "ann"},
    ],
)
def test_what_happens_to_a_point_does_not_change_what_it_shows(change: dict[str, Any]) -> None:
    assert _view(replace(ASKED, **change)).hash() == _view(ASKED).hash()


@pytest.mark.parametrize(
    "change",
    [
        {"deadline": 5},
        {"on_deadline": "approve"},
        {"details": {**ASKED.details, "title": "Pay!"}},
        {"details": {**ASKED.details, "shown": {"total": 9}}},
        {"details": {**ASKED.details, "leads_to": {}}},
    ],
)
def test_what_is_shown_changes_the_view(change: dict[str, Any]) -> None:
    assert _view(replace(ASKED, **change)).hash() != _view(ASKED).hash()
    assert view_of(ASKED, None) != _view(ASKED)


def test_a_point_that_no_person_answers_has_no_view() -> None:
    assert view_of(replace(ASKED, kind="timer"), None) is None


def test_the_author_says_what_an_answer_leads_to_with_values_in_it() -> None:
    flow = rehearse("""
  - {id: a, type: approval, next: {approved: pay, rejected: tell},
     leads_to: {approved: "pays ${input.total} EUR", expired: nothing}}
  - {id: pay, type: pay}
  - {id: tell, type: end, label: Tell the customer}
""").start({"total": 800})
    told = {"approved": "pays 800 EUR", "rejected": "Tell the customer", "expired": "nothing"}
    assert flow.point("a").details["leads_to"] == told


def test_without_a_word_of_the_author_next_nodes_are_named_and_functions_promise_nothing() -> None:
    flow = rehearse("""
  - {id: a, type: approval, next: {approved: [size, ship], rejected: [tell, pay]}}
  - {id: size, type: form, title: "Which size?"}
  - {id: ship, type: http, url: "https://a.example"}
  - {id: tell, type: end}
  - {id: pay, type: pay}
""").start()
    assert flow.point("a").details["leads_to"] == {"approved": "Which size?, ship"}
    plain = rehearse("  - {id: a, type: form, next: pay}\n  - {id: pay, type: pay}").start()
    assert "leads_to" not in plain.point("a").details


def test_a_title_that_is_rendered_later_is_not_shown_before() -> None:
    flow = rehearse("""
  - {id: a, type: form, next: more}
  - {id: more, type: form, title: "More of ${nodes.a.n}?"}
""").start()
    assert flow.point("a").details["leads_to"] == {"done": "more"}


def test_an_answer_that_has_seen_the_point_as_it_is_records_that() -> None:
    seen = _view(ASKED).hash()
    taken = reserve(ASKED, SCHEMA, _yes(seen), 5)
    assert isinstance(taken, Point)
    assert [one.seen for one in taken.decisions] == [seen]
    filled = reserve(_form(), SCHEMA, cmd.Answer(point="p", by="ann", data={}, seen=_view(_form()).hash()), 5)
    assert isinstance(filled, Point)
    assert filled.seen == _view(_form()).hash()


def test_an_answer_that_has_seen_something_else_is_refused_with_what_the_point_shows() -> None:
    refused = reserve(ASKED, SCHEMA, _yes("0" * 64), 5)
    assert isinstance(refused, Refused)
    assert refused.code == "point_changed"
    assert refused.difference is not None
    assert (refused.difference.seen, refused.difference.now) == ("0" * 64, _view(ASKED).hash())
    assert refused.difference.view == _view(ASKED)


def test_a_changed_form_is_named_before_what_does_not_fit_it() -> None:
    unfit = cmd.Answer(point="p", by="ann", data=3, seen="0" * 64)
    refused = reserve(_form(), SCHEMA, unfit, 5)
    assert isinstance(refused, Refused)
    assert refused.code == "point_changed"


def test_those_who_may_not_decide_are_not_told_what_the_point_shows() -> None:
    asked = replace(ASKED, rules=ApprovalRules(users=("bob",)))
    refused = reserve(asked, SCHEMA, _yes("0" * 64), 5)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.difference) == ("not_allowed", None)


def test_a_decision_said_again_is_not_compared_again() -> None:
    need = replace(ASKED, rules=ApprovalRules(need=2))
    taken = reserve(need, SCHEMA, _yes(_view(need).hash()), 5)
    assert isinstance(taken, Point)
    assert reserve(taken, SCHEMA, _yes("0" * 64), 6) is taken


@pytest.mark.parametrize("kind", ["approval", "form"])
def test_the_engine_records_what_was_seen(kind: str) -> None:
    flow = rehearse(f"  - {{id: a, type: {kind}}}").start()
    given = cmd.Answer(point=flow.point("a").id, by="ann", approved=kind == "approval" or None, data={}, seen="ab" * 32)
    flow.send(given)
    if kind == "approval":
        assert [one.decision.seen for one in only(flow, ev.PausePointDecided)] == ["ab" * 32]  # type: ignore[union-attr]  # as asked
    else:
        assert [one.seen for one in only(flow, ev.PausePointAnswered)] == ["ab" * 32]  # type: ignore[union-attr]  # as asked


def _yes(seen: str) -> cmd.Answer:
    return cmd.Answer(point="p", by="ann", approved=True, data={}, seen=seen)


def _form() -> Point:
    return replace(ASKED, kind="form")


def _view(point: Point) -> PointView:
    found = view_of(point, SCHEMA)
    assert found is not None
    return found
