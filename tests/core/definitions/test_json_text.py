"""JSON is read with positions, strictly, in bounded work."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from layover.core.definitions.json_text import read_json
from layover.core.definitions.limits import DefinitionLimits
from layover.core.definitions.problems import Problem, Problems

if TYPE_CHECKING:
    from layover.core.definitions.tree import Json, Tree

LIMITS = DefinitionLimits()
STRICTER = {"bad_number", "number_too_large", "duplicate_key", "bad_text"}

whole_text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | whole_text
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(whole_text, inner), max_leaves=30
)


def read(text: str, limits: DefinitionLimits = LIMITS) -> tuple[Tree | None, list[Problem]]:
    problems = Problems()
    return read_json(text, problems, limits), problems.listed()


def the_problem(text: str, limits: DefinitionLimits = LIMITS) -> Problem:
    _, found = read(text, limits)
    assert len(found) == 1
    return found[0]


def where(tree: Tree | None) -> tuple[int | None, int | None]:
    assert tree is not None
    return tree.place.line, tree.place.column


def test_every_key_and_value_knows_its_line_and_column() -> None:
    tree, found = read('{\n  "name": "é😀",\n  "nodes": [ {"id": 1}, true,\n null ]\n}\n')
    assert tree is not None
    assert found == []
    name, nodes = tree.get("name"), tree.get("nodes")
    assert name is not None
    assert nodes is not None
    assert (name.key_place.line, name.key_place.column, where(name)) == (2, 3, (2, 11))
    assert (name.text_column, name.place.path) == (12, "$.name")
    assert isinstance(nodes.value, list)
    assert [where(child) for child in nodes.value] == [(3, 14), (3, 25), (4, 2)]
    inner = nodes.value[0].get("id")
    assert inner is not None
    assert (inner.key_place.column, inner.place.column, inner.place.path) == (15, 21, "$.nodes[0].id")


def test_columns_count_characters_and_not_bytes() -> None:
    tree, _ = read('["é😀", 1]')
    assert tree is not None
    assert isinstance(tree.value, list)
    assert where(tree.value[1]) == (1, 8)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_once(line_end: str) -> None:
    tree, _ = read(line_end.join(["[", "1,", "", " 2]"]))
    assert tree is not None
    assert isinstance(tree.value, list)
    assert [where(child) for child in tree.value] == [(2, 1), (4, 2)]


def test_text_with_escapes_has_no_column_of_its_own() -> None:
    tree, _ = read(r'["plain", "a\tb", ""]')
    assert tree is not None
    assert isinstance(tree.value, list)
    assert [child.text_column for child in tree.value] == [3, None, 20]


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ('{"a": 1,}', 1, 9, "Remove the comma"),
        ("[1,\n]", 2, 1, "Remove the comma"),
        ("{a: 1}", 1, 2, "Put the name `a` in double quotes"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ("['a']", 1, 2, "double quotes"),
        ('{"a" 1}', 1, 6, "Put a colon after `a`"),
        ('{"a\\n" 1}', 1, 8, "Put a colon"),
        ('{"a"', 1, 5, "ends after the name `a`"),
        ("[1 2]", 1, 4, "comma"),
        ('{"a": 1\n "b": 2}', 2, 2, "comma"),
        ("[1,, 2]", 1, 4, "value is missing"),
        ('{"a": 1,, "b": 2}', 1, 9, "comma too many"),
        ("[, 1]", 1, 2, "no entry before this comma"),
        ('{"a":}', 1, 6, "value is missing"),
        ('{"a": 1: 2}', 1, 8, "colon too many"),
        ("{1: 2}", 1, 2, "double quotes"),
        ("{(: 2}", 1, 2, "not `(`"),
        ("[1}", 1, 3, "needs a `]`"),
        ("[1\n", 2, 1, "bracket of line 1"),
        ('{\n"a": 1,', 2, 8, "bracket of line 1"),
        ('{"a":', 1, 6, "bracket of line 1"),
        ("[1] 2", 1, 5, "complete before `2`"),
        ("[1] // done", 1, 5, "no comments"),
        ("// c\n[1]", 1, 1, "no comments"),
        ("[1 /* c */]", 1, 4, "no comments"),
        ("{# c\n}", 1, 2, "no comments"),
        ("[True]", 1, 2, "JSON writes `true`"),
        ("[None]", 1, 2, "JSON writes `null`"),
        ("[nullx]", 1, 2, "`nullx` is not a JSON value"),
        ("[01]", 1, 2, "`01` is not how"),
        ("[1.]", 1, 2, "`1.` is not how"),
        ("[.5]", 1, 2, "`.5` is not how"),
        ("[+1]", 1, 2, "`+1` is not how"),
        ("[-]", 1, 2, "`-` is not how"),
        ("[0x1F]", 1, 2, "`0x1F` is not how"),
        ("[\x00]", 1, 2, "U+0000"),
        ("\ufeff[]", 1, 1, "U+FEFF"),
        ("[\u00a01]", 1, 2, "U+00A0"),
        ('["a\nb"]', 1, 4, r"a line break: write it as `\n`"),
        ('["a\tb"]', 1, 4, r"a tab: write it as `\t`"),
        ('["a\x01"]', 1, 4, r"`\u0001`"),
        ('["a', 1, 2, "no closing quote"),
        (r'["\q"]', 1, 3, "backslash"),
        (r'["\u12"]', 1, 4, "four hexadecimal digits"),
        (r'["\u00g0"]', 1, 4, "four hexadecimal digits"),
    ],
)
def test_a_syntax_fault_is_reported_at_its_position(text: str, line: int, column: int, part: str) -> None:
    problem = the_problem(text)
    assert (problem.code, problem.line, problem.column) == ("syntax", line, column)
    assert part in problem.message


@pytest.mark.parametrize("text", ["", " \n\t\r\n"])
def test_an_empty_document_is_a_problem(text: str) -> None:
    assert the_problem(text).code == "empty_document"


def test_a_repeated_key_names_the_line_of_the_first_and_reading_continues() -> None:
    tree, found = read('{"a": 1,\n "b": NaN,\n "\\u0061": [2],\n "c": 3}')
    assert tree is not None
    assert tree.plain() == {"a": 1, "b": 0, "c": 3}
    assert [(problem.code, problem.line, problem.column) for problem in found] == [
        ("bad_number", 2, 7),
        ("duplicate_key", 3, 2),
    ]
    assert "line 1" in found[1].message
    assert found[1].path == "$.a"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("NaN", "bad_number"),
        ("Infinity", "bad_number"),
        ("-Infinity", "bad_number"),
        ("9223372036854775808", "number_too_large"),
        ("-9223372036854775809", "number_too_large"),
        ("1e309", "number_too_large"),
        ("-1e999999999", "number_too_large"),
        ("9" * 1_000_000, "number_too_large"),
        ("0." + "1" * 1_000_000, "number_too_large"),
        (r'"\ud800"', "bad_text"),
        (r'"\udc00\ud800"', "bad_text"),
    ],
)
def test_input_on_which_json_readers_disagree_is_reported_and_reading_continues(text: str, code: str) -> None:
    tree, found = read(f"[{text}, 1]")
    assert [(problem.code, problem.column) for problem in found] == [(code, 2)]
    assert tree is not None
    assert isinstance(tree.value, list)
    assert tree.value[0].value in (0, "\ufffd", "\ufffd\ufffd")
    assert tree.value[1].value == 1


def test_a_raw_half_character_ends_the_reading() -> None:
    assert the_problem('["ab\ud800"]').column == 5
    assert the_problem('["ab\ud800"]').code == "bad_text"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("-0", 0),
        ("1E+2", 100.0),
        ("1e-999999999", 0.0),
        (r'"\ud83d\ude00"', "😀"),
        ('"\u2028\x7f"', "\u2028\x7f"),
    ],
)
def test_valid_json_is_read(text: str, value: object) -> None:
    tree, found = read(text)
    assert found == []
    assert tree is not None
    assert tree.value == value
    assert type(tree.value) is type(value)


@pytest.mark.parametrize("opening", ["[", '{"a":', "[[", "[{"])
def test_reading_ends_at_the_level_that_is_too_deep(opening: str) -> None:
    text = opening * 100_000 if opening != "[{" else '[{"a":' * 100_000
    problem = the_problem(text, DefinitionLimits(depth=10))
    assert problem.code == "too_deep"
    assert problem.column is not None
    assert problem.column <= 10 * len('[{"a":') + 1


def test_a_document_as_deep_as_allowed_is_read() -> None:
    tree, found = read("[" * 10 + "]" * 10, DefinitionLimits(depth=10))
    assert found == []
    assert tree is not None


@pytest.mark.parametrize("item", ["1", r'"\n"', "[]", "NaN"])
def test_reading_ends_at_the_value_that_is_too_many(item: str) -> None:
    text = "[" + ",".join([item] * 1_000_000) + "]"
    limits = DefinitionLimits(values=100, problems=1000)
    _, found = read(text, limits)
    assert found[-1].code == "too_large"
    assert found[-1].column == 2 + 99 * (len(item) + 1)


@pytest.mark.parametrize(
    "text",
    [
        " " * 3_000_000,
        "\n" * 3_000_000,
        '"' + "x" * 3_000_000,
        '"' + "\\" * 3_000_001,
        '"' + "\\n" * 1_500_000,
        "-" * 3_000_000,
        "[" + "1" * 3_000_000,
        "[" + "x" * 3_000_000,
        '{"' + "k" * 3_000_000 + '"',
        '[""' + " " * 3_000_000,
    ],
)
def test_long_texts_cost_memory_in_proportion_to_their_length(text: str) -> None:
    tracemalloc.start()
    try:
        _, found = read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[-1].code in {"syntax", "empty_document"}
    assert peak < 20 * len(text)
    assert all(len(problem.message) < 300 for problem in found)


@settings(deadline=None)
@given(values, st.sampled_from([None, 0, 1, 4, "\t"]), st.booleans())
def test_output_of_the_json_module_is_read_back_with_positions(
    value: Json, indent: int | str | None, ensure_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii)
    tree, found = read(text)
    assert found == []
    assert tree is not None
    assert tree.plain() == value
    assert json.dumps(tree.plain()) == json.dumps(value)
    assert_places(tree, text.split("\n"))


def assert_places(tree: Tree, lines: list[str]) -> None:
    assert decoded_at(tree.place.line, tree.place.column, lines) == tree.plain()
    if isinstance(tree.value, str) and tree.text_column is not None:
        line = lines[(tree.place.line or 0) - 1]
        assert line[tree.text_column - 1 :].startswith(tree.value + '"')
    if isinstance(tree.value, dict):
        for key, child in tree.value.items():
            assert decoded_at(child.key_place.line, child.key_place.column, lines) == key
            assert_places(child, lines)
    if isinstance(tree.value, list):
        for child in tree.value:
            assert_places(child, lines)


def decoded_at(line: int | None, column: int | None, lines: list[str]) -> object:
    assert line is not None
    assert column is not None
    rest = "\n".join(lines[line - 1 :])
    return json.JSONDecoder().raw_decode(rest, column - 1)[0]


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 10_000),
        st.integers(0, 2),
        st.sampled_from(
            [*'{}[]",:\\/ \t\n\r-+.eE01x#', "true", "null", "NaN", "Infinity", r"\u12", r"\ud800", "é", "\x01", '"a":']
        ),
    ),
    max_size=4,
)


@settings(deadline=None, max_examples=500)
@given(values, st.sampled_from([None, 1]), MUTATIONS)
@example("", None, [(0, 2, "")])
def test_the_json_module_agrees_on_mutated_texts(
    value: Json, indent: int | None, mutations: list[tuple[int, int, str]]
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    for at, removed, added in mutations:
        at %= len(text) + 1  # noqa: PLW2901 - any offset will do
        text = text[:at] + added + text[at + removed :]
    tree, found = read(text)
    codes = {problem.code for problem in found}
    try:
        expected = json.loads(text)
    except json.JSONDecodeError:
        assert tree is None
        assert codes & {"syntax", "empty_document"}
        return
    assert tree is not None
    assert codes <= STRICTER
    if not codes:
        assert json.dumps(tree.plain()) == json.dumps(expected)


@settings(deadline=None, max_examples=500)
@given(st.text(st.characters() | st.sampled_from('{}[]",:\\01-')))
def test_any_text_gives_a_tree_or_a_problem(text: str) -> None:
    tree, found = read(text)
    assert tree is not None or found
    assert all(problem.line and problem.column for problem in found)
