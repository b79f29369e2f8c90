from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.payloads import (
    MAX_DEPTH,
    MAX_INLINE,
    AssetRef,
    ExternalRef,
    Inline,
    Payload,
    PayloadNotJson,
    PayloadNotLoaded,
    PayloadTooLarge,
    inline,
    value_of,
)

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
SIZES = st.integers(0, 2**63 - 1)
PAYLOADS: st.SearchStrategy[Payload] = (
    st.builds(Inline, JSON) | st.builds(ExternalRef, SIZES, TEXT) | st.builds(AssetRef, TEXT, TEXT, SIZES, TEXT, TEXT)
)

# These bytes are in logs. They may be joined by others, but never change.
GOLDEN: list[tuple[Payload, bytes]] = [
    (Inline(None), b'["inline",null]'),
    (Inline(5), b'["inline",5]'),
    (Inline("external_ref"), b'["inline","external_ref"]'),
    (Inline({"total": 12.5, "lines": [1, True]}), b'["inline",{"total":12.5,"lines":[1,true]}]'),
    (Inline(["inline", 1]), b'["inline",["inline",1]]'),
    (ExternalRef(2_400_000, HASH), f'["external_ref",2400000,"{HASH}"]'.encode()),
    (
        AssetRef("s3://files/cat", "image/png", 51_200, HASH, "cat.png"),
        f'["asset_ref","s3://files/cat","image/png",51200,"{HASH}","cat.png"]'.encode(),
    ),
]


def read(encoded: bytes) -> Payload:
    return msgspec.json.decode(encoded, type=Inline | ExternalRef | AssetRef)


def nested(levels: int) -> object:
    value: object = 1
    for level in range(levels):
        value = [value] if level % 2 else {"inside": value}
    return value


@pytest.mark.parametrize(("payload", "encoded"), GOLDEN)
def test_the_bytes_in_the_log_never_change(payload: Payload, encoded: bytes) -> None:
    assert msgspec.json.encode(payload) == encoded
    assert read(encoded) == payload


@given(PAYLOADS)
def test_a_payload_reads_back_as_it_was_written(payload: Payload) -> None:
    encoded = msgspec.json.encode(payload)
    assert read(encoded) == payload
    assert msgspec.json.encode(read(encoded)) == encoded


def test_a_field_that_came_later_may_be_missing_and_one_that_is_unknown_is_passed_over() -> None:
    assert read(b'["asset_ref","s3://a","text/plain",1,"ff"]') == AssetRef("s3://a", "text/plain", 1, "ff")
    assert read(b'["inline",5,"from the future"]') == Inline(5)


@pytest.mark.parametrize("encoded", [b"5", b"[]", b'["other",5]', b'["inline"]', b'{"type":"inline","value":5}'])
def test_what_is_no_payload_is_not_read_as_one(encoded: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(encoded)


@given(JSON)
def test_json_stands_inline_as_it_is_at_the_cost_of_eleven_bytes(value: object) -> None:
    payload = inline(value)
    assert value_of(payload) == value
    assert len(msgspec.json.encode(payload)) == len(msgspec.json.encode(value)) + 11


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ((1, (2,)), [1, [2]]),
        ({1: "a"}, {"1": "a"}),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (float("nan"), None),
        (2**100, 2**100),
    ],
)
def test_live_state_holds_what_replay_will_read(value: object, kept: object) -> None:
    payload = inline(value)
    assert value_of(payload) == kept
    assert read(msgspec.json.encode(payload)) == payload


def test_what_the_caller_changes_later_does_not_reach_the_log() -> None:
    lines = [1]
    payload = inline(lines)
    lines.append(2)
    assert value_of(payload) == [1]


def test_a_value_whose_size_is_known_is_taken_as_it_is() -> None:
    value = {"a": [1]}
    assert value_of(inline(value, encoded_size=9)) is value


def test_up_to_a_million_bytes_stand_inline() -> None:
    fits = "x" * (MAX_INLINE - 2)
    assert value_of(inline(fits)) == fits
    assert value_of(inline(fits, encoded_size=MAX_INLINE)) == fits


@pytest.mark.parametrize(
    ("value", "encoded_size"), [("x" * (MAX_INLINE - 1), None), (1, MAX_INLINE + 1)], ids=["measured", "told"]
)
def test_a_larger_value_is_refused(value: object, encoded_size: int | None) -> None:
    with pytest.raises(PayloadTooLarge, match=r"1,000,001 bytes is too large: at most 1,000,000") as caught:
        inline(value, encoded_size)
    assert caught.value.code == "payload_too_large"
    assert (caught.value.size, caught.value.limit) == (MAX_INLINE + 1, MAX_INLINE)


def test_bytes_are_counted_and_not_characters() -> None:
    with pytest.raises(PayloadTooLarge):
        inline("ö" * (MAX_INLINE // 2))


@pytest.mark.parametrize(
    "value",
    [object(), {"a": 1j}, {(1, 2): 3}, "\ud800", 10**5_000, nested(50_000)],
    ids=["object", "complex", "tuple as key", "half a character", "endless number", "bottomless"],
)
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(PayloadNotJson) as caught:
        inline(value)
    assert caught.value.code == "payload_not_json"


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(PayloadNotJson):
        inline(endless)


def test_nesting_is_bounded() -> None:
    deepest = [nested(MAX_DEPTH - 1), []]
    assert value_of(inline(deepest)) == deepest
    with pytest.raises(PayloadNotJson, match="nests deeper than 200 levels"):
        inline(nested(MAX_DEPTH + 1))


def test_a_wide_value_is_not_deep() -> None:
    wide = [[{"text": "[[[{{{"}] for _ in range(MAX_DEPTH + 1)]
    assert value_of(inline(wide)) == wide


def test_expressions_see_what_an_asset_says_about_itself() -> None:
    asset = AssetRef("s3://files/cat", "image/png", 51_200, HASH, "cat.png")
    assert value_of(asset) == {
        "uri": "s3://files/cat",
        "media_type": "image/png",
        "size": 51_200,
        "hash": HASH,
        "name": "cat.png",
    }


def test_a_value_elsewhere_has_to_be_fetched_first() -> None:
    with pytest.raises(PayloadNotLoaded, match="in the blob store") as caught:
        value_of(ExternalRef(2_400_000, HASH))
    assert caught.value.code == "payload_not_loaded"
