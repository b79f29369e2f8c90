"""An expression cannot make what only the engine may put into a value."""

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
def test_a_parsed_text_cannot_bring_one(text: str) -> None:
    assert code("parseJson(input)", {"input": text}) == "invalid_argument"


def test_a_dollar_elsewhere_is_only_a_dollar() -> None:
    assert value("parseJson(input)", {"input": '{"$price":"$secret"}'}) == {"$price": "$secret"}
    assert value("{'$price': '$secret'}") == {"$price": "$secret"}


def test_what_is_in_the_data_is_passed_on() -> None:
    data = {"image": {"$asset_ref": {"uri": "s3://a"}}}
    assert value("[input.image]", {"input": data}) == [data["image"]]
