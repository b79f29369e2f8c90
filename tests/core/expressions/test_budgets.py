"""Work is counted before it is done, and nothing absorbs the end of the budget."""

from __future__ import annotations

import pytest

from layover.core.expressions import BudgetExceeded, ExpressionLimits, Meter, compile_expression, parse, to_json

from .evaluation import charged, code, value

LARGE = {"list": list(range(100_000)), "text": "a" * 1_000_000, "twin": "".join(["a"] * 1_000_000)}


def test_straight_code_costs_its_parts() -> None:
    assert charged("a + 1 > 2 && b", {"a": 1, "b": True}).steps == compile_expression(parse("a + 1 > 2 && b")).cost
    assert charged("a", {"a": LARGE}).steps == 1
    assert charged("size(a.list)", {"a": LARGE}).steps == 3


def test_each_round_of_a_comprehension_costs_its_body() -> None:
    ten, twenty = (charged("l.all(x, x + 1 > 0)", {"l": list(range(n))}).steps for n in (10, 20))
    assert twenty - ten == 10 * 5


def test_a_round_that_is_not_run_costs_nothing() -> None:
    assert charged("list.exists(x, x == 3)", LARGE).steps < 30


@pytest.mark.parametrize(
    "source",
    [
        "list.all(x, x >= 0)",
        "list.map(x, list)",
        "[1, 2, 3, 4].map(x, text + text)",
        "list.all(x, text == twin)",
        "list.all(x, text < twin || true)",
        "list.all(x, !text.contains('b'))",
        "list.all(x, !text.matches('b'))",
        "list.all(x, text in [1, twin])",
        "list.all(x, list == list)",
        "text.replace('a', 'bb')",
        "text.replace('', 'bb')",
        "list.map(x, 'a').join(text)",
        "text.split('').map(x, x)",
        "list + list + list + list + list + list + list + list + list + list + list",
        "'%s%s'.format([text, text])",
        "json([text, text])",
        "[1, 2].all(x, sort(list) != [])",
        "[1, 2].all(x, sum(list) > 0)",
        "[1, 2].all(x, max(list) > 0)",
        "distinct(list + list)",
        "parseJson('[' + text + text)",
        "list.all(x, 'a'.matches(string(x)) || true)",
        "[0]" + ".map(a, [a, a])" * 30,
        "list.all(x, " + " && ".join(f"!text.matches('b{number}')" for number in range(40)) + ")",
        "list.filter(x, x < 100).map(x, text)",
    ],
)
def test_an_evaluation_ends_with_its_budget(source: str) -> None:
    assert code(source, LARGE) == "budget_exceeded"


BOMB = "list.all(x, list.all(y, true))"


@pytest.mark.parametrize(
    "source",
    [
        f"{BOMB} || true",
        f"{BOMB} && false",
        f"default({BOMB}, 1)",
        f"[1].exists(z, {BOMB} || true)",
        f"[1, 2].all(z, {BOMB} && false)",
    ],
)
def test_no_operator_absorbs_an_exceeded_budget(source: str) -> None:
    assert code(source, LARGE) == "budget_exceeded"


@pytest.mark.parametrize(("source", "expected"), [(f"true || {BOMB}", True), (f"false && {BOMB}", False)])
def test_evaluation_stops_once_the_result_is_decided(source: str, expected: object) -> None:
    assert value(source, LARGE) is expected


def test_a_program_stops_at_its_own_limits() -> None:
    program = compile_expression(parse("1 + x", ExpressionLimits(steps=2)))
    with pytest.raises(BudgetExceeded, match="2 steps"):
        program.evaluate({"x": 1})


def test_one_meter_can_bound_several_evaluations() -> None:
    program = compile_expression(parse("a + a"))
    meter = Meter(ExpressionLimits(size=50))
    program.evaluate({"a": "x" * 20}, meter=meter)
    with pytest.raises(BudgetExceeded):
        program.evaluate({"a": "x" * 20}, meter=meter)


def test_data_nested_beyond_pythons_stack_can_be_compared() -> None:
    deep: list[object] = []
    twin: list[object] = []
    for _ in range(20_000):
        deep, twin = [deep], [twin]
    program = compile_expression(parse("a == b"))
    assert program.evaluate({"a": deep, "b": twin}) is True


def test_plain_data_leaves_as_it_is() -> None:
    data = {"a": [1, {"b": None}]}
    assert to_json(data) is data
    assert to_json(compile_expression(parse("{'t': [timestamp(0)], 'd': duration('1s')}")).evaluate({})) == {
        "t": ["1970-01-01T00:00:00.000Z"],
        "d": "1s",
    }
    assert to_json((1, 2)) == [1, 2]
