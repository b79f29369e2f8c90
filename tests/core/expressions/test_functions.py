"""Every function: its results, and its refusals."""

from __future__ import annotations

import math
import re

import pytest

from layover.core.expressions import FUNCTIONS, Duration, ExpressionTime, Timestamp, compile_expression, parse

from .evaluation import code, value

RESULTS: list[tuple[str, object]] = [
    ("size('aé😀')", 3),
    ("size({'a': 1})", 1),
    ("[1, 2].size()", 2),
    ("'abc'.contains('')", True),
    ("'abc'.startsWith('ab')", True),
    ("'abc'.endsWith('ab')", False),
    ("'abc'.matches('b')", True),
    ("matches('abc', '^b')", False),
    ("'é'.matches('^.$')", True),
    ("text.matches(pattern)", True),
    ("'ÀBc'.lowerAscii()", "Àbc"),
    ("'àbC'.upperAscii()", "àBC"),
    (r"'\u00a0\u2003a\u200b\u3000'.trim()", "a\u200b"),
    ("'abc'.reverse()", "cba"),
    ("'a,b,c'.split(',', 0)", []),
    ("'a,b,c'.split(',', 1)", ["a,b,c"]),
    ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
    ("'a,b,c'.split(',', -1)", ["a", "b", "c"]),
    ("'abc'.split('')", ["a", "b", "c"]),
    ("'abc'.split('', 2)", ["a", "bc"]),
    ("''.split(',')", [""]),
    ("[].join(',')", ""),
    ("['a', 'b'].join()", "ab"),
    ("'abc'.replace('', '-')", "-a-b-c-"),
    ("'hello'.replace('l', 'L', 1)", "heLlo"),
    ("'hello'.replace('l', 'L', -1)", "heLLo"),
    ("'hello'.replace('l', '', 9223372036854775807)", "heo"),
    ("'hello'.substring(5)", ""),
    ("'h😀llo'.substring(1, 2)", "😀"),
    ("'hello'.indexOf('l', 3)", 3),
    ("'hello'.indexOf('z')", -1),
    ("'hello'.indexOf('', 5)", 5),
    ("'hello'.lastIndexOf('l', 2)", 2),
    ("'hello'.lastIndexOf('')", 5),
    ("'hello'.lastIndexOf('lo', 3)", 3),
    ("long.lastIndexOf('abcdefghijklmnopqrstuvwxyz')", 52),
    ("long.lastIndexOf('abcdefghijklmnopqrstuvwxyz', 51)", 26),
    ("'abc'.charAt(3)", ""),
    ("'%s %s %s'.format([null, true, [1, 'a', {'b': 2.0}]])", "null true [1, a, {b: 2}]"),
    ("'%s'.format([{'b': 1, 'a': 2}])", "{a: 2, b: 1}"),
    ("'%s %s'.format([timestamp(0), duration('90s')])", "1970-01-01T00:00:00Z 90s"),
    ("'%s'.format([timestamp('2020-01-01T00:00:00.120Z')])", "2020-01-01T00:00:00.12Z"),
    ("'%d %d'.format([5, 1.5])", "5 1.500000"),
    ("'%.2f %f %.0f'.format([2.675, 1, 2.5])", "2.67 1.000000 2"),
    ("'%.3e'.format([1234.5])", "1.234e+03"),
    ("'%b %b %o'.format([-5, true, 8])", "-101 1 10"),
    ("'%x %X %x'.format([255, 255, 'é'])", "ff FF c3a9"),
    ("'%f %e %s'.format(['NaN', 'Infinity', -1e400])", "NaN Infinity -Infinity"),
    ("'100%%'.format([])", "100%"),
    ("int(' -12 ')", -12),
    ("int(-1.9)", -1),
    ("int(timestamp('1969-12-31T23:59:59.5Z'))", -1),
    ("double('1e3')", 1000.0),
    ("double('0x1p3')", 8.0),
    ("double('-inf')", -math.inf),
    ("double(2)", 2.0),
    ("string(1000000.0)", "1e+06"),
    ("string(123456.7)", "123456.7"),
    ("string(0.00001)", "1e-05"),
    ("string(-0.0)", "-0"),
    ("string(0.1 + 0.2)", "0.30000000000000004"),
    ("string(true)", "true"),
    ("string(-5)", "-5"),
    ("string(double('nan'))", "nan"),
    ("string(timestamp('2026-01-02T03:04:05.5Z'))", "2026-01-02T03:04:05.500Z"),
    ("string(duration('-1.5s'))", "-1.500s"),
    ("bool('True')", True),
    ("bool('f')", False),
    ("timestamp(1) == timestamp(timestamp(1))", True),
    ("duration(duration('1s')) == duration('1000ms')", True),
    ("dyn('a')", "a"),
    ("min([3, 1.5, 2])", 1.5),
    ("min('b', 'a')", "a"),
    ("min(4)", 4),
    ("max(duration('1s'), duration('1m')) == duration('1m')", True),
    ("sum([])", 0),
    ("sum([1, 2])", 3),
    ("sum([1, 0.5, 1])", 2.5),
    ("sort([3, 1.5, 2])", [1.5, 2, 3]),
    ("sort([])", []),
    ("sort([true, false])", [False, True]),
    ("distinct([1, 1.0, true, '1', null, null, [1], [1.0], {'a': 1}])", [1, True, "1", None, [1], {"a": 1}]),
    ("round(2.5)", 3),
    ("round(-2.5)", -3),
    ("round(2.4)", 2),
    ("round(7)", 7),
    ("round(2.675, 2)", 2.68),
    ("round(1e300, 2)", 1e300),
    ("json({'b': [1, 1.5, null, true, 'é\"'], 'a': {}})", '{"b":[1,1.5,null,true,"é\\""],"a":{}}'),
    ("json([duration('1s'), timestamp(0)])", '["1s","1970-01-01T00:00:00.000Z"]'),
    ("json({5: []})", '{"5":[]}'),
    ('parseJson(\'[1, 2.5, null, {"a": "b"}]\')', [1, 2.5, None, {"a": "b"}]),
    ("now() == timestamp('2023-11-14T22:13:20.123Z')", True),
    ("next('0 8 * * MON') == timestamp('2023-11-20T08:00:00Z')", True),
    ("next('0 8 * * MON', 'Europe/Berlin') == timestamp('2023-11-20T07:00:00Z')", True),
    ("next('@daily', 'UTC', timestamp('2026-12-31T00:00:00Z')) == timestamp('2027-01-01T00:00:00Z')", True),
    ("next('@hourly', 'UTC', timestamp('0001-01-01T00:00:00Z')) == timestamp(0)", True),
    ("uuid() != uuid()", True),
    ("duration('1h30m').getHours()", 1),
    ("duration('-90m').getHours()", -1),
    ("duration('90m').getMinutes()", 90),
    ("duration('1.5s').getSeconds()", 1),
    ("duration('-1.5s').getMilliseconds()", -500),
    ("timestamp('2024-02-29T12:00:00Z').getDayOfYear()", 59),
    ("timestamp('2026-01-04T00:00:00Z').getDayOfWeek()", 0),
    ("timestamp('2026-07-01T22:30:00Z').getDate('Europe/Berlin')", 2),
    ("timestamp('2026-01-31T23:30:00Z').getMonth('+01:00')", 1),
    ("timestamp('0001-01-01T00:00:00Z').getFullYear('-01:00')", 0),
    ("timestamp('9999-12-31T23:59:59Z').getFullYear('+01:00')", 10000),
    ("timestamp('0001-01-01T00:00:00Z').getMinutes('America/New_York')", 3),
    ("timestamp('2026-01-02T03:04:05.678Z').getMilliseconds('UTC')", 678),
    ("timestamp('2026-01-02T03:04:05Z').getDayOfMonth()", 1),
    ("timestamp('2026-01-02T03:04:05Z').getSeconds('-00:30')", 5),
]

REFUSALS: list[tuple[str, str]] = [
    ("size(1)", "no_such_overload"),
    ("size(null)", "no_such_overload"),
    ("'a'.contains(1)", "no_such_overload"),
    ("[1].startsWith('a')", "no_such_overload"),
    ("'a'.endsWith(null)", "no_such_overload"),
    ("'a'.matches('(')", "invalid_argument"),
    ("text.matches('(' + pattern)", "invalid_argument"),
    ("'a'.matches(1)", "no_such_overload"),
    ("1.matches('a')", "no_such_overload"),
    ("1.lowerAscii()", "no_such_overload"),
    ("1.upperAscii()", "no_such_overload"),
    ("1.trim()", "no_such_overload"),
    ("[1].reverse()", "no_such_overload"),
    ("'a'.split(1)", "no_such_overload"),
    ("['a', 1].join()", "no_such_overload"),
    ("'a'.replace('a', 1)", "no_such_overload"),
    ("'abc'.substring(4)", "invalid_argument"),
    ("'abc'.substring(-1)", "invalid_argument"),
    ("'abc'.substring(2, 1)", "invalid_argument"),
    ("'abc'.indexOf('a', 9)", "invalid_argument"),
    ("'abc'.lastIndexOf('a', -1)", "invalid_argument"),
    ("'abc'.charAt(4)", "invalid_argument"),
    ("'%s'.format([])", "invalid_argument"),
    ("'%5d'.format([1])", "invalid_argument"),
    ("'%'.format([1])", "invalid_argument"),
    ("'%.f'.format([1.0])", "invalid_argument"),
    ("'%.1001f'.format([1.0])", "invalid_argument"),
    ("'%d'.format(['a'])", "invalid_argument"),
    ("'%f'.format([true])", "invalid_argument"),
    ("'%b'.format(['a'])", "invalid_argument"),
    ("'%o'.format([1.5])", "invalid_argument"),
    ("'%x'.format([1.5])", "invalid_argument"),
    ("'%s'.format(1)", "no_such_overload"),
    ("int('1.5')", "invalid_argument"),
    ("int('9223372036854775808')", "invalid_argument"),
    ("int(1e30)", "overflow"),
    ("int(true)", "no_such_overload"),
    ("double('abc')", "invalid_argument"),
    ("double(null)", "no_such_overload"),
    ("string(null)", "no_such_overload"),
    ("string([1])", "no_such_overload"),
    ("bool('yes')", "invalid_argument"),
    ("bool(1)", "no_such_overload"),
    ("timestamp('2026-01-02')", "invalid_argument"),
    ("timestamp('2026-02-29T00:00:00Z')", "invalid_argument"),
    ("timestamp('2026-01-01T00:00:00+24:00')", "invalid_argument"),
    ("timestamp(253402300800)", "overflow"),
    ("timestamp('0000-01-01T00:00:00Z')", "overflow"),
    ("duration('1d')", "invalid_argument"),
    ("duration('')", "invalid_argument"),
    ("duration('1h-1m')", "invalid_argument"),
    ("duration('315576000001s')", "invalid_argument"),
    ("duration(1)", "no_such_overload"),
    ("min([])", "invalid_argument"),
    ("max()", "expression_unknown_name"),
    ("max(1, 'a')", "no_such_overload"),
    ("min([null])", "no_such_overload"),
    ("sum([1, 'a'])", "no_such_overload"),
    ("sum([9223372036854775807, 1])", "overflow"),
    ("sort([1, 'a'])", "no_such_overload"),
    ("sort([double('nan')])", "invalid_argument"),
    ("distinct(1)", "no_such_overload"),
    ("round('a')", "no_such_overload"),
    ("round(1.5, 16)", "invalid_argument"),
    ("round(1e300)", "overflow"),
    ("round(double('nan'))", "overflow"),
    ("json(double('nan'))", "invalid_argument"),
    ("parseJson('{')", "invalid_argument"),
    ("parseJson('" + "[" * 33 + "]" * 33 + "')", "invalid_argument"),
    ("parseJson(1)", "no_such_overload"),
    ("timestamp(0).getHours('Nowhere/City')", "invalid_argument"),
    ("timestamp(0).getHours('../../etc/passwd')", "invalid_argument"),
    ("duration('1h').getFullYear()", "no_such_overload"),
    ("duration('1h').getHours('UTC')", "no_such_overload"),
    ("contains('abc', 'a')", "expression_unknown_name"),
    ("'a'.int()", "expression_unknown_name"),
    ("size(1, 2)", "expression_unknown_name"),
    ("nope(1)", "expression_unknown_name"),
    ("[1].all(x)", "expression_unknown_name"),
    ("dyn()", "expression_unknown_name"),
    ("now(1)", "expression_unknown_name"),
    ("next()", "expression_unknown_name"),
    ("next(1)", "no_such_overload"),
    ("next('0 8 * *')", "invalid_argument"),
    ("next('0 0 30 2 *')", "invalid_argument"),
    ("next('@daily', 'Nowhere/City')", "invalid_argument"),
    ("next('@daily', '+01:00')", "invalid_argument"),
    ("next('@daily', 'UTC', timestamp('9999-12-31T23:00:00Z'))", "invalid_argument"),
    ("[" + ", ".join(["next('@daily')"] * 21) + "]", "budget_exceeded"),
    ("uuid(1)", "expression_unknown_name"),
]
CONTEXT = {"text": "abc", "pattern": "^a.c$", "long": "abcdefghijklmnopqrstuvwxyz" * 3}


@pytest.mark.parametrize(("source", "expected"), RESULTS)
def test_a_function_gives(source: str, expected: object) -> None:
    found = value(source, CONTEXT)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("source", "expected"), REFUSALS)
def test_a_function_refuses(source: str, expected: str) -> None:
    assert code(source, CONTEXT) == expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_result_in_these_tests(name: str) -> None:
    assert any(re.search(rf"\b{name}\(", source) for source, _ in RESULTS)


def test_functions_take_other_sequences_too() -> None:
    assert value("['a', 'b'] + t", {"t": ("c",)}) == ["a", "b", "c"]
    assert value("max(t) + sum(t) + size(t)", {"t": (1, 2)}) == 7


def test_ids_depend_on_the_seed_and_the_call_alone() -> None:
    program = compile_expression(parse("[uuid(), uuid()]"))
    first = program.evaluate({}, ExpressionTime(now=1, seed="a"))
    assert first == program.evaluate({"x": 1}, ExpressionTime(now=2, seed="a"))
    assert first != program.evaluate({}, ExpressionTime(now=1, seed="b"))
    assert isinstance(first, list)
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one) for one in first
    )


def test_time_has_nanoseconds() -> None:
    assert value("timestamp('2026-01-02T03:04:05.123456789Z')") == Timestamp(1_767_323_045_123_456_789)
    assert value("duration('1.000000001s')") == Duration(1_000_000_001)


def test_a_long_integer_in_the_data_is_refused_where_it_cannot_be_used() -> None:
    context = {"big": 10**5000}
    sources = ("string(big)", "double(big)", "int(big)", "'%d'.format([big])", "json(big)", "round(big)")
    assert {code(source, context) for source in sources} == {"overflow"}
    assert code("[1][big]", context) == "out_of_range"
    assert code("'a'.charAt(big)", context) == "invalid_argument"
    assert value("big > 1 && big == big", context) is True
