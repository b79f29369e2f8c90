"""Where a problem ends in the text, and the graph of what has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.api.problem_ranges import end_of
from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("type: aproval", 7, "aproval"),
        ("title: 'it''s'  # why", 8, "'it''s'"),
        (r'{"a": "b\"c", "d": 1}', 7, r'"b\"c"'),
        ("on: http://x.test/a, b", 5, "http://x.test/a"),
        ("name: a b  # c", 7, "a b"),
        ("a: [", 4, "["),
        ("nodes:", 1, "nodes"),
    ],
)
def test_what_begins_at_a_place_ends_with_it(line: str, column: int, found: str) -> None:
    assert end_of(["", line], 2, column) == (2, column + len(found))


def test_a_place_that_is_not_in_the_text_has_no_end() -> None:
    assert end_of(["a"], 2, 1) is None
    assert end_of(["a"], None, 1) is None
    assert end_of([""], 1, 1) == (1, 2)


async def test_a_check_says_from_where_to_where_and_draws_what_is_sound(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        headers = {"content-type": "application/yaml"}
        text = b"name: order\nnodes:\n- id: a\n  type: aproval\n"
        wrong = (await api.ask("POST", "/workflows/check", raw=text, headers=headers)).json
        text = text.replace(b"aproval", b"approval\n  title: Fine?")
        sound = (await api.ask("POST", "/workflows/check", raw=text, headers=headers)).json

    (problem,) = wrong["problems"]
    assert (problem["line"], problem["column"], problem["end_line"], problem["end_column"]) == (4, 9, 4, 16)
    assert wrong["graph"] is None
    assert [one["severity"] for one in sound["problems"]] == ["warning"]
    assert [node["id"] for node in sound["graph"]["nodes"]] == ["a"]
