"""Free call slots are a value: a decision uses them up, and says which."""

from __future__ import annotations

from layover.core.engine.commands import Create
from layover.core.engine.decide import decide, play
from layover.core.engine.free_slots import FreeSlots
from tests.core.engine.flows import rehearse

_THREE = "  - {id: s, type: compute, output: 0, next: [a, b, c]}\n" + "".join(
    f"  - {{id: {name}, type: {kind}}}\n" for name, kind in (("a", "f"), ("b", "f"), ("c", "g"))
)


def test_a_decision_says_which_slots_it_used() -> None:
    flow, slots = rehearse(_THREE), FreeSlots()
    play(flow.state, Create(id="execution"), flow.now, slots)
    assert slots.used == {"f": 2, "g": 1}


def test_a_decision_that_is_only_previewed_uses_no_slots() -> None:
    flow = rehearse(_THREE)
    assert decide(flow.state, Create(id="execution"), flow.now, FreeSlots(2)) == decide(
        flow.state, Create(id="execution"), flow.now, FreeSlots(2)
    )


def test_the_total_bounds_all_node_types_together() -> None:
    slots = FreeSlots(2)
    assert [slots.take(kind) for kind in ("f", "g", "h")] == [True, True, False]


def test_a_node_type_has_a_bound_of_its_own() -> None:
    slots = FreeSlots(9, {"f": 1})
    assert [slots.take(kind) for kind in ("f", "f", "g")] == [True, False, True]


def test_only_what_was_reserved_can_be_used_again() -> None:
    slots = FreeSlots(by_type={"f": 1}, others=0)
    assert [slots.take(kind) for kind in ("g", "f", "f")] == [False, True, False]


def test_threads_bound_only_the_types_that_need_one() -> None:
    slots = FreeSlots(9, threads=1, threaded={"f", "g"})
    assert [slots.take(kind) for kind in ("f", "g", "h")] == [True, False, True]


def test_what_is_not_known_has_no_slot() -> None:
    slots = FreeSlots(9, known={"f"})
    assert [slots.take(kind) for kind in ("f", "g")] == [True, False]
    assert slots.used == {"f": 1}
