"""A take-back is reserved like an answer: who comes to the point afterwards finds it as it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.core.engine.answers import Refused
from layover.core.engine.commands import ClaimPoint, TakeBack
from layover.ports.records import OpenedPoint, Reserved, Rest
from tests.stores.conformance import approval, create, go_on, point, truth, uid

if TYPE_CHECKING:
    from layover.core.engine.commands import PointAct
    from layover.ports.store import Store

_IN_TURN = ApprovalRules(users=("ann", "bob"), need=2, order="sequence")


async def _act(store: Store, act: PointAct, source: str, now: int) -> str:
    found = await store.answers.reserve(act, source, now)
    return found.code if isinstance(found, Refused) else found.point.status


async def _open(store: Store, rules: ApprovalRules = _IN_TURN) -> None:
    """Have an execution wait at an approval with an undo window, and let no instance drive it."""
    await create(store)
    asked = replace(point("p", rules=rules), undo=100)
    await go_on(store, points=(OpenedPoint(point=asked),), status="paused", rest=Rest())


async def test_nobody_has_a_turn_by_a_decision_that_is_being_taken_back(store: Store) -> None:
    await _open(store)
    assert await _act(store, approval(by="ann"), "a", 700) == "open"
    assert await _act(store, TakeBack(point="p", by="ann", at=710), "b", 710) == "open"
    assert await _act(store, approval(by="bob"), "c", 720) == "not_your_turn"
    assert await _act(store, ClaimPoint(point="p", by="bob", at=720, until=900), "d", 720) == "not_your_turn"
    assert await _act(store, approval(by="ann"), "e", 730) == "open"
    assert await _act(store, approval(by="bob"), "f", 740) == "answered"
    assert [one.kind for one in await store.commands.list_after(uid(1), 0)] == [
        "Answer",
        "TakeBack",
        "Answer",
        "Answer",
    ]


async def test_a_point_is_open_for_others_as_soon_as_its_answer_is_taken_back(store: Store) -> None:
    await _open(store, ApprovalRules())
    assert await _act(store, approval(by="ann"), "a", 700) == "answered"
    assert await _act(store, approval(by="bob"), "b", 705) == "already_answered"
    assert await _act(store, TakeBack(point="p", by="ann", at=710), "c", 710) == "open"
    row = await store.queries.find_point("p")
    assert row is not None
    assert (row.status, row.point.decisions, row.point.final_at) == ("open", (), None)
    assert await _act(store, approval(by="bob"), "d", 720) == "answered"


async def test_where_the_others_suffice_the_stored_answer_stays(store: Store) -> None:
    await _open(store, ApprovalRules(users=("ann", "bob"), need=1, reject_need=2))
    assert await _act(store, approval(by="ann", approved=False), "a", 700) == "open"
    assert await _act(store, approval(by="bob"), "b", 720) == "answered"
    assert await _act(store, TakeBack(point="p", by="ann", at=730), "c", 730) == "answered"
    row = await store.queries.find_point("p")
    assert row is not None
    assert ([one.by for one in row.point.decisions], row.point.final_at) == (["bob"], 820)


async def test_what_is_too_late_or_another_person_s_is_not_taken_back(store: Store) -> None:
    await _open(store, ApprovalRules())
    await _act(store, approval(by="ann"), "a", 700)
    before = await truth(store)
    assert await _act(store, TakeBack(point="p", by="bob", at=710), "b", 710) == "not_allowed"
    assert await _act(store, TakeBack(point="p", by="ann", at=800), "c", 800) == "already_applied"
    assert await truth(store) == before


async def test_a_take_back_under_the_same_source_is_one(store: Store) -> None:
    await _open(store, ApprovalRules())
    await _act(store, approval(by="ann"), "a", 700)
    first = await store.answers.reserve(TakeBack(point="p", by="ann", at=710), "b", 710)
    again = await store.answers.reserve(TakeBack(point="p", by="ann", at=711), "b", 711)
    assert isinstance(first, Reserved)
    assert isinstance(again, Reserved)
    assert (again.n, again.repeated) == (first.n, True)
