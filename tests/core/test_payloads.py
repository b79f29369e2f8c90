"""Values in events: plain JSON of a bounded size and depth, without reserved keys from outside."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.payloads import (
    MAX_DEPTH,
    MAX_INLINE,
    RESERVED,
    AssetRef,
    ExternalRef,
    PayloadNotJson,
    PayloadReserved,
    PayloadTooLarge,
    plain,
    reference_of,
    reserved_key,
)

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
SIZES = st.integers(0, 2**63 - 1)
REFERENCES = st.builds(ExternalRef, SIZES, TEXT) | st.builds(AssetRef, TEXT, TEXT, SIZES, TEXT, TEXT)
CAT = AssetRef("s3://files/cat", "image/png", 51_200, HASH, "cat.png")
ROWS = ExternalRef(2_400_000, HASH)


def within(leaves: st.SearchStrategy[object], keys: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[object]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=20,
    )


JSON = within(SCALARS)


def nested(levels: int) -> object:
    value: object = 1
    for level in range(levels):
        value = [value] if level % 2 else {"inside": value}
    return value


def written(value: object) -> object:
    """Return a value with its references as JSON objects."""
    match value:
        case ExternalRef() | AssetRef():
            return value.as_value()
        case dict():
            return {key: written(part) for key, part in value.items()}
        case list():
            return [written(part) for part in value]
        case _:
            return value


# Plain values


@given(JSON)
def test_json_stays_as_it_is(value: object) -> None:
    assert plain(value) == value
    assert msgspec.json.encode(plain(value)) == msgspec.json.encode(value)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ((1, (2,)), [1, [2]]),
        ({1: "a"}, {"1": "a"}),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        ([1.5, None, "null"], [1.5, None, "null"]),
        (2**100, 2**100),
        ("$secret", "$secret"),
        ({"$price": "$5"}, {"$price": "$5"}),
    ],
)
def test_plain_gives_the_value_that_replay_reads(value: object, kept: object) -> None:
    assert plain(value) == kept
    assert msgspec.json.decode(msgspec.json.encode(plain(value))) == kept


def test_later_changes_by_the_caller_do_not_reach_the_log() -> None:
    lines = [1]
    kept = plain(lines)
    lines.append(2)
    assert kept == [1]


def test_an_event_holds_up_to_a_million_bytes() -> None:
    fits = "x" * (MAX_INLINE - 2)
    assert plain(fits) == fits


@pytest.mark.parametrize("value", ["x" * (MAX_INLINE - 1), "ö" * (MAX_INLINE // 2 - 1) + "x"], ids=["ascii", "bytes"])
def test_a_larger_value_is_refused(value: str) -> None:
    with pytest.raises(PayloadTooLarge, match=r"1,000,001 bytes is too large: .* at most 1,000,000") as caught:
        plain(value)
    assert caught.value.code == "payload_too_large"
    assert (caught.value.size, caught.value.limit) == (MAX_INLINE + 1, MAX_INLINE)


@pytest.mark.parametrize(
    "value",
    [object(), {"a": 1j}, {(1, 2): 3}, "\ud800", 10**5_000, nested(50_000)],
    ids=["object", "complex", "tuple as key", "half a character", "endless number", "bottomless"],
)
def test_values_that_are_not_json_are_refused(value: object) -> None:
    with pytest.raises(PayloadNotJson) as caught:
        plain(value)
    assert caught.value.code == "payload_not_json"


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (float("nan"), "The value is nan"),
        ([None, float("-inf")], "`[1]` is -inf"),
        ({"a": ({"b": float("inf")},)}, "`a[0].b` is inf"),
    ],
)
def test_a_number_that_json_does_not_have_is_refused_with_its_place(value: object, where: str) -> None:
    with pytest.raises(PayloadNotJson) as caught:
        plain(value)
    assert caught.value.message.startswith(f"{where}: JSON has no NaN and no infinity.")
    with pytest.raises(PayloadNotJson):
        plain(Result(CAT, value))


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(PayloadNotJson):
        plain(endless)


def test_nesting_is_bounded() -> None:
    deepest = [nested(MAX_DEPTH - 1), []]
    assert plain(deepest) == deepest
    with pytest.raises(PayloadNotJson, match="nests deeper than 200 levels"):
        plain(nested(MAX_DEPTH + 1))


def test_the_shortest_value_that_is_too_deep_is_seen_to_be() -> None:
    value: object = []
    for _ in range(MAX_DEPTH):
        value = [value]
    with pytest.raises(PayloadNotJson):
        plain(value)


def test_a_wide_value_is_not_deep() -> None:
    wide = [[{"text": "[[[{{{"}] for _ in range(MAX_DEPTH + 1)]
    assert plain(wide) == wide


# References


@pytest.mark.parametrize(
    ("reference", "encoded"),
    [
        (ROWS, f'{{"$external_ref":{{"size":2400000,"hash":"{HASH}"}}}}'),
        (
            CAT,
            (
                '{"$asset_ref":{"uri":"s3://files/cat","media_type":"image/png","size":51200,'
                f'"hash":"{HASH}","name":"cat.png"}}}}'
            ),
        ),
    ],
)
def test_the_bytes_in_the_log_never_change(reference: ExternalRef | AssetRef, encoded: str) -> None:
    assert msgspec.json.encode(plain(reference)).decode() == encoded
    assert reference_of(msgspec.json.decode(encoded)) == reference


@given(REFERENCES)
def test_a_reference_reads_back_as_it_was_written(reference: ExternalRef | AssetRef) -> None:
    assert reference_of(reference.as_value()) == reference
    assert reference_of(plain(reference)) == reference


@given(st.sampled_from(["size", "hash", "uri", "media_type", "name"]), SCALARS | REFERENCES.map(written))
def test_a_value_read_as_a_reference_is_written_back_unchanged(name: str, value: object) -> None:
    for whole in (CAT.as_value(), ROWS.as_value()):
        for key, fields in whole.items():
            assert isinstance(fields, dict)
            changed = {key: {**fields, name: value}}
            found = reference_of(changed)
            assert found is None or found.as_value() == changed


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        [],
        {},
        {"$secret": "KEY"},
        {"$external_ref": None},
        {"$external_ref": {"size": True, "hash": HASH}},
        {"$asset_ref": ROWS.as_value()["$external_ref"]},
        {**ROWS.as_value(), "more": 1},
        {**ROWS.as_value(), **CAT.as_value()},
    ],
    ids=str,
)
def test_other_objects_are_not_read_as_references(value: object) -> None:
    assert reference_of(value) is None


def test_references_are_values_that_do_not_change() -> None:
    assert len({CAT, AssetRef("s3://files/cat", "image/png", 51_200, HASH, "cat.png"), ROWS}) == 2
    assert repr(ROWS) == f"ExternalRef(size=2400000, hash='{HASH}')"
    with pytest.raises(AttributeError):
        ROWS.size = 5


# Reserved keys from outside


@given(within(SCALARS | REFERENCES))
def test_a_program_may_put_references_anywhere(value: object) -> None:
    assert plain(value) == written(value)


@given(within(SCALARS | REFERENCES, TEXT | st.sampled_from(sorted(RESERVED))))
def test_other_objects_with_a_reserved_key_are_refused(value: object) -> None:
    forged = _has_reserved_key(value)
    try:
        assert plain(value) == written(value)
    except PayloadReserved as refused:
        assert forged
        assert refused.code == "payload_reserved"  # noqa: PT017 - that it is raised only then is what is tested
    else:
        assert not forged


def _has_reserved_key(value: object) -> bool:
    match value:
        case dict():
            return not RESERVED.isdisjoint(value) or any(map(_has_reserved_key, value.values()))
        case list():
            return any(map(_has_reserved_key, value))
        case _:
            return False


@pytest.mark.parametrize("key", sorted(RESERVED))
def test_a_reserved_key_is_named(key: str) -> None:
    with pytest.raises(PayloadReserved, match=rf"`\{key}` is reserved") as caught:
        plain({"rows": [{key: "x", "more": 1}], "image": CAT})
    assert caught.value.key == key


def test_a_reference_written_by_hand_is_refused_although_it_looks_right() -> None:
    with pytest.raises(PayloadReserved):
        plain(CAT.as_value())
    with pytest.raises(PayloadReserved):
        plain({"mine": ROWS, "theirs": CAT.as_value()})


@dataclasses.dataclass
class Result:
    """A possible result of a function."""

    image: AssetRef
    rows: object


def test_a_reference_is_allowed_in_any_kind_of_result() -> None:
    assert plain(Result(CAT, (ROWS,))) == {"image": CAT.as_value(), "rows": [ROWS.as_value()]}
    with pytest.raises(PayloadReserved):
        plain(Result(CAT, {"$secret": "KEY"}))


def test_invalid_fields_inside_a_reference_are_refused() -> None:
    with pytest.raises(PayloadReserved):
        plain(AssetRef("s3://a", "text/plain", 1, "$token", name=5))  # type: ignore[arg-type]
    with pytest.raises(PayloadNotJson):
        plain(AssetRef({"$secret": "KEY"}, "text/plain", 1, "ff"))  # type: ignore[arg-type]


def test_two_references_under_keys_that_become_one_hide_no_forged_one() -> None:
    with pytest.raises(PayloadReserved):
        plain({1: ROWS, "1": ROWS, "x": {"$secret": "KEY"}})


def test_a_reserved_key_is_found_at_any_depth() -> None:
    assert reserved_key({"a": [1, {"b": {"$token": "x"}}]}) == "$token"
    assert reserved_key({"a": ["$token", {"b": {"$tokens": "x"}}]}) is None
