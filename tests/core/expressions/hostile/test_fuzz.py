"""Any text is an expression or an ExpressionError with an offset inside it; any evaluation is a value or such an error.

Nothing else: no other exception, whatever the text and whatever the data.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layover.core.expressions import (
    DYN,
    FUNCTIONS,
    Expression,
    ExpressionError,
    ExpressionLimits,
    Meter,
    Template,
    check,
    compile_expression,
    parse,
    to_json,
)

from .trial import MOMENT, SCOPE

ROUNDS = int(os.environ.get("LAYOVER_TORTURE", "0"))
SMALL = ExpressionLimits(steps=2_000, size=20_000)

fuzz = settings(
    max_examples=500 * max(ROUNDS, 1),
    derandomize=not ROUNDS,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

VALID = (
    "input.total > 1000 && item.kind in ['a', 'b']",
    "has(input.a.b) ? input.a.b : default(input.c, -1.5e3)",
    "input.list.map(x, x * 2).filter(y, y % 2 == 0).exists(z, z != null)",
    "{'a': [1, 2.5, \"\\u00e9\", r'\\d'], true: null, 7: {}}['a'][0]",
    "'%s %d %.2f'.format([input.name, 1, 2.5]).split(' ').join('-').matches('^a+$')",
    "timestamp('2024-01-01T00:00:00Z') + duration('1h') > now() || !(1 in [1, 2])",
    "sort(distinct(input.list))[0] + max([1, 2]) - round(2.5) * sum([1])",
    "parseJson(json(input)).a.size() <= 0x1F // a comment",
)
TOKENS = (
    *FUNCTIONS, "has", "default", "all", "exists", "exists_one", "filter", "map", "input", "x", "a", "true", "false",
    "null", "in", "1", "-1", "0", "9223372036854775807", "-9223372036854775808", "2.5", "1e308", "'a'", "'%s'", "''",
    "'2024-01-01T00:00:00Z'", "'1h'", "[", "]", "{", "}", "(", ")", "(", ")", ".", ".", ",", ",", ":", "?", "+", "-",
    "*", "/", "%", "&&", "||", "!", "==", "!=", "<", "<=", ">", ">=", "`a-b`", '"', "'", "\\", "//", "$", "\n", "\0",
    "\ud800", "😀",
)  # fmt: skip


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """Draw a valid expression with a few places cut out, doubled or replaced."""
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 4)))
        text = (
            text[:start]
            + draw(st.one_of(st.sampled_from((*TOKENS, text[start:end] * 2)), st.text(max_size=2)))
            + text[end:]
        )
    return text


soup = st.lists(st.sampled_from(TOKENS), max_size=24).map(" ".join) | st.lists(
    st.sampled_from(TOKENS), max_size=24
).map("".join)
texts = st.one_of(st.text(), st.text(st.characters(codec=None)), mutants(), soup)
numbers = st.one_of(
    st.integers(),
    st.integers(min_value=2**62, max_value=2**70),
    st.floats(),
    st.just(5_000).map(lambda power: 10**power),
)
data = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(st.characters(codec=None))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("a", "b", "list", "name")) | st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)
contexts = st.fixed_dictionaries({}, optional={"input": data, "x": data, "a": data})


def _is_clear(error: ExpressionError, text: str) -> None:
    assert error.message
    assert error.offset is None or 0 <= error.offset <= len(text)


def _parse(text: str) -> Expression | None:
    try:
        return parse(text)
    except ExpressionError as error:
        _is_clear(error, text)
        return None


def _run(expression: Expression, context: dict[str, object]) -> None:
    meter = Meter(SMALL)
    try:
        to_json(compile_expression(expression).evaluate(context, moment=MOMENT, meter=meter), meter)
    except ExpressionError as error:
        _is_clear(error, expression.source)
        spent = error.code == "budget_exceeded"
    else:
        spent = False
    assert spent or (meter.steps <= SMALL.steps and meter.size <= SMALL.size)


@fuzz
@given(texts, contexts)
def test_any_text_is_an_expression_or_an_error_inside_it(text: str, context: dict[str, object]) -> None:
    expression = _parse(text)
    if expression is not None:
        assert expression.steps <= 2 * len(text) + 2
        for problem in check(expression, {**SCOPE, "x": DYN, "a": DYN})[1]:
            assert problem.offset is not None
            assert 0 <= problem.offset <= len(text)
        _run(expression, context)


@fuzz
@given(texts, texts, contexts)
def test_any_text_is_a_template_or_an_error_inside_it(before: str, inside: str, context: dict[str, object]) -> None:
    text = f"{before}${{{inside}}}"
    meter = Meter(SMALL)
    try:
        to_json(Template.parse(text).render(context, moment=MOMENT, meter=meter), meter)
    except ExpressionError as error:
        _is_clear(error, text)


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Draw a call of any function with arguments of any kind."""
    function = FUNCTIONS[draw(st.sampled_from(sorted(FUNCTIONS)))]
    overload = draw(st.sampled_from(function.overloads))
    arguments = [draw(st.sampled_from(ARGUMENTS)) for _ in overload.parameters]
    if arguments and function.style == "method":
        return f"({arguments[0]}).{function.name}({', '.join(arguments[1:])})"
    return f"{function.name}({', '.join(arguments)})"


ARGUMENTS = (
    "input", "x", "a", "input.a", "[input, x]", "[x, a]", "{'a': x}", "string(1)", "'a'", "''", "'%s%d%.3f%x'", "'UTC'",
    "1", "-1", "0", "9223372036854775807", "1.5", "0.0/0.0", "1.0/0.0", "true", "null", "[]", "{}", "[1, 2, 1]",
    "['a', 'b']", "timestamp(0)", "duration('1s')", "now()", "'(a|b)*'", "'{\"a\": [1, 2]}'",
)  # fmt: skip


@fuzz
@given(calls(), contexts)
def test_any_call_on_any_data_is_a_value_or_an_error(source: str, context: dict[str, object]) -> None:
    expression = _parse(source)
    assert expression is not None
    _run(expression, context)
