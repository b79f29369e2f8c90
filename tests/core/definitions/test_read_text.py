"""A text of unknown syntax and encoding becomes a tree or a problem."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.definitions.limits import DefinitionLimits
from layover.core.definitions.problems import Problem, Problems
from layover.core.definitions.read_text import read_text

if TYPE_CHECKING:
    from layover.core.definitions.read_text import Syntax
    from layover.core.definitions.tree import Tree

LIMITS = DefinitionLimits()


def read(
    source: str | bytes, limits: DefinitionLimits = LIMITS, syntax: Syntax = "auto"
) -> tuple[Tree | None, list[Problem]]:
    problems = Problems()
    return read_text(source, problems, limits, syntax=syntax), problems.listed()


def the_problem(source: str | bytes, limits: DefinitionLimits = LIMITS, syntax: Syntax = "auto") -> Problem:
    _, found = read(source, limits, syntax)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    "source",
    [
        '{"a": ["é", 1]}',
        '\ufeff \r\n\t{ "a" : ["é", 1] }',
        "a: [é, 1]",
        "\ufeffa:\n- é\n- 1\n",
        "{a: [é, 1]}",
        "{'a': ['é', 1,],}",
        "# JSON with a comment is YAML\n{'a': [é, 1]}",
        "---\na: [é, 1]\n",
    ],
)
def test_json_and_yaml_are_distinguished(source: str) -> None:
    for given_source in (source, source.encode()):
        tree, found = read(given_source)
        assert found == []
        assert tree is not None
        assert tree.plain() == {"a": ["é", 1]}


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ('{"a": 1 // c\n}', "JSON has no comments"),
        ('{ // c\n "a": 1}', "JSON has no comments"),
        ('// c\n{"a": 1}', "JSON has no comments"),
        ('/* c */\n{"a": 1}', "JSON has no comments"),
        ('{"a": 1,}', "Remove the comma"),
        ('{"a": yes}', "`yes` is not a JSON value"),
        ('[{"a": 1} {"b": 2}]', "Put a comma"),
        ("[", "ends before"),
        ("{ \n", "ends before"),
        ("a: b: c", "(YAML: "),
        ("{a: [}", "(YAML: "),
    ],
)
def test_a_fault_is_reported_in_the_intended_syntax(source: str, part: str) -> None:
    problem = the_problem(source)
    assert problem.code == "syntax"
    assert part in problem.message


def test_the_syntax_may_be_given() -> None:
    assert the_problem("a: 1", syntax="json").code == "syntax"
    tree, found = read('{"a": 1,}', syntax="yaml")
    assert found == []
    assert tree is not None
    assert tree.plain() == {"a": 1}


def test_a_byte_order_mark_takes_no_column() -> None:
    tree, _ = read(b"\xef\xbb\xbfa: 1")
    value = tree.get("a") if tree else None
    assert value is not None
    assert (value.key_place.column, value.place.column) == (1, 4)


@pytest.mark.parametrize(
    ("source", "line", "column", "part"),
    [
        ("a: é".encode("utf-16"), 1, 1, "UTF-16"),
        ("a: é".encode("utf-16-le"), 1, 1, "UTF-16"),
        ("a: é".encode("utf-16-be"), 1, 1, "UTF-16"),
        ("a: é".encode("utf-32"), 1, 1, "UTF-32"),
        ("a: é".encode("utf-32-le"), 1, 1, "UTF-32"),
        ("a: é".encode("utf-32-be"), 1, 1, "UTF-32"),
        ("a: é\r\né: x".encode() + b"\xff", 2, 5, "0xFF"),
        ("\ufeffa: ".encode() + b"\xe9", 1, 4, "0xE9"),
        ("a: 😀".encode()[:-1], 1, 4, "0xF0"),
        (b"a: \xed\xa0\x80", 1, 4, "0xED"),
        (b"a: \xc0\x80", 1, 4, "0xC0"),
    ],
)
def test_text_that_is_not_utf_8_is_reported_at_its_position(source: bytes, line: int, column: int, part: str) -> None:
    problem = the_problem(source)
    assert (problem.code, problem.line, problem.column) == ("bad_encoding", line, column)
    assert part in problem.message


@pytest.mark.parametrize("source", ["a: x\0", '{"a": \0}', '{"a": "\0"}', b"a: x\0", b'{"a": "\0"}'])
def test_a_nul_is_a_fault(source: str | bytes) -> None:
    assert the_problem(source).code == "syntax"


@pytest.mark.parametrize("source", ["", b"", "\ufeff", b"\xef\xbb\xbf", " ", "\n\n# x\n"])
def test_an_empty_text_is_a_problem(source: str | bytes) -> None:
    assert the_problem(source).code == "empty_document"


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_the_size_is_bounded_in_bytes_of_utf_8(character: str) -> None:
    text = character * 100
    size = len(text.encode())
    for source in (text, text.encode()):
        assert read(source, DefinitionLimits(bytes=size))[1] == []
        assert the_problem(source, DefinitionLimits(bytes=size - 1)).code == "too_large"


@pytest.mark.parametrize("source", [" " * 10_000_000, b"\xff" * 10_000_000, "\ud800" * 10_000_000, "[" * 10_000_000])
def test_a_text_that_is_too_large_is_not_read(source: str | bytes) -> None:
    problem = the_problem(source)
    assert (problem.code, problem.line, problem.column) == ("too_large", 1, 1)


@pytest.mark.parametrize("opening", ["[", "{", '{"a":', "{a: ", "[{", "- ", "? ", "[\n"])
def test_a_hundred_thousand_levels_end_early(opening: str) -> None:
    _, found = read(opening * 100_000, DefinitionLimits(depth=20))
    assert len(found) == 1
    assert found[0].code in {"too_deep", "bad_key", "syntax"}
    assert found[0].line is not None
    assert found[0].line <= 22


@pytest.mark.parametrize("source", ["[" + "1," * 1_000_000 + "1]", '["",' + "1," * 1_000_000 + "1]", "- 1\n" * 999_999])
def test_a_million_values_end_early(source: str) -> None:
    assert the_problem(source, DefinitionLimits(values=1000)).code == "too_large"


def test_json_is_read_without_loading_pyyaml() -> None:
    script = (
        "import sys; from layover.core.definitions.json_text import read_json;"
        "from layover.core.definitions.read_text import read_text;"
        "from layover.core.definitions.limits import DefinitionLimits;"
        "from layover.core.definitions.problems import Problems;"
        "assert read_text('{\"a\": 1}', Problems(), DefinitionLimits()); assert 'yaml' not in sys.modules"
    )
    finished = run([sys.executable, "-c", script], check=False, capture_output=True, text=True)  # noqa: S603 - our own script
    assert finished.returncode == 0, finished.stderr


def test_only_one_module_imports_pyyaml() -> None:
    folder = Path(sys.modules[read_text.__module__].__file__ or "").parent
    importers = [path.name for path in folder.glob("*.py") if "import yaml" in path.read_text().splitlines()]
    assert importers == ["yaml_text.py"]


@settings(deadline=None, max_examples=500)
@given(
    st.binary() | st.text() | st.text(st.sampled_from('{}[]",:\\01-?&*!|>%@\n \t\r#aé\u2028\x00\ufeff\ud800')),
    st.sampled_from(["auto", "json", "yaml"]),
)
def test_anything_gives_a_tree_or_a_problem(source: str | bytes, syntax: Syntax) -> None:
    tree, found = read(source, DefinitionLimits(depth=5, values=20), syntax)
    assert tree is not None or found
    assert all(problem.line and problem.column for problem in found)
