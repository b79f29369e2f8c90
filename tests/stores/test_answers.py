"""An answer is a reservation: whoever wins the row of the point wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, RecordedDecision
from layover.core.engine.answers import Refused
from layover.core.engine.point_view import view_of
from layover.ports.records import ChangedPoint, ClosedExecution, ClosedPoint, PointRow, Reserved, Rest
from layover.ports.view_records import PointFilter
from tests.stores.conformance import ME, approval, claim, commit, create, go_on, head, opened, point, step, truth, uid

if TYPE_CHECKING:
    from layover.core.engine.commands import Answer
    from layover.ports.records import OpenedPoint, Refusal
    from layover.ports.store import Store

AMOUNT = {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}}


async def paused(store: Store, wanted: OpenedPoint) -> None:
    """An execution waits at a point, and nobody drives it."""
    await create(store)
    await go_on(store, points=(wanted,), status="paused", rest=Rest())


async def answer(store: Store, given: Answer, source: str = "a", now: int = 700) -> Reserved | Refusal:
    return await store.answers.reserve(given, source, now)


async def refused(store: Store, given: Answer, source: str = "a") -> str:
    """Give an answer that is not taken; return why."""
    before = await truth(store)
    found = await answer(store, given, source)
    assert isinstance(found, Refused)
    assert await truth(store) == before
    return found.code


async def test_an_answer_marks_the_point_writes_the_command_and_wakes(store: Store) -> None:
    await paused(store, opened(schema=AMOUNT))
    given = approval(data={"amount": 3})
    decided = replace(
        point("p"),
        status="answered",
        answered_at=700,
        decisions=(RecordedDecision(by="ann", approved=True, at=700, data={"amount": 3}),),
    )
    assert await answer(store, given) == Reserved(
        execution_id=uid(1), point=decided, n=1, workflow="order", schema=AMOUNT
    )
    assert await store.queries.find_point("p") == PointRow(
        execution_id=uid(1), workflow="order", point=decided, schema=AMOUNT, status="answered"
    )
    (command,) = await store.commands.list_after(uid(1), 0)
    assert (command.kind, command.source, command.source_n, command.at) == ("Answer", "a", 0, 700)
    assert msgspec.json.decode(command.body, type=type(given)) == given
    now = await head(store)
    assert (now.commands_seq, now.wake_at, now.owner) == (1, 700, None)


async def test_an_answer_to_what_is_driven_names_the_owner_and_leaves_the_lease(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    given = await answer(store, approval())
    assert isinstance(given, Reserved)
    assert (given.owner, (await head(store)).wake_at) == (ME, 5_000)


async def test_an_answer_comes_before_the_deadline_that_its_owner_has_not_written_yet(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    await answer(store, approval())
    expired = replace(step(), expected_seq=2, points=(ClosedPoint(id="p", how="expired"),))
    assert (await commit(store, expired)).verdict == "uninformed"
    row = await store.queries.find_point("p")
    assert row is not None
    assert (row.status, row.closed_at) == ("answered", None)


async def test_a_form_is_answered_by_its_data(store: Store) -> None:
    await paused(store, opened(kind="form", schema=AMOUNT))
    given = await answer(store, approval(approved=None, data={"amount": 1}))
    assert isinstance(given, Reserved)
    assert (given.point.status, given.point.output, given.point.by) == ("answered", {"amount": 1}, "ann")


async def test_data_that_does_not_fit_the_schema_is_refused_with_the_places(store: Store) -> None:
    await paused(store, opened(schema=AMOUNT))
    found = await answer(store, approval(data={"amount": "much"}))
    assert isinstance(found, Refused)
    assert found.code == "invalid_answer"
    assert [place for place, _ in found.errors] == ["amount"]
    assert await refused(store, approval(data={})) == "invalid_answer"


async def test_a_user_who_is_not_asked_may_not_answer(store: Store) -> None:
    await paused(store, opened(rules=ApprovalRules(users=("bob",))))
    assert await refused(store, approval(by="ann")) == "not_allowed"


async def test_a_decision_needs_a_yes_or_no(store: Store) -> None:
    await paused(store, opened())
    assert await refused(store, approval(approved=None)) == "decision_required"


async def test_a_quorum_is_reached_through_several_answers(store: Store) -> None:
    await paused(store, opened(rules=ApprovalRules(users=("ann", "bob", "eve"), need=2)))
    first = await answer(store, approval(by="ann"), "a")
    second = await answer(store, approval(by="bob"), "b")
    assert isinstance(first, Reserved)
    assert isinstance(second, Reserved)
    assert [given.point.status for given in (first, second)] == ["open", "answered"]
    assert [given.n for given in (first, second)] == [1, 2]
    assert [decision.by for decision in second.point.decisions] == ["ann", "bob"]
    assert await refused(store, approval(by="eve"), "c") == "already_answered"


async def test_the_same_person_saying_the_same_again_changes_nothing(store: Store) -> None:
    await paused(store, opened(rules=ApprovalRules(users=("ann", "bob"), need=2)))
    first = await answer(store, approval(by="ann"), "a")
    before = await truth(store)
    again = await answer(store, approval(by="ann"), "a second click")
    assert isinstance(first, Reserved)
    assert again == replace(first, repeated=True)
    assert await truth(store) == before


async def test_the_same_person_cannot_change_their_mind(store: Store) -> None:
    await paused(store, opened(rules=ApprovalRules(users=("ann", "bob"), need=2)))
    await answer(store, approval(by="ann"), "a")
    assert await refused(store, approval(by="ann", approved=False), "b") == "already_decided"


async def test_a_repeated_delivery_gets_the_same_place_even_after_the_point_is_closed(store: Store) -> None:
    await paused(store, opened())
    first = await answer(store, approval(), "a")
    assert isinstance(first, Reserved)
    again = replace(first, repeated=True)
    assert await answer(store, approval(), "a", now=999) == again
    await claim(store, 800)
    await go_on(store, points=(ClosedPoint(id="p", how="applied"),), rest=Rest())
    assert await answer(store, approval(), "a") == again


async def test_the_second_of_two_answers_is_too_late(store: Store) -> None:
    await paused(store, opened())
    await answer(store, approval(by="ann"), "a")
    assert await refused(store, approval(by="bob"), "b") == "already_answered"


@pytest.mark.parametrize(
    ("how", "code"),
    [("expired", "point_expired"), ("applied", "already_answered"), ("cancelled", "point_closed")],
)
async def test_a_closed_point_says_why_it_takes_no_answer(store: Store, how: str, code: str) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    await go_on(store, points=(ClosedPoint(id="p", how=how),), at=900)
    assert await refused(store, approval()) == code
    row = await store.queries.find_point("p")
    assert row is not None
    assert (row.status, row.closed_at) == (how, 900)


async def test_a_closed_execution_takes_no_answer(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    await go_on(store, status="cancelled", closed=ClosedExecution(), rest=Rest())
    assert await refused(store, approval()) == "execution_closed"


async def test_an_unknown_point_takes_no_answer(store: Store) -> None:
    assert await answer(store, approval("nowhere")) == Refused("unknown_point", "There is no pause point nowhere.")
    assert await store.queries.find_point("nowhere") is None


async def test_what_waits_for_no_person_is_not_answered(store: Store) -> None:
    await paused(store, opened(kind="timer"))
    assert await refused(store, approval()) == "not_answerable"


async def test_a_point_is_seen_as_it_was_last_written(store: Store) -> None:
    await create(store)
    changed = replace(point("p"), reminded=2, rules=ApprovalRules(escalated_users=("zoe",)), deadline=9_000)
    await go_on(store, points=(opened(schema=AMOUNT),))
    await go_on(store, points=(ChangedPoint(point=changed),))
    row = await store.queries.find_point("p")
    assert row == PointRow(execution_id=uid(1), workflow="order", point=changed, schema=AMOUNT)


async def test_a_change_of_a_point_that_is_not_there_is_nothing(store: Store) -> None:
    await create(store)
    await go_on(store, points=(ChangedPoint(point=point("q")), ClosedPoint(id="q", how="expired")))
    assert await store.queries.list_points(PointFilter()) == []


async def test_what_is_kept_of_a_point_is_a_copy(store: Store) -> None:
    await create(store)
    wanted = opened()
    await go_on(store, points=(wanted,))
    wanted.point.details["title"] = "changed afterwards"
    row = await store.queries.find_point("p")
    assert row is not None
    assert row.point.details == {"title": "p"}


async def test_an_answer_that_saw_another_point_changes_nothing_and_one_that_saw_this_is_taken(store: Store) -> None:
    await paused(store, opened(schema=AMOUNT))
    view = view_of(point("p"), AMOUNT)
    assert view is not None
    given = approval(data={"amount": 3})
    assert await refused(store, replace(given, seen="0" * 64)) == "point_changed"
    taken = await answer(store, replace(given, seen=view.hash()))
    assert isinstance(taken, Reserved)
    found = await store.queries.find_point("p")
    assert found is not None
    assert [one.seen for one in found.point.decisions] == [view.hash()]
