from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layover.core.definitions.dialects.conditions import condition
from layover.core.definitions.dialects.scope import RootNames, quoted
from layover.core.definitions.problems import Problem, Problems
from layover.core.definitions.tree import tree_from_data

from .shared import value_of

SCOPE = RootNames(nodes={"check", "pre-check", "loop"}, triggers={"hook"}, variables={"line"})


def expression(written: object, scope: RootNames = SCOPE) -> str:
    problems = Problems()
    made = condition(tree_from_data(written), scope, problems)
    assert problems.listed() == []
    assert made is not None
    return made


def refused(written: object) -> Problem:
    problems = Problems()
    assert condition(tree_from_data(written), SCOPE, problems) is None
    (problem,) = problems.listed()
    return problem


def compare(field: str, operator: str, value: object) -> dict[str, object]:
    return {"field": field, "operator": operator, "value": value}


@pytest.mark.parametrize(
    ("operator", "value", "made"),
    [
        ("equals", "gold", 'input.tier == "gold"'),
        ("not_equals", "gold", 'input.tier != "gold"'),
        ("greater_than", 10, "input.tier > 10"),
        ("less_than", 1.5, "input.tier < 1.5"),
        ("greater_than_or_equal", -3, "input.tier >= -3"),
        ("less_than_or_equal", True, "input.tier <= true"),
        ("notEquals", None, "input.tier != null"),
        ("GREATER-THAN", 10, "input.tier > 10"),
        ("==", 1, "input.tier == 1"),
        ("eq", 1, "input.tier == 1"),
        ("neq", 1, "input.tier != 1"),
        ("gte", 1, "input.tier >= 1"),
        ("lte", 1, "input.tier <= 1"),
        ("in", ["a", 2], 'input.tier in ["a", 2]'),
        ("not_in", ["a"], '!(input.tier in ["a"])'),
        ("starts_with", "a", 'input.tier.startsWith("a")'),
        ("ends_with", "a", 'input.tier.endsWith("a")'),
        ("contains", 5, "5 in input.tier"),
        ("equals", {"a": [1]}, 'input.tier == {"a": [1]}'),
        ("equals", -(2**63), "input.tier == -9223372036854775808"),
        ("equals", 1e30, "input.tier == 1e+30"),
    ],
)
def test_an_operator_becomes_an_expression(operator: str, value: object, made: str) -> None:
    assert expression(compare("tier", operator, value)) == made


@pytest.mark.parametrize(
    ("held", "wanted", "holds"),
    [("a vip", "vip", True), ("plain", "vip", False), (["vip", "x"], "vip", True), (["a vip"], "vip", False)],
)
def test_contains_looks_into_texts_and_into_lists(held: object, wanted: str, holds: bool) -> None:
    made = expression(compare("tags", "contains", wanted))
    assert value_of(made, input={"tags": held}) is holds
    negated = expression(compare("tags", "not_contains", wanted))
    assert value_of(negated, input={"tags": held}) is not holds


@pytest.mark.parametrize(
    ("field", "made"),
    [
        ("order.total", "input.order.total"),
        ("input.order.total", "input.order.total"),
        ("check.ok", "nodes.check.ok"),
        ("pre-check.ok", 'nodes["pre-check"].ok'),
        ("loop.count", 'nodes["loop"].count'),
        ("hook.user", "input.user"),
        ("trigger.user", "trigger.user"),
        ("_trigger.user", "trigger.user"),
        ("vars.limit", "vars.limit"),
        ("_vars.limit", "vars.limit"),
        ("nodes.check.ok", "nodes.check.ok"),
        ("errors.check.code", "errors.check.code"),
        ("execution.id", "execution.id"),
        ("line.price", "line.price"),
        ("lines[0].price", "input.lines[0].price"),
        ("lines.0.price", "input.lines[0].price"),
        ("first name", 'input["first name"]'),
        ("order.in", 'input.order["in"]'),
        ("order.if", 'input.order["if"]'),
        ('a"] || true || input["b', 'input["a\\"] || true || input[\\"b"]'),
        ("@{check.total * 2}", "(nodes.check.total * 2)"),
    ],
)
def test_a_field_is_a_path_from_its_first_name(field: str, made: str) -> None:
    assert expression(compare(field, "equals", 1)) == f"{made} == 1"


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("input.total > 5", "input.total > 5"),
        ("@{check.total > _vars.limit}", "nodes.check.total > vars.limit"),
        ("@{check.total} > 5", "(nodes.check.total) > 5"),
        (True, "true"),
        ({"expression": "input.ok"}, "input.ok"),
        ({"conditions": [compare("a", "equals", 1)], "logic": "OR"}, "input.a == 1"),
        (
            {"conditions": [compare("a", "equals", 1), compare("b", "equals", 2)], "logic": "or"},
            "(input.a == 1) || (input.b == 2)",
        ),
        ({"conditions": [compare("a", "equals", 1), compare("b", "equals", 2)]}, "(input.a == 1) && (input.b == 2)"),
        ({"and": [compare("a", "equals", 1), "input.b"]}, "(input.a == 1) && (input.b)"),
        (
            {"or": [compare("a", "equals", 1), {"and": [compare("b", "equals", 2), compare("c", "equals", 3)]}]},
            "(input.a == 1) || ((input.b == 2) && (input.c == 3))",
        ),
        ({"not": compare("a", "equals", 1)}, "!(input.a == 1)"),
        ([compare("a", "equals", 1), compare("b", "equals", 2)], "(input.a == 1) && (input.b == 2)"),
        (compare("a", "equals", "@{_vars.limit}"), "input.a == (vars.limit)"),
        (compare("a", "equals", "x-@{check.id}"), 'input.a == ("x-" + string(nodes.check.id))'),
        (compare("a", "equals", "${vars.limit}"), 'input.a == "${vars.limit}"'),
        ({"field": "a", "operator": "equals"}, "input.a == null"),
    ],
)
def test_a_condition_becomes_one_expression(written: object, made: str) -> None:
    assert expression(written) == made


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        (compare("a", "greater_then", 1), "unknown_operator", "Did you mean `greater_than`?"),
        ({"operator": "equals", "value": 1}, "missing_field", "no `field`"),
        ({"field": "a", "value": 1}, "missing_field", "no `operator`"),
        (compare("", "equals", 1), "bad_value", "such as `order.total`"),
        (compare("a..b", "equals", 1), "bad_value", "such as `order.total`"),
        ({"conditions": []}, "bad_value", "at least one"),
        ({"conditions": [compare("a", "equals", 1)], "logic": "xor"}, "bad_value", "`AND` or `OR`"),
        ({"or": 5}, "bad_value", "at least one"),
        (5, "bad_type", "A condition is an expression"),
        (None, "bad_type", "A condition is an expression"),
        ("  ", "bad_type", "A condition is an expression"),
    ],
)
def test_an_invalid_condition_is_refused_with_a_sentence(written: object, code: str, said: str) -> None:
    problem = refused(written)
    assert problem.code == code
    assert said in problem.message


# A text that is read as UTF-8 has no surrogates.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
@example('"')
@example("\\")
@example('\\"')
@example('" || true || "')
@example("\u2028\x7f\x00\r\n")
@example("${input.x}")
def test_a_quoted_text_is_one_literal_that_evaluates_to_the_text(text: str) -> None:
    literal = quoted(text)
    assert re.fullmatch(r'"(?:[^"\\\x00-\x1f\x7f]|\\.)*"', literal)
    assert json.loads(literal) == text
    assert value_of(literal) == text


@given(TEXTS, TEXTS)
def test_data_in_a_condition_never_becomes_code(value: str, other: str) -> None:
    made = expression(compare("x", "equals", value.replace("@{", "")))
    assert value_of(made, input={"x": value.replace("@{", "")}) is True
    if other != value.replace("@{", ""):
        assert value_of(made, input={"x": other}) is False


@given(TEXTS.filter(lambda text: not re.search(r"[.\[\]]|@\{|^\s|\s$|^[0-9]+$", text) and text != ""))
@example('x"] == 1 || input["y')
@example("x == 1 || true")
def test_a_field_reads_exactly_the_key_it_names(key: str) -> None:
    made = expression(compare(f"data.{key}", "equals", "secret"), RootNames())
    held: dict[str, Any] = {key: "secret", key + "x": "other"}
    assert value_of(made, input={"data": held}) is True
