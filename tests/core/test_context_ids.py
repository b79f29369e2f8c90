from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layover.core.context_ids import (
    MAX_DEPTH,
    MAX_LENGTH,
    ContextId,
    MalformedContextId,
    ScopeStep,
    context_id,
    format_context_id,
    journal_id,
    parse_context_id,
    scope_path,
    within,
)
from layover.core.definitions.kinds import ID_PATTERN

LETTERS = "ABCXYZabcxyz"
IDS = st.builds(str.__add__, st.sampled_from(LETTERS), st.text(f"{LETTERS}0189_-", max_size=12))
INDEXES = st.integers(0, 10**18 - 1)
SCOPES = st.builds(ScopeStep, IDS, INDEXES | IDS)
KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
PLACES = st.builds(ContextId, IDS, st.lists(SCOPES, max_size=20).map(tuple), st.none() | KEYS)

KNOWN = [
    ("review", ContextId("review")),
    ("review:lines.2", ContextId("review", (ScopeStep("lines", 2),))),
    ("review:orders.1:lines.3", ContextId("review", (ScopeStep("orders", 1), ScopeStep("lines", 3)))),
    ("settled:checks.payment", ContextId("settled", (ScopeStep("checks", "payment"),))),
    ("charge/size", ContextId("charge", (), "size")),
    ("charge:checks.payment/size", ContextId("charge", (ScopeStep("checks", "payment"),), "size")),
    ("a:b.0", ContextId("a", (ScopeStep("b", 0),))),
    ("a-1_:b-2_.c-3_", ContextId("a-1_", (ScopeStep("b-2_", "c-3_"),))),
    ("a:b.999999999999999999", ContextId("a", (ScopeStep("b", 10**18 - 1),))),
    ("charge/a.b~c-d_e", ContextId("charge", (), "a.b~c-d_e")),
    ("charge/a%2Fb%3Ac%20%25", ContextId("charge", (), "a/b:c %")),
    ("charge/Gr%C3%B6%C3%9Fe", ContextId("charge", (), "Größe")),
    ("charge/%F0%9F%8D%8B", ContextId("charge", (), "\N{LEMON}")),
    ("charge/%00", ContextId("charge", (), "\0")),
]

NO_CONTEXT_IDS = [
    "",
    " ",
    "1",
    "_a",
    "-a",
    "é",
    "a b",
    " a",
    "a\n",
    "a.b",
    "a:",
    ":a",
    "a:b",
    "a:b.",
    "a:.1",
    "a:b.1:",
    "a::b.1",
    "a:b.1.2",
    "a:b.-1",
    "a:b.+1",
    "a:b.01",
    "a:b.00",
    "a:b.1_0",
    "a:b.1a",
    "a:b._x",
    "a:b.1000000000000000000",
    "a:b.٣",
    "a:b.²",
    "a:1.b",
    "a%3Ab.1",
    "/",
    "/size",
    "a/",
    "a/b/c",
    "a/b:c.1",
    "a/b c",
    "a/b\n",
    "a/ö",
    "a/%",
    "a/%2",
    "a/%zz",
    "a/%2f",
    "a/%41",
    "a/%C3",
    "a/%C3%28",
    "a/%ED%A0%80",
    "a/%C0%AF",
    "a/b+c",
    "a?b",
    "a#b",
]

IMPOSSIBLE_PLACES = [
    ContextId(""),
    ContextId("1"),
    ContextId("a:b.1"),
    ContextId("a/b"),
    ContextId("a b"),
    ContextId("a\n"),
    ContextId("a", (ScopeStep("b.c", 1),)),
    ContextId("a", (ScopeStep("b.1:c", 1),)),
    ContextId("a", (ScopeStep("", 1),)),
    ContextId("a", (ScopeStep("b", -1),)),
    ContextId("a", (ScopeStep("b", 10**18),)),
    ContextId("a", (ScopeStep("b", ""),)),
    ContextId("a", (ScopeStep("b", "1"),)),
    ContextId("a", (ScopeStep("b", True),)),
    ContextId("a", (ScopeStep("b", "c:d.e"),)),
    ContextId("a", (ScopeStep("b", "c/d"),)),
    ContextId("a", (), ""),
    ContextId("a", (), "\ud800"),
]


@pytest.mark.parametrize(("text", "place"), KNOWN)
def test_a_position_and_its_text_are_equivalent(text: str, place: ContextId) -> None:
    assert format_context_id(place) == text
    assert parse_context_id(text) == place


@pytest.mark.parametrize("text", NO_CONTEXT_IDS)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(MalformedContextId) as caught:
        parse_context_id(text)
    assert caught.value.code == "malformed_context_id"


@pytest.mark.parametrize("place", IMPOSSIBLE_PLACES, ids=repr)
def test_parts_that_could_not_be_read_back_are_not_written(place: ContextId) -> None:
    with pytest.raises(MalformedContextId):
        format_context_id(place)


def test_a_refusal_shows_the_beginning_of_a_long_text_and_an_example() -> None:
    with pytest.raises(MalformedContextId, match=r"'x x x.*… is not a context id: write it like `review`") as caught:
        parse_context_id("x " * 10_000)
    assert len(caught.value.message) < 300


def test_scopes_nest_to_a_hundred_and_no_further() -> None:
    deepest = ContextId("a", (ScopeStep("b", 1),) * MAX_DEPTH)
    assert parse_context_id(format_context_id(deepest)) == deepest
    deeper = ContextId("a", (ScopeStep("b", 1),) * (MAX_DEPTH + 1))
    with pytest.raises(MalformedContextId):
        format_context_id(deeper)
    with pytest.raises(MalformedContextId):
        parse_context_id(context_id(scope_path(deeper.scopes), "a"))


def test_the_length_is_bounded_for_writing_as_for_reading() -> None:
    longest = ContextId("a" * MAX_LENGTH)
    assert parse_context_id(format_context_id(longest)) == longest
    with pytest.raises(MalformedContextId):
        format_context_id(ContextId("a" * (MAX_LENGTH + 1)))
    with pytest.raises(MalformedContextId):
        parse_context_id("a" * (MAX_LENGTH + 1))


def test_escapes_count_towards_the_length() -> None:
    fits = "ö" * ((MAX_LENGTH - 2) // 6)
    assert parse_context_id(journal_id("a", fits)).key == fits
    with pytest.raises(MalformedContextId):
        journal_id("a", "ö" * (MAX_LENGTH // 6 + 1))


@pytest.mark.parametrize("key", ["", "\udfff", "x" * MAX_LENGTH])
def test_a_journal_key_that_cannot_be_written_is_refused(key: str) -> None:
    with pytest.raises(MalformedContextId):
        journal_id("charge", key)


def test_the_path_of_the_workflow_itself_is_empty() -> None:
    assert scope_path(()) == ""
    assert context_id("", "review") == "review"
    assert within("", "orders", 1) == "orders.1"


def test_a_path_grows_inwards() -> None:
    assert scope_path((ScopeStep("orders", 1), ScopeStep("lines", 3))) == "orders.1:lines.3"
    assert within("orders.1", "lines", 3) == "orders.1:lines.3"
    assert within("orders.1", "checks", "payment") == "orders.1:checks.payment"
    assert context_id("orders.1:lines.3", "review") == "review:orders.1:lines.3"
    assert journal_id("charge:checks.payment", "size") == "charge:checks.payment/size"


@given(PLACES)
@example(ContextId("a", (ScopeStep("x", 0), ScopeStep("x", "x")), ".."))
def test_a_formatted_id_is_parsed_back(place: ContextId) -> None:
    assert parse_context_id(format_context_id(place)) == place


@given(st.text("ab01:.-_/%2F~ é", max_size=12) | st.text(max_size=8))
def test_a_parsed_id_is_formatted_back_letter_by_letter(text: str) -> None:
    try:
        place = parse_context_id(text)
    except MalformedContextId:
        return
    assert format_context_id(place) == text


@given(PLACES, PLACES)
def test_two_places_never_share_an_id(left: ContextId, right: ContextId) -> None:
    assert (format_context_id(left) == format_context_id(right)) == (left == right)


@given(PLACES)
def test_the_fast_way_builds_the_same_text(place: ContextId) -> None:
    path = ""
    for scope in place.scopes:
        path = within(path, scope.container, scope.key)
    assert path == scope_path(place.scopes)
    text = context_id(path, place.node)
    assert (text if place.key is None else journal_id(text, place.key)) == format_context_id(place)


@given(PLACES)
def test_an_id_needs_no_escaping_in_a_url(place: ContextId) -> None:
    text = format_context_id(place)
    assert re.fullmatch(r"[A-Za-z0-9_.~:/%-]+", text)
    assert urlsplit(f"https://host/{text}").path == f"/{text}"


@given(st.from_regex(ID_PATTERN, fullmatch=True))
def test_every_id_that_a_definition_may_use_has_a_place(name: str) -> None:
    place = ContextId(name, (ScopeStep(name, name), ScopeStep(name, 0)), name)
    assert parse_context_id(format_context_id(place)) == place
