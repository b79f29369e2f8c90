"""Parameters of a webhook's address: expressions see them, without credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.redaction import forget_secret, register_secret
from tests.api.test_hooks import count, deliver, hooked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

PATH = "/hooks/shop/paid"


async def kept(api: Api, query: str) -> object:
    """Return the parameters that a delivery has as the trigger of its execution."""
    answered = await deliver(api, {"n": query}, path=f"{PATH}?{query}")
    assert (answered.status, answered.json["status"]) == (202, "started")
    return (await api.get(f"/executions/{answered.json['execution_id']}")).json["trigger"]["query"]


async def test_parameters_are_texts_and_those_that_come_twice_are_lists(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        assert await kept(api, "shop=north&empty=&a=1&a=2&b=x%20y+z") == {
            "shop": "north",
            "empty": "",
            "a": ["1", "2"],
            "b": "x y z",
        }


async def test_a_filter_and_an_input_see_them(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "filter": "trigger.query.shop == 'north'",
        "input": "${trigger.query.order}",
        "respond": "result",
    }
    async with hooked(tmp_path, **fields) as api:
        assert (await deliver(api, 1, path=f"{PATH}?shop=north&order=7")).json == {"got": "7"}
        assert (await deliver(api, 2, path=f"{PATH}?shop=south&order=7")).json["status"] == "filtered"


@pytest.mark.parametrize(
    "query",
    [
        "token=ab%20cd",
        "access_token=abcd&token=efgh",
        "X-Signature=abcd",
        "to=eyJhbGciOiJIUzI1NiJ9.e30.abcdefgh",
        "to=https%3A%2F%2Fme%3Aabcd%40host%2F",
        "next=%2Fa%3Fpassword%3Dabcd",
        "to=the-planted-value",
        "sk_live_abcdefghijklmnopqrstuvwx",
    ],
)
async def test_credentials_in_parameters_are_masked(tmp_path: Path, query: str) -> None:
    register_secret("the-planted-value")
    try:
        async with hooked(tmp_path) as api:
            found = await kept(api, f"{query}&shop=north")
    finally:
        forget_secret("the-planted-value")
    assert isinstance(found, dict)
    assert found.pop("shop") == "north"
    assert set(found.values()) == {"***"}
    for leaked in ("cd", "efgh", "planted", "eyJ", "klmn"):
        assert leaked not in str(found)


async def test_too_many_or_too_long_parameters_are_refused_before_the_body_is_read(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        for query in ("&".join(f"p{n}=1" for n in range(101)), f"p={'x' * 8_000}"):
            refused = await deliver(api, {"n": 1}, key="wrong", path=f"{PATH}?{query}")
            assert (refused.status, refused.json["code"]) == (400, "invalid_parameter")
        assert await count(api) == 0


async def test_the_most_parameters_that_are_taken_beside_the_largest_body_start_an_execution(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        query = "&".join(f"p{n}={'%01' * 70}" for n in range(100))
        taken = await deliver(api, None, raw=b'"' + b"x" * 999_998 + b'"', path=f"{PATH}?{query}")
        assert (taken.status, taken.json["status"]) == (202, "started")


async def test_a_reserved_name_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        refused = await deliver(api, {"n": 1}, path=f"{PATH}?$secret=NEW_KEY")
        assert (refused.status, refused.json["code"]) == (422, "payload_reserved")
        assert await count(api) == 0


async def test_the_same_delivery_with_other_parameters_is_the_same(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        first = await deliver(api, {"n": 1}, path=f"{PATH}?a=1")
        again = await deliver(api, {"n": 1}, path=f"{PATH}?a=2")
        assert again.json == first.json
        assert await count(api) == 1
