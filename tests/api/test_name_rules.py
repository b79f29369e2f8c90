"""Names of users, roles and keys: none of them looks like another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.model.name_rules import fault_in_name
from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path

UNSEEN = ("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u0085", "\u3164", "\u2800", "\ufe0f", "\u00a0")


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "ada@example.org", "Zoë", "李小龙", "نور", "role:1/2"])
def test_a_name_is_what_people_are_called(name: str) -> None:
    assert fault_in_name(name) is None


@pytest.mark.parametrize("name", [" ada", "ada ", "ada\u2003", "\tada", *(f"a{one}da" for one in UNSEEN)])
def test_a_name_has_nothing_that_is_not_seen(name: str) -> None:
    assert fault_in_name(name)


@pytest.mark.parametrize("change", [{"name": "n\u202e"}, {"user": "admin "}, {"roles": ["viewer", "operator\u200b"]}])
async def test_no_key_is_made_for_a_name_that_looks_like_another(tmp_path: Path, change: dict[str, Any]) -> None:
    async with served(tmp_path) as api:
        refused = await api.post("/keys", {"name": "n", "user": "admin", "roles": ["viewer"], **change})
        listed = await api.get("/keys")

    assert (refused.status, refused.code) == (422, "invalid_body")
    assert next(iter(change)) in refused.json["errors"][0]["message"]
    assert listed.json["items"] == []
