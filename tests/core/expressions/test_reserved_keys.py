"""An expression cannot make an object with a reserved key."""

from __future__ import annotations

import pytest

from layover.core.payloads import RESERVED

from .evaluation import code, value


@pytest.mark.parametrize("key", sorted(RESERVED))
@pytest.mark.parametrize("source", ["{input.key: 'x'}", "[{'a': {input.key: 'x'}}]"])
def test_a_map_cannot_be_made_with_a_reserved_key(key: str, source: str) -> None:
    assert code(source, {"input": {"key": key}}) == "invalid_argument"


@pytest.mark.parametrize(
    "text", ['{"$secret":"KEY"}', '[{"a":{"$asset_ref":{}}}]', '{"\\u0024secret":"KEY"}', '{"\\u0024\\u0073ecret":1}']
)
def test_parse_json_refuses_a_reserved_key(text: str) -> None:
    assert code("parseJson(input)", {"input": text}) == "invalid_argument"


def test_a_dollar_elsewhere_is_only_a_dollar() -> None:
    assert value("parseJson(input)", {"input": '{"$price":"$secret"}'}) == {"$price": "$secret"}
    assert value("{'$price': '$secret'}") == {"$price": "$secret"}


def test_reserved_keys_in_the_data_are_passed_on() -> None:
    data = {"image": {"$asset_ref": {"uri": "s3://a"}}}
    assert value("[input.image]", {"input": data}) == [data["image"]]
