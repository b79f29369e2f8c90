"""Ids derived from what they identify."""

from __future__ import annotations

from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from layover.core.ids import child_id, may_live_again, uuid8


@given(st.text(st.characters(codec="utf-8")))
def test_an_id_is_a_uuid_of_version_8(seed: str) -> None:
    made = UUID(uuid8(seed))
    assert (made.version, made.variant) == (8, RFC_4122)
    assert str(made) == uuid8(seed)


def test_an_id_never_changes() -> None:
    """Ids like these are in logs."""
    assert (
        child_id("b0a6f0de-0000-8000-8000-000000000001", "ship:orders.1", 2) == "def0a625-9f14-8ccc-a46e-dc70e6d9956b"
    )


def test_every_attempt_of_every_node_of_every_parent_has_its_own_child() -> None:
    places = [(parent, node, attempt) for parent in ("p", "q") for node in ("a", "a:l.1") for attempt in (1, 2)]
    assert len({child_id(*place) for place in places}) == len(places)


def test_a_parent_that_lives_again_has_children_of_its_own() -> None:
    chosen = uuid8("a key")
    assert len({child_id(chosen, "a", 1, life) for life in (0, 1, 2)}) == 3
    assert may_live_again(chosen)
    assert may_live_again("b0a6f0de-0000-4000-8000-000000000001")
    assert not may_live_again("01a1e258-f549-7621-bd49-71ab7eff4236")
