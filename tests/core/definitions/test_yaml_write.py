"""The written YAML is readable and reads back to the same value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.definitions.limits import DefinitionLimits
from layover.core.definitions.problems import Problems
from layover.core.definitions.yaml_text import read_yaml
from layover.core.definitions.yaml_write import write_yaml

if TYPE_CHECKING:
    from layover.core.definitions.tree import Json, Tree

odd_text = st.text(
    st.sampled_from("ab1 \n\t:#-?|>&*!%@`'\"\\,[]{}=~.+_$0xeE\r\x00\x7f\x85\xa0é\u2028\u2029\ufeff\ufffe\U0001fffe😀")
)
lines = st.lists(st.sampled_from(["", " ", "  ", "a", " b", "\tc", "d ", "- e", "# f", "g: h", "---", "é"])).map(
    "\n".join
)
special = st.sampled_from(
    [
        *("", "~", "null", "True", "yes", "no", "on", "off", "y", "0o17", "0x1F", "1e3", ".5", "12e03", "1.", "-1"),
        *("+.5", ".inf", "-.INF", ".nan", "1_000", "1:30", "2026-01-01", "2026-01-01T10:00:00Z", "=", "<<", "-", "--"),
        *("---", "...", "--- a", "- a", "? a", ": a", "a:", "a: b", "a #b", "#a", "|", ">", "@a", "`a`", "%a", "!a"),
        *("&a", "*a", "[a]", "{a}", "a, b", "${ a }", "{{ a }}", "it's", 'say "x"', 'it\'s "x"', "\\", "a\\b'"),
        *(" a", "a ", "\ta"),
    ]
)
whole_text = st.text(st.characters(exclude_categories=["Cs"])) | odd_text | lines | special
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | whole_text
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(whole_text, inner, max_size=6), max_leaves=30
)


def read(text: str) -> Tree:
    problems = Problems()
    tree = read_yaml(text, problems, DefinitionLimits())
    assert problems.listed() == []
    assert tree is not None
    return tree


def test_a_definition_reads_well() -> None:
    definition: Json = {
        "name": "order",
        "description": "Asks twice.\n\nThen pays: always.\n",
        "on": ["yes", "pay", 1, 1.5, None],
        "nodes": [
            {"id": "ask", "type": "approval", "timeout": "30s", "next": {"true": "pay", "false": "ask"}},
            {"id": "pay", "body": "two\nlines", "if": "${ input.total > 1000 && !(input.vip) }", "retry": {}},
            [[1, 2], []],
        ],
        "edges": [{"source": "ask", "target": "pay"}],
        "headers": {"a": "x", "b": "x", "c": "x", "d": "x", "e": "1:30"},
        "long": ["a word"] * 20,
    }
    assert write_yaml(definition) == (
        "name: order\n"
        "description: |\n"
        "  Asks twice.\n"
        "\n"
        "  Then pays: always.\n"
        "'on': ['yes', pay, 1, 1.5, null]\n"
        "nodes:\n"
        "  - id: ask\n"
        "    type: approval\n"
        "    timeout: 30s\n"
        "    next: {'true': pay, 'false': ask}\n"
        "  - id: pay\n"
        "    body: |-\n"
        "      two\n"
        "      lines\n"
        "    if: ${ input.total > 1000 && !(input.vip) }\n"
        "    retry: {}\n"
        "  - - [1, 2]\n"
        "    - []\n"
        "edges:\n"
        "  - {source: ask, target: pay}\n"
        "headers:\n"
        "  a: x\n"
        "  b: x\n"
        "  c: x\n"
        "  d: x\n"
        "  e: '1:30'\n"
        "long:\n" + "  - a word\n" * 20
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null\n"),
        (True, "true\n"),
        (-3, "-3\n"),
        (1e16, "1.0e+16\n"),
        (-0.0, "-0.0\n"),
        ("", "''\n"),
        ("a b", "a b\n"),
        ("it's", "it's\n"),
        ("'x'", "\"'x'\"\n"),
        ("'x' \\", "'''x'' \\'\n"),
        ("a\tb", '"a\\tb"\n'),
        ("\u2028\x85", '"\\u2028\\x85"\n'),
        ("😀", "'😀'\n"),
        ("a\nb", "|-\n  a\n  b\n"),
        (" a\n\n", "|2+\n   a\n\n"),
        ("\n", '"\\n"\n'),
        ({}, "{}\n"),
        ([], "[]\n"),
        ([[]], "- []\n"),
        ({"a": {"b": {"c": 1}}}, "a:\n  b: {c: 1}\n"),
    ],
)
def test_values_are_written_plainly(value: Json, text: str) -> None:
    assert write_yaml(value) == text
    assert read(text).plain() == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}])
def test_values_outside_json_are_refused(value: Json) -> None:
    with pytest.raises(ValueError, match=r"JSON has no infinity|half of a character"):
        write_yaml(value)


def test_long_keys_are_read_back() -> None:
    value: Json = {"k" * 2000: {"j" * 999: [1, {"a": "b\nc"}]}, "é\n" * 600: "x\ny\n", "z": {"y" * 1500: 1}}
    assert read(write_yaml(value)).plain() == value


def test_deep_values_are_read_back() -> None:
    value: Json = "x\ny"
    for _ in range(49):
        value = [{"a": value}]
    assert read(write_yaml(value)).plain() == value


@settings(deadline=None, max_examples=400)
@given(values)
def test_every_value_is_read_back(value: Json) -> None:
    text = write_yaml(value)
    tree = read(text)
    assert json.dumps(tree.plain()) == json.dumps(value)
    assert all(len(line) <= 100 or line.lstrip()[:1] not in {"[", "{"} for line in text.split("\n"))


@settings(deadline=None, max_examples=200)
@given(values)
def test_every_place_is_where_the_yaml_composer_sees_it(value: Json) -> None:
    text = write_yaml(value)
    assert_same_places(read(text), yaml.compose(text, Loader=yaml.CSafeLoader))


def assert_same_places(tree: Tree, node: yaml.Node | None) -> None:
    assert node is not None
    assert node.start_mark is not None
    assert (tree.place.line, tree.place.column) == (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.SequenceNode):
        assert isinstance(tree.value, list)
        for item, inner in zip(tree.value, node.value, strict=True):
            assert_same_places(item, inner)
    if isinstance(node, yaml.MappingNode):
        assert isinstance(tree.value, dict)
        for member, (key, inner) in zip(tree.value.values(), node.value, strict=True):
            place = member.key_place
            assert (place.line, place.column) == (key.start_mark.line + 1, key.start_mark.column + 1)
            assert_same_places(member, inner)


@settings(deadline=None, max_examples=200)
@given(values)
def test_readers_of_yaml_1_1_see_the_same_text(value: Json) -> None:
    text = write_yaml({"k": value})
    assert strings_of(yaml.load(text, Loader=yaml.CSafeLoader)) == strings_of({"k": value})


def strings_of(value: object) -> object:
    if isinstance(value, dict):
        return {key: strings_of(child) for key, child in value.items()}
    if isinstance(value, list):
        return [strings_of(child) for child in value]
    return value if isinstance(value, str) else type(value)
