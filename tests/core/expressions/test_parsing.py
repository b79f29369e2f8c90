"""The syntax of expressions."""

from __future__ import annotations

import pytest

from layover.core.expressions import ExpressionError, ExpressionLimits, parse

from .evaluation import value


def _refusal(source: str, limits: ExpressionLimits | None = None) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(source, limits or ExpressionLimits())
    return caught.value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("100 / 10 / 5", 2),
        ("2 * 3 % 4", 2),
        ("1 + 1 == 2 && 2 < 3 || false", True),
        ("true || false && false", True),
        ("1 < 2 == true", True),
        ("!true == false", True),
        ("!!true", True),
        ("--1", 1),
        ("-(-1)", 1),
        ("- 1 + 2", 1),
        ("-9223372036854775808", -(2**63)),
        ("0xff", 255),
        ("-0x10", -16),
        ("007", 7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.5E-1", 0.15),
        ("true ? 1 : false ? 2 : 3", 1),
        ("1 in [1] in [true]", True),
        ("[1, 2,]", [1, 2]),
        ("{'a': 1,}", {"a": 1}),
        ("[,]", []),
        ("{,}", {}),
        ("1 // the rest is a comment", 1),
        (" \t\r\n1\n", 1),
        ("{'a-b': 1}.`a-b`", 1),
        ("{'if': 1}.if", 1),
        (r"'\x41\u00e9\U0001F600\101\n\'\?'", "Aé😀A\n'?"),
        (r"r'\n\x'", r"\n\x"),
        ("'''it's\n'''", "it's\n"),
        ('"""a "b" c"""', 'a "b" c'),
        ("'''a\r\nb\rc'''", "a\nb\nc"),
        ("r'''a\r\nb'''", "a\nb"),
        ("'''a\r\\r'''", "a\n\r"),
        ("'a' + \"b\"", "ab"),
        ("[1].map(x, .x)", [7]),
    ],
)
def test_expressions_parse_as_in_cel(source: str, expected: object) -> None:
    found = value(source, {"x": 7})
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("source", "offset", "words"),
    [
        ("", 0, "ends too early"),
        ("1 +", 3, "ends too early"),
        ("(1", 2, "`)` is missing"),
        ("1 2", 2, "`2` is not expected"),
        ("a b", 2, "`b` is not expected"),
        ("a.", 2, "a name is missing"),
        ("a.in", 2, "a name is missing"),
        ("f(1,)", 4, "an argument is missing"),
        ("a & b", 2, "Did you mean `&&`?"),
        ("a = b", 2, "Did you mean `==`?"),
        ("#", 0, "no meaning"),
        ("é", 0, "no meaning"),
        ("'abc", 0, "never closed"),
        ("'a\nb'", 0, "never closed"),
        (r"'\q'", 1, "not a valid escape"),
        (r"'\ud800'", 1, "not a valid escape"),
        (r"'\400'", 1, "not a valid escape"),
        ("9223372036854775808", 0, "64 bits"),
        ("1_000", 1, "A number ends"),
        ("1u", 1, "Unsigned"),
        ("b'abc'", 0, "Bytes"),
        ("a.?b", 2, "default"),
        ("a[?'b']", 1, "default"),
        ("[?a]", 1, "Optional"),
        ("{?'a': 1}", 1, "Optional"),
        ("Point{x: 1}", 5, "Messages"),
        ("a.Point{x: 1}", 7, "Messages"),
        ("while", 0, "reserved"),
        ("true ? true ? 1 : 2 : 3", 12, "`:` is missing"),
        ("has(a)", 4, "checks a field"),
        ("[1].all(1, true)", 8, "plain name"),
        ("[1].map(a.b, true)", 9, "plain name"),
        ("-!true", 1, "not expected"),
    ],
)
def test_a_syntax_error_has_the_offset_of_the_fault(source: str, offset: int, words: str) -> None:
    refusal = _refusal(source)
    assert refusal.code == "expression_syntax"
    assert refusal.offset == offset
    assert words in refusal.message


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100 + "1" + ")" * 100,
        "[" * 100 + "]" * 100,
        "a" + ".b" * 100,
        "a" + "[0]" * 100,
        "a" + ".trim()" * 100,
        "1 == " * 100 + "1",
        "true ? 1 : " * 100 + "1",
        "f(" * 100 + ")" * 100,
        "1+" * 5_000 + "1",
        "[" + "1," * 5_000 + "1]",
        "1" * 20_000,
        "a || b && c == d + e * (" * 40 + "1" + ")" * 40,
    ],
)
def test_an_expression_that_is_too_large_is_refused(source: str) -> None:
    assert _refusal(source).code == "expression_too_large"


def test_chains_are_wide_and_not_deep() -> None:
    assert value(" + ".join(["1"] * 2_000)) == 2_000
    assert value(" && ".join(["true"] * 2_000)) is True
    assert value("!" * 2_000 + "true") is True


def test_the_work_of_parsing_is_in_proportion_to_the_text() -> None:
    short, long = parse("+".join(["a"] * 10)), parse("+".join(["a"] * 1_000))
    assert long.steps <= short.steps * 110


@pytest.mark.parametrize(
    ("source", "roots"),
    [
        ("input.total > vars.limit", {"input", "vars"}),
        ("input.lines.map(line, line.qty * factor)", {"input", "factor"}),
        ("item.all(item, item > 1)", {"item"}),
        ("[1].all(x, .x == x)", {"x"}),
        ("size([1])", set()),
    ],
)
def test_an_expression_knows_the_roots_it_reads(source: str, roots: set[str]) -> None:
    assert parse(source).roots == roots


def test_limits_cannot_promise_more_depth_than_python_has() -> None:
    with pytest.raises(ValueError, match="deeper"):
        ExpressionLimits(depth=100_000)
