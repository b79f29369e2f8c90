"""Hints for words from CEL, JavaScript and Python: what to write instead."""

from __future__ import annotations

import pytest

from layover.core.definitions import check as check_definition
from layover.core.expressions import (
    DYN,
    FUNCTIONS,
    ExpressionError,
    ListOf,
    RecordType,
    Template,
    Type,
    check,
    compile_expression,
    hints,
    parse,
)

SCOPE: dict[str, Type] = {"input": RecordType({"xs": ListOf(DYN), "a": DYN}), "x": DYN}


def _message(source: str) -> str:
    try:
        return " ".join(problem.message for problem in check(parse(source), SCOPE)[1])
    except ExpressionError as error:
        return error.message


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ("x and x", "`&&`"),
        ("x or x", "`||`"),
        ("not x", "`!`"),
        ("x not in [1]", "`!(x in list)`"),
        ("x === 1", "`==`"),
        ("x !== 1", "`!=`"),
        ("x <> 1", "`!=`"),
        ("x is null", "`==`"),
        ("x?.b", "`default(a.b, fallback)`"),
        ("x?.b.c == 1", "`default(a.b, fallback)`"),
        ("x.?b", "`default(…)`"),
        ("x ?? 1", "`default(value, fallback)`"),
        ("x if x else 1", "`condition ? value : other`"),
        ("x.map(y => y)", "`list.map(x, …)`"),
        ("input.xs.sum()", "`sum(input.xs)`"),
        ("input.xs.length", "`size(input.xs)`"),
        ("input.xs.length()", "`size(value)`"),
        ("len(input.xs)", "`size(value)`"),
        ("sets.contains(x, x)", "`b.all(x, x in a)`"),
        ("math.greatest(1, 2)", "`max(…)`"),
        ("JSON.stringify(x)", "`json(value)`"),
        ("x == undefined", "`null`"),
        ("x == None", "`null`"),
        ("type(x)", "Types"),
        ("${input.a}", "leave out `${`"),
        ("{{ input.a }}", "leave out `{{`"),
    ],
)
def test_the_message_says_what_to_write_instead(source: str, instead: str) -> None:
    assert instead in _message(source)


def test_a_template_with_two_braces_says_how_many_it_takes() -> None:
    with pytest.raises(ExpressionError, match="with one brace"):
        Template.parse("${{ input.a }}")


def test_a_hint_for_length_is_given_for_lists_in_data() -> None:
    with pytest.raises(ExpressionError, match=r"Write `size\(x\)`"):
        compile_expression(parse("x.length")).evaluate({"x": [1]})


@pytest.mark.parametrize("source", ["x ? .x : 1", "x ?.x : 1", "x ? x : .input.a"])
def test_a_root_name_after_a_question_mark_is_still_a_conditional(source: str) -> None:
    assert _message(source) == ""


def test_no_function_that_exists_has_a_hint() -> None:
    assert not set(hints.FUNCTIONS) & set(FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("{{ input.a }}", True),
        ("Dear {{input.name}}", True),
        ("${input.a} and {{ vars.b }}", True),
        ("{{ customer.name }}", False),
        ("${input.a}", False),
        ("{{{{", False),
    ],
)
def test_two_braces_around_a_name_in_scope_are_warned_of(text: str, *, warned: bool) -> None:
    found = check_definition(
        {"name": "f", "nodes": [{"id": "a", "type": "set", "values": {"b": text}}]}, functions=frozenset()
    )
    assert found.ok, found.problems
    assert ["double_braces" in problem.code for problem in found.problems] == [True] * warned
