from __future__ import annotations

import pytest

from layover.service.differences import differences


def told(before: object, after: object) -> list[tuple[str, str]]:
    return [(one.path, one.kind) for one in differences(before, after)]


def test_what_is_equal_is_not_different() -> None:
    document = {"a": [1, {"id": "x", "b": None}], "c": "text"}
    assert told(document, dict(reversed(document.items()))) == []


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, "1"), (None, 0), ([], {}), ("", None)])
def test_values_of_two_kinds_are_different(before: object, after: object) -> None:
    assert told({"a": before}, {"a": after}) == [("$.a", "changed")]


def test_a_member_with_null_is_there() -> None:
    assert told({}, {"a": None}) == [("$.a", "added")]
    assert told({"a": None}, {}) == [("$.a", "removed")]


def test_things_with_ids_are_found_again_wherever_they_stand() -> None:
    before = [{"id": "a", "n": 1}, {"id": "b", "n": 1}]
    after = [{"id": "c", "n": 1}, {"id": "b", "n": 2}, {"id": "a", "n": 1}]
    assert told(before, after) == [("$[b].n", "changed"), ("$[c]", "added")]


def test_edges_are_known_by_where_they_lead() -> None:
    before = [{"from": "a", "to": "b"}, {"from": "a", "port": "error", "to": "c"}]
    after = [{"from": "a", "port": "error", "to": "c"}, {"from": "a", "to": "b", "label": "then"}]
    assert told(before, after) == [("$[a. → b].label", "added")]


def test_where_names_do_not_tell_things_apart_the_place_does() -> None:
    twice = [{"id": "a"}, {"id": "a", "n": 1}]
    assert told(twice, [{"id": "a"}]) == [("$[1]", "removed")]
    assert told([1, 2], [1, 3, 4]) == [("$[1]", "changed"), ("$[2]", "added")]
