"""YAML is read with positions, by the core schema of YAML 1.2, in bounded work."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.definitions import yaml_text
from layover.core.definitions.limits import DefinitionLimits
from layover.core.definitions.problems import Problem, Problems
from layover.core.definitions.yaml_text import read_yaml

if TYPE_CHECKING:
    from layover.core.definitions.tree import Tree

LIMITS = DefinitionLimits()


@pytest.fixture(autouse=True, scope="module", params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest) -> object:
    """Run every test on libyaml and on PyYAML's own parser, which is used where there is no libyaml."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_text, "_LOADER", yaml.CSafeLoader if request.param == "libyaml" else yaml.SafeLoader)
        yield request.param


def read(text: str, limits: DefinitionLimits = LIMITS) -> tuple[Tree | None, list[Problem]]:
    problems = Problems()
    return read_yaml(text, problems, limits), problems.listed()


def value_of(text: str) -> object:
    tree, found = read(text)
    assert found == []
    assert tree is not None
    return tree.plain()


def the_problem(text: str, limits: DefinitionLimits = LIMITS) -> Problem:
    _, found = read(text, limits)
    assert len(found) == 1
    return found[0]


def child(tree: Tree | None, *path: str | int) -> Tree:
    for key in path:
        assert tree is not None
        if isinstance(key, int):
            assert isinstance(tree.value, list)
            tree = tree.value[key]
        else:
            tree = tree.get(key)
    assert tree is not None
    return tree


def test_every_key_and_value_knows_its_line_and_column() -> None:
    tree, found = read("name: é😀\nnodes:\n  - id: 'a b'\n    next: {true: x, ü: [1, y]}\n  - \"😀\" # c\n")
    assert found == []
    expected = {
        ("name",): (1, 1, 1, 7, 7),
        ("nodes",): (2, 1, 3, 3, None),
        ("nodes", 0, "id"): (3, 5, 3, 9, 10),
        ("nodes", 0, "next"): (4, 5, 4, 11, None),
        ("nodes", 0, "next", "true"): (4, 12, 4, 18, 18),
        ("nodes", 0, "next", "ü"): (4, 21, 4, 24, None),
        ("nodes", 0, "next", "ü", 0): (4, 25, 4, 25, None),
        ("nodes", 0, "next", "ü", 1): (4, 28, 4, 28, 28),
        ("nodes", 1): (5, 5, 5, 5, 6),
    }
    for path, places in expected.items():
        found_tree = child(tree, *path)
        key, place = found_tree.key_place, found_tree.place
        assert (key.line, key.column, place.line, place.column, found_tree.text_column) == places, path
    assert child(tree, "nodes", 0, "next", "ü", 1).place.path == "$.nodes[0].next['ü'][1]"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_once(line_end: str) -> None:
    tree, _ = read(line_end.join(["a: 1", "", "b:", "  - x"]))
    assert child(tree, "b").key_place.line == 3
    assert (child(tree, "b", 0).place.line, child(tree, "b", 0).place.column) == (4, 5)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a b", 4),
        ("'a b'", 5),
        ('"a b"', 5),
        ("'it''s'", None),
        (r'"a\tb"', None),
        ("&x a", None),
        ("!!str a", None),
        ("a\n  b", None),
        ("|\n  a", None),
        (">-\n  a", None),
        ("12", None),
    ],
)
def test_only_unescaped_text_on_one_line_has_a_column(text: str, column: int | None) -> None:
    tree, _ = read(f"k: {text}\n")
    assert child(tree, "k").text_column == column


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(text, None) for text in ("", "~", "null", "Null", "NULL", "!!null ''", "!!null null")],
        *[(text, True) for text in ("true", "True", "TRUE", "!!bool true")],
        *[(text, False) for text in ("false", "False", "FALSE")],
        *[("0", 0), ("-7", -7), ("+7", 7), ("007", 7), ("0o17", 15), ("0x1F", 31), ("-0", 0)],
        *[("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)), ("0" * 500 + "1", 1)],
        *[("0x7fffffffffffffff", 2**63 - 1), ("!!int 3", 3), ("!!float 3", 3.0)],
        *[(".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-1", -0.15), ("12e03", 12000.0), ("1e-999999", 0.0)],
        *[
            (text, text)
            for text in (
                *("yes", "no", "on", "off", "y", "n", "tRUE", "nULL", "1:30", "2026-01-01", "1_000", "0b1", "-0x1F"),
                *("0o8", ".", "+", "1.2.3", "1e", "e3", "+.e", ".Nan", "=", "${ input.total > 1 }", "30s", "x y"),
            )
        ],
        *[("'12'", "12"), ('"true"', "true"), ("! 12", "12"), ("!!str 12", "12"), ("!!str", ""), ("''", "")],
        *[("|\n  12\n", "12\n"), (">-\n  a\n  b\n", "a b"), ("|-\n  12", "12"), (r'"\U0001F600\L"', "😀\u2028")],
        *[("!!map {a: 1}", {"a": 1}), ("!!seq [1]", [1]), ("! [1]", [1]), ("{}", {}), ("[]", [])],
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    read_value = value_of(f"k: {text}")
    assert read_value == {"k": value}
    assert isinstance(read_value, dict)
    assert type(read_value["k"]) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{true: review, on: x, 1: y, 1.50: z}", {"true": "review", "on": "x", "1": "y", "1.50": "z"}),
        ('{"null": 1, "~": 2, "": 3, "<<": 4}', {"null": 1, "~": 2, "": 3, "<<": 4}),
        ("!!str null: 1\n!!str <<: 2\n", {"null": 1, "<<": 2}),
        ("? a\n? b\n: 1\n", {"a": None, "b": 1}),
        ("&k 1: *k", {"1": "1"}),
    ],
)
def test_keys_are_text(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "part"),
    [
        ("a: 1\nb: 2\na: 3", "duplicate_key", 3, 1, "line 1"),
        ("{a: 1, 'a': 2}", "duplicate_key", 1, 8, "`a` is given twice"),
        ("1: a\n'1': b", "duplicate_key", 2, 1, "line 1"),
        ("a: .nan", "bad_number", 1, 4, "not a number"),
        ("a: -.INF", "bad_number", 1, 4, "infinite"),
        ("a: 9223372036854775808", "number_too_large", 1, 4, "64 bits"),
        ("a: 0x8000000000000000", "number_too_large", 1, 4, "64 bits"),
        ("a: 0o" + "7" * 1_000_000, "number_too_large", 1, 4, "64 bits"),
        ("a: " + "9" * 1_000_000, "number_too_large", 1, 4, "64 bits"),
        ("a: 1e999999999", "number_too_large", 1, 4, "double"),
        ("a: ." + "1" * 1_000_000, "number_too_large", 1, 4, "double"),
        ("null: 1", "bad_key", 1, 1, "quotes"),
        ("{~: 1}", "bad_key", 1, 2, "quotes"),
        ("? \n: 1", "bad_key", 1, 2, "name is missing"),
        ("? [a]\n: b", "bad_key", 1, 3, "not a list"),
        ("a: {{ x }}", "bad_key", 1, 5, "quotes"),
        ("b: &x a\n*x : 1", "bad_key", 2, 1, "alias"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "merge_key", 3, 3, "write the entries out"),
        ("a: !foo b", "bad_tag", 1, 4, "`!foo`"),
        ("a: !!python/object:os.system b", "bad_tag", 1, 4, "`!!python/object:os.system`"),
        ("a: !!binary aGk=", "bad_tag", 1, 4, "remove it"),
        ("!foo a: b", "bad_tag", 1, 1, "`!foo`"),
        ("a: !foo [b]", "bad_tag", 1, 4, "`!foo`"),
        ("a: !!seq {b: 1}", "bad_tag", 1, 4, "`!!seq`"),
        ("a: !!int x", "bad_tag", 1, 4, "does not match its tag"),
        ("a: !!bool yes", "bad_tag", 1, 4, "does not match its tag"),
        ("a: !e!b c", "bad_tag", 1, 4, "Remove this tag"),
        ("a: *nowhere", "unknown_alias", 1, 4, "`&nowhere`"),
        ("a: &thing 1\nb: *thinh", "unknown_alias", 2, 4, "Did you mean `thing`?"),
        ("a: &x [1, *x]", "cyclic_alias", 1, 11, "inside the value"),
        ("&x a: &y {b: {c: *y}}", "cyclic_alias", 1, 18, "inside the value"),
        ("a: 1\n---\nb: 2", "several_documents", 2, 1, "one document"),
        ("", "empty_document", 1, 1, "empty"),
        (" \n# nothing\n", "empty_document", 1, 1, "empty"),
        ("---\n...\n", "empty_document", 2, 1, "empty"),
        ("a: b\x07", "syntax", 1, 5, r"`\x07`"),
        ("a:\r\n  \x00", "syntax", 2, 3, "U+0000"),
        ("a: \ufffe", "syntax", 1, 4, r"`\ufffe`"),
        ("a: \u2028", "bad_text", 1, 4, r"`\L`"),
        ("a: '\x85'", "bad_text", 1, 5, r"`\N`"),
        ("a: 1\n\ufeffb: 1", "bad_text", 2, 1, "byte order mark"),
        ("a: é\ud800", "bad_text", 1, 5, "half of a character"),
        ("%TAG !a! b\n" * 100_000 + "--- c", "syntax", 21, 1, "`%TAG`"),
    ],
)
def test_a_yaml_problem_is_reported_at_its_position(text: str, code: str, line: int, column: int, part: str) -> None:
    problem = the_problem(text)
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert part in problem.message


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("a:\n\tb: 1", 2, 1, "Indent with spaces"),
        ("a:\n  b: 1\n \tc: 1", 3, 2, "Indent with spaces"),
        ("a: @x", 1, 4, "`@` cannot stand"),
        ("a: `x`", 1, 4, "a backtick cannot stand"),
        ("a: b: c", 1, 5, "colon and a space in quotes"),
        ("a: - b", 1, 4, "line of its own"),
        ("a: 1\nb: 'x\n\nc: 2", 2, 4, "never closed"),
        ('a: "x\n---\n', 1, 4, "never closed"),
        ("a: [1, 2\nb: 3", 2, 2, "close the `[` of line 1"),
        ("\na: {b: c\nd: e", 3, 2, "close the `{` of line 2"),
        ("a: [1, 2]]", 1, 10, "cannot follow on the same line"),
        ("a: 'b' c", 1, 8, "cannot follow on the same line"),
        ("a:\n  b: 1\n c: 2", 3, 2, "Check how far"),
        (" a: 1\nb: 2", 2, 1, "Check how far"),
        ("- a\nb: 1", 2, 1, "Check how far"),
        ("a: 1\n- b", 2, 1, "Check how far"),
        ("a: 1\nb\nc: 2", 2, 1, "Put a colon"),
        ("a: &", 1, 5, "follows `&`"),
        ("a: *", 1, 5, "follows `*`"),
        ("a: |x\n  b", 1, 5, "begins on the next line"),
        ("a: [", None, None, "value is missing"),
        ("%YAML 2.0\n---\na: 1", 1, 1, "`%YAML`"),
    ],
)
def test_a_fault_in_the_syntax_has_advice(text: str, line: int | None, column: int | None, part: str) -> None:
    problem = the_problem(text)
    assert problem.code == "syntax"
    assert part in problem.message
    assert "(YAML: " in problem.message
    if line is not None:
        assert (problem.line, problem.column) == (line, column)


@pytest.mark.parametrize(
    "text", [r'a: "\q"', r'a: "\x0"', r'a: "\UFFFFFFFF"', "!%ED%A0%80 x", "%YAML 1.9" + "9" * 9000]
)
def test_bad_escapes_are_problems(text: str) -> None:
    _, found = read(text)
    assert [problem.code for problem in found] in (["syntax"], ["bad_tag"])
    assert found[0].line == 1
    assert len(found[0].message) < 400


def test_escapes_of_half_characters_are_problems(parser: str) -> None:
    assert the_problem(r'a: "\ud83d\ude00"').code == ("syntax" if parser == "libyaml" else "bad_text")


def test_reading_continues_after_problems_that_are_not_syntax_faults() -> None:
    tree, found = read("a: 1\na: 2\nb: .inf\nc: *x\nd: !foo 1\n<<: 2\n")
    codes = ["duplicate_key", "bad_number", "unknown_alias", "bad_tag", "merge_key"]
    assert [problem.code for problem in found] == codes
    assert tree is not None
    assert tree.plain() == {"a": 1, "b": 0, "c": None, "d": "1", "<<": 2}


def test_an_alias_shares_the_value_of_its_anchor() -> None:
    tree, found = read("a: &x {b: [1, 2]}\nc: *x\nd: &x 3\ne: *x\n")
    assert found == []
    assert tree is not None
    assert tree.plain() == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": 3, "e": 3}
    assert child(tree, "a").value is child(tree, "c").value
    assert (child(tree, "c").place.line, child(tree, "c").place.column, child(tree, "c").place.path) == (2, 4, "$.c")
    assert child(tree, "c").key_place.line == 2
    assert child(tree, "c", "b").place.path == "$.a.b"


def test_an_anchor_given_again_inside_its_value_counts_from_there() -> None:
    assert value_of("- &x [&x 1, *x]\n- *x\n") == [[1, 1], 1]


def test_aliases_count_as_if_they_were_written_out() -> None:
    text = "- &a [1, 1]\n- *a\n- *a\n"
    assert read(text, DefinitionLimits(values=10))[1] == []
    problem = the_problem(text, DefinitionLimits(values=9))
    assert (problem.code, problem.line, problem.column) == ("too_large", 3, 3)
    deep = "- &a [[1]]\n- [[*a]]\n"
    assert read(deep, DefinitionLimits(depth=5))[1] == []
    problem = the_problem(deep, DefinitionLimits(depth=4))
    assert (problem.code, problem.line, problem.column) == ("too_deep", 2, 5)
    nested = "- &a [1]\n- &b [*a]\n- &c [*b]\n- [*c]\n"
    assert read(nested, DefinitionLimits(depth=5))[1] == []
    assert the_problem(nested, DefinitionLimits(depth=4)).line == 4


def test_a_billion_laughs_end_at_the_value_limit() -> None:
    lines = ["a0: &a0 lol", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 100))]
    problem = the_problem("\n".join(lines))
    assert (problem.code, problem.line) == ("too_large", 7)


def test_quadratic_blowup_ends_at_the_value_limit() -> None:
    text = f"- &a [{', '.join(['x'] * 1000)}]\n" + "- *a\n" * 10_000
    problem = the_problem(text)
    assert (problem.code, problem.line) == ("too_large", 200)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: ", "[\n", "{? "])
def test_reading_ends_at_the_level_that_is_too_deep(opening: str) -> None:
    problem = the_problem(opening * 100_000, DefinitionLimits(depth=10))
    assert problem.code in {"too_deep", "bad_key"}
    assert problem.line is not None
    assert problem.column is not None
    assert problem.line + problem.column <= 11 * len(opening) + 2


@pytest.mark.parametrize("item", ["- 1\n", "- []\n", "- &a x\n", "- a: 1\n"])
def test_reading_ends_at_the_value_that_is_too_many(item: str) -> None:
    problem = the_problem(item * 500_000, DefinitionLimits(values=100))
    assert problem.code == "too_large"
    assert problem.line in {50, 100}


@pytest.mark.parametrize(
    ("start", "repeated", "end"),
    [
        ("", " ", ""),
        ("", "\n", ""),
        ("", "\t", ""),
        ("", "x", ""),
        ("", "x ", ": y"),
        ("", "''", "'"),
        ('"', "\\n", ""),
        ("a: |\n", "  x\n", ""),
        ("a: |\n", " ", ""),
        ("&", "a", " x"),
        ("*", "a", ""),
        ("!", "a", " x"),
        ("", "#", ""),
        ("", "%", ""),
        ("", "a", ": 1"),
        ("", "---\n", ""),
        ("", "...\n", ""),
        ("[", '"a" ', ""),
    ],
)
def test_long_texts_cost_memory_in_proportion_to_their_length(start: str, repeated: str, end: str, parser: str) -> None:
    text = start + repeated * ((1_000_000 if parser == "libyaml" else 10_000) // len(repeated)) + end
    tracemalloc.start()
    try:
        tree, found = read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tree is not None or found
    assert peak < 60 * len(text)
    assert all(len(problem.message) < 400 for problem in found)


PIECES = [
    *("a", "b: ", "- ", "\n", "\n  ", "? ", ": ", "[", "]", "{", "}", ", ", '"', "'", "|", ">", "|2", "&a ", "*a"),
    *("!!str ", "!foo ", "!%ED%A0%80 ", "%TAG ! x\n", "%YAML 1.2\n", "---\n", "...\n", "#c", "\t", "\r", "\\"),
    *("\\UFFFFFFFF", "\\ud800", "é", "😀", "\u2028", "\0", "\ufeff", "<<: ", "null", "1e999", ".inf", "true", "~"),
    *("1", "!", "%", "@", "`", "!!map "),
]


@settings(deadline=None, max_examples=300)
@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_gives_a_tree_or_a_problem(text: str) -> None:
    tree, found = read(text, DefinitionLimits(depth=5, values=20))
    assert tree is not None or found
    assert all(problem.line and problem.column and len(problem.message) < 500 for problem in found)
    if tree is not None:
        str(tree.plain()).encode()
