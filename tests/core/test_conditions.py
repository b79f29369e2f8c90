"""Conditions: their syntax, and the documents that fulfil them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.conditions import (
    ROOTS,
    InvalidCondition,
    Operator,
    PathCondition,
    as_containment,
    contains_value,
    holds,
    parse_condition,
)
from layover.core.input_index import read_document

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATORS: tuple[Operator, ...] = ("=", "!=", ">", ">=", "<", "<=", "~")


@pytest.mark.parametrize(
    ("text", "path", "op", "value"),
    [
        ("input.total=12", ("input", "total"), "=", 12),
        ("input.total != 12.50", ("input", "total"), "!=", Decimal("12.5")),
        (" input . total >= -1e2 ", ("input", "total"), ">=", Decimal(-100)),
        ("output<=7", ("output",), "<=", 7),
        ("vars.name>m", ("vars", "name"), ">", "m"),
        ('trigger.by<"12"', ("trigger", "by"), "<", "12"),
        ("nodes.review.by~ann", ("nodes", "review", "by"), "~", "ann"),
        ("nodes.review=null", ("nodes", "review"), "=", None),
        ("input.a=", ("input", "a"), "=", ""),
        ("input.a=x=y", ("input", "a"), "=", "x=y"),
        ('input.a="=y"', ("input", "a"), "=", "=y"),
        ("input.a=True", ("input", "a"), "=", "True"),
        ("input.a=true", ("input", "a"), "=", True),
        ("input.a=1 2", ("input", "a"), "=", "1 2"),
        ("input.a=NaN", ("input", "a"), "=", "NaN"),
        ('input.a={"b": [1]}', ("input", "a"), "=", {"b": [1]}),
        ("input.items.0.sku=A-1", ("input", "items", "0", "sku"), "=", "A-1"),
        ('input."a.b"."c=\\"d"=1', ("input", "a.b", 'c="d'), "=", 1),
        ("input.größe=ß", ("input", "größe"), "=", "ß"),
        ("input.two words=x\ny", ("input", "two words"), "=", "x\ny"),
    ],
)
def test_a_condition_is_a_path_an_operator_and_a_value(
    text: str, path: tuple[str, ...], op: str, value: object
) -> None:
    found = parse_condition(text)
    assert (found.path, found.op, found.value) == (path, op, value)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a condition: write it like `input.total>=12`"),
        ("input.total", "is not a condition"),
        ("=1", "is not a condition"),
        ("input..a=1", "is not a condition"),
        (".input=1", "is not a condition"),
        ("input.a!1", "is not a condition"),
        ("input. =1", "a name is missing"),
        ('input.""=1', "a name is missing"),
        ('input."\\x"=1', "not a valid JSON string"),
        ('input."a=1', "is not a condition"),
        ("total=12", "begins with one of input, output, vars, trigger, nodes, and not with `total`"),
        ("Input.total=12", "and not with `Input`"),
        ("nodes=1", "the id of a node"),
        ("input.a==1", "one `=` is enough"),
        ("input.a=>1", "`=>` is no operator; they are =, !=, >=, <=, >, <, ~"),
        ("input.a=<1", "`=<` is no operator"),
        ("input.a<>1", "`<>` is no operator"),
        ("input.a=~b", "`=~` is no operator"),
        ("input.a>=>1", "`>=>` is no operator"),
        ("input.items[0].sku=1", "named by its number, as in `input.items.0.sku`"),
        ('input["a"]=1', "is not a condition"),
        ("input.a=1e999", "the number 1e999 is too large"),
        ("input.a=[1e-999]", "is too large"),
        ('input.a="\\u0000"', "has the character"),
        ("input.a=\0", "has the character"),
        ("input.a=\ud800", "half a character"),
        ("input.a=" + "[" * 40 + "]" * 40, "deeper than 32"),
        ("input.a=" + "x" * 8_192, "at most 8,192 characters"),
        ("input.a=" + "ü" * 5_000, "at most 8,192 can be searched for"),
    ],
    ids=lambda value: value[:20].encode(errors="replace").decode(),
)
def test_an_invalid_condition_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InvalidCondition, match=why) as refused:
        parse_condition(text)
    assert refused.value.code == "invalid_filter"
    assert len(refused.value.message) < 300


@given(st.text(alphabet='inputodes.=!<>~" \\{}[]01ae"', max_size=30) | st.text(max_size=20))
def test_any_text_is_a_condition_or_is_refused(text: str) -> None:
    try:
        found = parse_condition(text)
    except InvalidCondition:
        return
    assert found.path[0] in ROOTS
    assert all(found.path)
    assert holds(found, {}) == (found.op == "!=")


DATA = {
    "input": {
        "n": 12,
        "f": 0.1,
        "big": 12345678901234567890,
        "yes": True,
        "none": None,
        "text": "größe",
        "list": [1, "b", {"c": 2.5, "d": 1}],
        "0": "zero",
        "inf": float("inf"),
    }
}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "n=12",
            "n=12.0",
            "n=1.2e1",
            "n>=12",
            "n<=12",
            "n>11.99",
            "n<12.01",
            "n!=13",
            'n!="12"',
            "n!=true",
            "n!=null",
        ),
        *("f=0.1", "f>=0.1", "f<=0.10", "f!=0.1000000000000000055511151231257827", "f>0.09", "f<0.11"),
        *("big=12345678901234567890", "big!=12345678901234567891", "big<12345678901234567890.5"),
        *("yes=true", "yes!=1", "yes!=false", "none=null", "none!=0", "none!=false", 'none!=""'),
        *("text=größe", "text>gr", "text<h", "text>=größe", "text<=größe", "text~ö", "text~", "text!=grosse"),
        *("list=[1]", 'list=["b", 1]', 'list=[{"c": 2.5}]', "list=[]", "list!=[2]", "list~1", "list~b", "list~1.0"),
        *('list~{"c": 2.5}', "list.0=1", "list.2.c<3", "list.2.c=2.5", "list.3!=1", "list!=1", "list!={}"),
        *("0=zero", "nothing!=null", "n.m!=1", "text.0!=g", 'inf!="inf"', "inf!=1"),
    ],
)
def test_condition_holds(text: str) -> None:
    assert holds(parse_condition(f"input.{text}"), DATA)


@pytest.mark.parametrize(
    "text",
    [
        *("n=13", 'n="12"', "n>12", "n<12", 'n>"1"', "n>=true", "n~1", "n=null", "n!=12.0", "n={}", "n=[]", "n=[12]"),
        *("yes=1", "yes>=0", "yes>=true", "yes<=true", "none>=null", "none=0", "none~", "f!=0.1"),
        *("text=gr", "text>größe", "text>=h", "text<1", "text~[]", "text=null"),
        *("list=[2]", "list=1", "list~true", "list~c", "list>=[1]", "list.-1=1", "list.00=1", "list.3=1", "list.x=1"),
        *("nothing=null", "nothing>=0", "nothing~", "n.m=1", "text.0=g", "inf>1", "inf<1", "inf=1"),
    ],
)
def test_condition_does_not_hold(text: str) -> None:
    assert not holds(parse_condition(f"input.{text}"), DATA)


# A state has numbers as floats; a store has numbers as they are written.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.1, 0.5, -0.0, 1.0, 2.0, 1e300, 12345678901234567890])
    | st.sampled_from(["", "a", "b", "ab", "1", "true", "é", "😀"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "0"]), inner, max_size=3),
    max_leaves=8,
)
PATHS = st.lists(st.sampled_from(["a", "b", "0", "1"]), max_size=3)


def condition_of(path: list[str], op: Operator, value: object) -> PathCondition:
    found = parse_condition(f"{'.'.join(['input', *path])}{op}{json.dumps(value)}")
    assert (found.path, found.op) == (("input", *path), op)
    return found


@given(VALUES, PATHS, st.sampled_from(OPERATORS), VALUES)
def test_stored_documents_and_states_fulfil_the_same_conditions(
    data: object, path: list[str], op: Operator, value: object
) -> None:
    condition = condition_of(path, op, value)
    kept = read_document(json.dumps(data).encode())
    assert holds(condition, {"input": data}) == holds(condition, {"input": kept})


@given(VALUES, PATHS, VALUES)
def test_the_operators_agree_with_each_other(data: object, path: list[str], value: object) -> None:
    document = {"input": data}

    def is_so(op: Operator) -> bool:
        return holds(condition_of(path, op, value), document)

    assert is_so("!=") != is_so("=")
    assert not (is_so("<") and is_so(">"))
    if is_so("<=") or is_so(">="):  # of one kind that has an order
        assert is_so("<=") == (is_so("<") or is_so("="))
        assert is_so(">=") == (is_so(">") or is_so("="))
        assert is_so("<") + is_so("=") + is_so(">") == 1
    else:
        assert not is_so("<")
        assert not is_so(">")


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}


@given(st.sampled_from(sorted(ORDERS)), st.text(max_size=4), st.text(max_size=4))
def test_texts_are_in_the_order_of_their_characters(op: Operator, one: str, other: str) -> None:
    found = PathCondition(path=("input",), op=op, value=other)
    assert holds(found, {"input": one}) == ORDERS[op]([ord(c) for c in one], [ord(c) for c in other])


@given(VALUES, st.lists(st.tuples(PATHS, st.sampled_from(["=", "=", "=", ">", "!="]), VALUES), max_size=4))
def test_containment_is_equivalent_to_the_conditions(
    data: object, asked: list[tuple[list[str], Operator, object]]
) -> None:
    conditions = [condition_of(path, op, value) for path, op, value in asked]
    document, others = as_containment(conditions)
    expected = all(holds(condition, {"input": data}) for condition in conditions)
    contains = not document or contains_value(data, document)
    assert (contains and all(holds(condition, {"input": data}) for condition in others)) == expected


def test_conditions_that_an_index_can_answer_become_containment() -> None:
    texts = ["input.a.b=1", "input.a.c=x", "input.d>1", 'input={"e": true}', "input.a.b=1.0", "vars.f=1", "input.g.0=1"]
    document, others = as_containment(map(parse_condition, texts))
    assert document == {"a": {"b": 1, "c": "x"}, "e": True}
    assert list(others) == [parse_condition(text) for text in ("input.d>1", "vars.f=1", "input.g.0=1")]
    document, others = as_containment(map(parse_condition, ["input.a=1", "input.a=2", "input.b=[1]", "input.b=[2]"]))
    assert document == {"a": 1, "b": [1]}
    assert list(others) == [parse_condition(text) for text in ("input.a=2", "input.b=[2]")]
