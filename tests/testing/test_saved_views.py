"""Saved views: what no list could show is not saved, and the refusal says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.errors import InvalidInput

if TYPE_CHECKING:
    from layover.testing import Layover


@pytest.mark.parametrize(
    ("wanted", "field", "why"),
    [
        ({"where": ["nonsense"]}, "where", "`nonsense` is not a condition"),
        ({"where": ["input.a=>1"]}, "where", "no operator"),
        ({"contains": {"a": "x" * 9_000}}, "contains", "at most 8,192 can be searched for"),
    ],
)
async def test_a_view_that_no_list_could_show_is_not_saved(
    layover: Layover, wanted: dict[str, Any], field: str, why: str
) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        await layover.as_user("ann", ["viewer"]).save_view("mine", **wanted)
    assert refused.value.errors[0][0] == f"filter.{field}"
    assert ".." not in refused.value.message
