"""Arithmetic, comparison, logic, and missing data."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict, UserList, defaultdict

import pytest

from .evaluation import code, error, value

MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("1 + 1.5", 2.5),
        ("2 * 1.5", 3.0),
        ("3 - 0.5", 2.5),
        ("3 / 2.0", 1.5),
        ("-x", -5),
        ("x + x - x * x", -15),
        ("1.0 / 0.0", math.inf),
        ("-1.0 / 0.0", -math.inf),
        ("1 / -0.0", -math.inf),
        ("'a' + 'b' + 'c'", "abc"),
        ("[1] + [2] + [3]", [1, 2, 3]),
        ("1 < 1.5", True),
        ("9007199254740993 > 9007199254740992.0", True),
        ("'a' < 'b'", True),
        ("false < true", True),
        ("x >= 5 && 5 <= x && x > 4 && 6 > x", True),
        ("1 == 1.0", True),
        ("1 == true", False),
        ("0 == false", False),
        ("null == false", False),
        ("null == null", True),
        ("'1' == 1", False),
        ("[1, [2]] == [1.0, [2.0]]", True),
        ("[1] == [true]", False),
        ("{'a': [1]} == {'a': [1.0]}", True),
        ("{'a': 1} == {'b': 1}", False),
        ("{'a': 1} != {'a': 1, 'b': 2}", True),
        ("{1: 2} == {true: 2}", False),
        ("[1] == {'a': 1}", False),
        ("1 in [1.0]", True),
        ("true in [1]", False),
        ("[1] in [[1.0]]", True),
        ("x in [1, 5]", True),
        ("x in ['a', 'b']", False),
        ("'a' in {'a': 1}", True),
        ("1 in {true: 1}", False),
        ("1.0 in {1: 2}", True),
        ("{1: 'a'}[1.0]", "a"),
        ("{true: 'a'}[true]", "a"),
        ("[1, 2][1.0]", 2),
        ("duration('1h') + duration('30m') == duration('90m')", True),
        ("timestamp(0) + duration('1s') == timestamp(1)", True),
        ("duration('1s') + timestamp(0) == timestamp(1)", True),
        ("timestamp(1) - timestamp(0) == duration('1s')", True),
        ("timestamp(1) - duration('1s') == timestamp(0)", True),
        ("timestamp(0) == duration('0s')", False),
        ("x > 4 ? 'yes' : 'no'", "yes"),
    ],
)
def test_operators_give_the_results_of_cel(source: str, expected: object) -> None:
    found = value(source, {"x": 5})
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("9223372036854775807 + 1", "overflow"),
        ("-9223372036854775807 - 2", "overflow"),
        ("9223372036854775807 * 2", "overflow"),
        ("-(-9223372036854775808)", "overflow"),
        ("-9223372036854775808 / -1", "overflow"),
        ("-9223372036854775808 % -1", "overflow"),
        ("big + 1", "overflow"),
        ("big - big", "overflow"),
        ("big * 1.0", "overflow"),
        ("1 / 0", "division_by_zero"),
        ("1 % 0", "division_by_zero"),
        ("1.5 % 2", "no_such_overload"),
        ("'a' + 1", "no_such_overload"),
        ("'a' - 'b'", "no_such_overload"),
        ("{'a': 1} + {'b': 1}", "no_such_overload"),
        ("true + true", "no_such_overload"),
        ("-'a'", "no_such_overload"),
        ("!1", "no_such_overload"),
        ("1 < 'a'", "no_such_overload"),
        ("true < 1", "no_such_overload"),
        ("null < 1", "no_such_overload"),
        ("[1] < [2]", "no_such_overload"),
        ("s > 1", "no_such_overload"),
        ("1 in 'abc'", "no_such_overload"),
        ("null in {'a': 1}", "no_such_overload"),
        ("[1]['a']", "no_such_overload"),
        ("[1][true]", "no_such_overload"),
        ("[1][0.5]", "no_such_overload"),
        ("'abc'[0]", "no_such_overload"),
        ("[1][1]", "out_of_range"),
        ("[1][-1]", "out_of_range"),
        ("{'a': 1}['b']", "no_such_key"),
        ("{'a': 1}[1]", "no_such_key"),
        ("{true: 1}[1]", "no_such_key"),
        ("1 ? 2 : 3", "no_such_overload"),
        ("{1.5: 1}", "invalid_argument"),
        ("{null: 1}", "invalid_argument"),
        ("{'a': 1, 'a': 2}", "invalid_argument"),
        ("{1: 1, true: 2}", "invalid_argument"),
        ("duration('200000h') + duration('2400000h')", "overflow"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "overflow"),
        ("duration('1h') - timestamp(0)", "no_such_overload"),
        ("duration('1h') * 2", "no_such_overload"),
    ],
)
def test_operators_fail_as_cel_fails(source: str, expected: str) -> None:
    assert code(source, {"big": 2**70, "s": "text"}) == expected


def test_nan_equals_nothing() -> None:
    context = {"nan": math.nan}
    for source in ("nan == nan", "nan in [nan]", "[nan] == [nan]", "nan < 1.0", "nan >= 1.0", "1 < nan"):
        assert value(source, context) is False
    assert value("nan != nan", context) is True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 / 0 == 1 || true", True),
        ("true || 1 / 0 == 1", True),
        ("1 / 0 == 1 && false", False),
        ("missing.x && false", False),
        ("input.missing > 1 || input.there", True),
        ("1 && false", False),
        ("'a' || true", True),
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[1, 0].all(x, 1 / x == 5)", False),
        ("[1 / 0 == 1 || true, true].all(x, x)", True),
    ],
)
def test_an_operand_that_decides_outweighs_one_that_fails(source: str, expected: object) -> None:
    assert value(source, {"input": {"there": True}}) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 / 0 == 1 || false", "division_by_zero"),
        ("true && 1 / 0 == 1", "division_by_zero"),
        ("true && 1", "no_such_overload"),
        ("'a' || false", "no_such_overload"),
        ("[1, 0].all(x, 1 / x == 1)", "division_by_zero"),
        ("[1, 0].exists_one(x, 1 / x == 1)", "division_by_zero"),
        ("[1].all(x, x)", "no_such_overload"),
        ("[1].filter(x, x)", "no_such_overload"),
        ("[1].map(x, x, x)", "no_such_overload"),
        ("5.all(x, true)", "no_such_overload"),
        ("'abc'.map(x, x)", "no_such_overload"),
    ],
)
def test_an_error_that_nothing_decides_is_raised(source: str, expected: str) -> None:
    assert code(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[1, 2].all(x, x > 0)", True),
        ("[].all(x, false)", True),
        ("[].exists(x, true)", False),
        ("[1, 2, 3].exists_one(x, x > 2)", True),
        ("[1, 2, 3].exists_one(x, x > 1)", False),
        ("[1, 2, 3].filter(x, x > 1)", [2, 3]),
        ("[1, 2, 3].map(x, x * 2)", [2, 4, 6]),
        ("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]),
        ("{'a': 1, 'b': 2}.filter(k, k != 'a')", ["b"]),
        ("[[1, 2], [3]].map(l, l.map(i, i + size(l)))", [[3, 4], [4]]),
        ("[1, 2].map(x, [10].map(x, x))", [[10], [10]]),
        ("[1, 2].map(x, [3, 4].map(y, x * y))", [[3, 4], [6, 8]]),
        ("[{'q': 2}].map(x, x.q)", [2]),
    ],
)
def test_comprehensions_bind_a_variable(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected", "offset", "message"),
    [
        ("nodes.review.comment", "no_such_key", 12, "`nodes.review.comment`: there is no `comment` in `nodes.review`."),
        ('nodes["no-such"].x', "no_such_key", 5, '`nodes["no-such"]`: there is no `no-such` in `nodes`.'),
        ("nodes.gone.x", "no_such_key", 10, "`nodes.gone.x`: `nodes.gone` is null and has no fields."),
        ("nodes.review.by.x", "no_such_overload", 15, "`nodes.review.by.x`: `nodes.review.by` is of kind string"),
        ("noodles.x", "no_such_key", 0, "There is no `noodles` here."),
        ("noodles", "no_such_key", 0, "There is no `noodles` here."),
        ("nodes.review.__class__", "no_such_key", 12, "there is no `__class__`"),
        ("[nodes].map(n, n.review.x)", "no_such_key", 23, "`n.review.x`: there is no `x` in `n.review`."),
        ("has(nodes.nope.x)", "no_such_key", 9, "there is no `nope`"),
        ("nodes.list[7]", "out_of_range", 10, "`nodes.list[7]`: there is no element 7 in a list of 1"),
        ("nodes[k]", "no_such_key", 5, "`nodes[k]`: there is no key `key` here."),
        ("nodes.gone[0]", "no_such_key", 10, "`nodes.gone[0]`: null has no elements."),
        ("has(nodes.list.x)", "no_such_overload", 14, "`nodes.list.x`: `nodes.list` is of kind list"),
        ("5 < nodes.review.by", "no_such_overload", 2, "`<` has no meaning for (int, string)."),
        ("nodes.review.by < 5", "no_such_overload", 16, "`<` has no meaning for (string, int)."),
        ("true < nodes.review.by", "no_such_overload", 5, "`<` has no meaning for (bool, string)."),
        ("1 + (2 + 'a')", "no_such_overload", 7, "`+` has no meaning for (int, string)."),
        ("'a'.contains(1)", "no_such_overload", 4, "`contains` has no meaning for (string, int)."),
    ],
)
def test_an_error_has_a_message_and_an_offset(source: str, expected: str, offset: int, message: str) -> None:
    found = error(source, {"nodes": {"review": {"by": "ann"}, "gone": None, "list": [1]}, "k": "key"})
    assert (found.code, found.offset) == (expected, offset)
    assert message in found.message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("default(input.x, 1)", 1),
        ("default(input.x.y.z, 1)", 1),
        ("default(input.empty, 1)", 1),
        ("default(input.empty.x, 1)", 1),
        ("default(input.list[5], 1)", 1),
        ("default(nothing, 1)", 1),
        ("default(input.there, 1)", 2),
        ("default(input.x, default(input.y, 3))", 3),
        ("has(input.there)", True),
        ("has(input.empty)", True),
        ("has(input.x)", False),
    ],
)
def test_has_and_default_handle_missing_fields(source: str, expected: object) -> None:
    assert value(source, {"input": {"there": 2, "empty": None, "list": []}}) == expected


def test_default_lets_other_errors_pass() -> None:
    assert code("default(1 / 0, 1)") == "division_by_zero"
    assert code("default('a' + 1, 1)") == "no_such_overload"


def test_data_need_not_be_dicts_and_lists() -> None:
    context = UserDict({"input": OrderedDict(lines=UserList([{"qty": 2}]), pair=(1, 2)), "d": defaultdict(list)})
    assert value("input.lines[0].qty + size(input.lines)", context) == 3
    assert value("input.pair == [1, 2] && 2 in input.pair", context) is True
    assert value("input.lines.map(l, l.qty)", context) == [2]
    assert value("has(input.x) || 'x' in input", context) is False
    assert code("d.x", context) == "no_such_key"
    assert context["d"] == {}


def test_a_foreign_object_has_no_fields() -> None:
    context = {"input": {"object": object(), "bytes": b"abc"}}
    assert code("input.object.__class__", context) == "no_such_overload"
    assert code("input.bytes[0]", context) == "no_such_overload"
    assert code("size(input.bytes)", context) == "no_such_overload"
    assert value("input.object == input.object", context) is False
