"""Problems that are found before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from layover.core.expressions import (
    BOOL,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NUMBER,
    STRING,
    TIMESTAMP,
    ListOf,
    MapOf,
    RecordType,
    Type,
    check,
    compile_expression,
    parse,
    type_of_schema,
)

REVIEW = RecordType({"approved": BOOL, "by": STRING, "comment": DYN})
SCOPE: dict[str, Type] = {
    "input": RecordType(
        {
            "id": STRING,
            "total": NUMBER,
            "count": INT,
            "due": TIMESTAMP,
            "lines": ListOf(RecordType({"sku": STRING, "qty": INT}, open=False)),
            "labels": MapOf(STRING),
        },
        open=False,
    ),
    "nodes": RecordType({"review": REVIEW, "delay-node": DYN}, open=False, noun="node"),
    "vars": RecordType({"paid": BOOL}, open=True, noun="variable"),
    "item": DYN,
}


def _check(source: str) -> tuple[Type, list[tuple[str, int | None, str]]]:
    result, problems = check(parse(source), SCOPE)
    return result, [(problem.code, problem.offset, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("input.total > 1000 && item.kind in ['a', 'b']", BOOL),
        ("input.total", NUMBER),
        ("input.count + 1", INT),
        ("input.count + 1.5", DOUBLE),
        ("input.total * 2", NUMBER),
        ("-input.count", INT),
        ("input.id + 'x'", STRING),
        ("input.due + duration('1h')", TIMESTAMP),
        ("input.due - input.due", DURATION),
        ("item + 1", NUMBER),
        ("item", DYN),
        ("item.x.y[0].z", DYN),
        ("nodes.review.by", STRING),
        ('nodes["review"].by', STRING),
        ("nodes.review.other", DYN),
        ('nodes["delay-node"].x', DYN),
        ("vars.anything", DYN),
        ("has(vars.anything)", BOOL),
        ("default(vars.anything, 1)", DYN),
        ("default(input.count, 1)", INT),
        ("default(null, 'a')", STRING),
        ("input.lines.map(l, l.qty)", ListOf(INT)),
        ("input.lines.filter(l, l.qty > 1)[0].sku", STRING),
        ("input.lines.all(l, l.qty > 1)", BOOL),
        ("input.labels.x", STRING),
        ("input.labels.map(k, k)", ListOf(DYN)),
        ("[1, 2]", ListOf(INT)),
        ("[1, 2.5]", ListOf(NUMBER)),
        ("[1, 'a']", ListOf(DYN)),
        ("[1] + [2]", ListOf(INT)),
        ("{1: 'a'}", MapOf(STRING)),
        ("true ? 1 : 2", INT),
        ("true ? 1 : 'a'", DYN),
        ("'a,b'.split(',')", ListOf(STRING)),
        ("size(item)", INT),
        ("max(1, 2)", INT),
        ("max([1.5])", DOUBLE),
        ("sort(input.lines.map(l, l.sku))", ListOf(STRING)),
        ("round(input.count)", INT),
        ("1 == 'a'", BOOL),
        ("1 == 1.0 || null == 1", BOOL),
        ("string(item).size()", INT),
    ],
)
def test_a_sound_expression_has_a_type_and_no_problems(source: str, expected: Type) -> None:
    assert _check(source) == (expected, [])


@pytest.mark.parametrize(
    ("source", "code", "offset", "message"),
    [
        ("inptu.total", "expression_unknown_name", 0, "There is no `inptu` here. Did you mean `input`?"),
        (
            "nodes.reviw.by",
            "expression_unknown_name",
            5,
            "`nodes.reviw`: there is no node `reviw` here. Did you mean `review`?",
        ),
        (
            'nodes["reviw"]',
            "expression_unknown_name",
            5,
            '`nodes["reviw"]`: there is no node `reviw` here. Did you mean `review`?',
        ),
        ("nodes.zzzzzz", "expression_unknown_name", 5, "`nodes.zzzzzz`: there is no node `zzzzzz` here."),
        (
            "nodes.delay",
            "expression_unknown_name",
            5,
            '`nodes.delay`: there is no node `delay` here. Did you mean `nodes["delay-node"]`?',
        ),
        (
            "has(input.totl)",
            "expression_unknown_name",
            9,
            "`input.totl`: there is no field `totl` here. Did you mean `total`?",
        ),
        (
            "default(input.totl, 1)",
            "expression_unknown_name",
            13,
            "`input.totl`: there is no field `totl` here. Did you mean `total`?",
        ),
        (
            "input.lines.map(l, l.quantity)",
            "expression_unknown_name",
            20,
            "`l.quantity`: there is no field `quantity` here.",
        ),
        (
            "input.lines.map(line, lin.qty)",
            "expression_unknown_name",
            22,
            "There is no `lin` here. Did you mean `line`?",
        ),
        ("sise(item)", "expression_unknown_name", 0, "There is no function `sise`. Did you mean `size`?"),
        (
            "item.containz('a')",
            "expression_unknown_name",
            5,
            "There is no function `containz`. Did you mean `contains`?",
        ),
        ("contains(item, 'a')", "expression_unknown_name", 0, "`contains` is called as `x.contains(…)`."),
        ("item.sum()", "expression_unknown_name", 5, "`sum` is called as `sum(item)`."),
        ("size()", "expression_unknown_name", 0, "`size` does not take 0 arguments."),
        ("item.filter(item)", "expression_unknown_name", 5, "`filter` is written `list.filter(x, condition)`."),
        ("{'a': 1}.total", "expression_unknown_name", 8, "`….total`: there is no key `total` here."),
        ("item.__class__ + __class__", "expression_unknown_name", 17, "There is no `__class__` here."),
        ("input.total.x", "expression_type", 11, "`input.total` is a number and has no field `x`."),
        ("input.id > 1", "expression_type", 9, "`>` has no meaning for (string, int)."),
        ("input.id + 1", "expression_type", 9, "`+` has no meaning for (string, int)."),
        ("input.total % 1.5", "expression_type", 12, "`%` has no meaning for (number, double)."),
        ("input.id && true", "expression_type", 5, "`&&` needs a bool, not a string."),
        ("!input.count", "expression_type", 0, "`!` needs a bool, not an int."),
        ("-input.id", "expression_type", 0, "`-` needs a number, not a string."),
        ("input.count ? 1 : 2", "expression_type", 12, "`?:` needs a bool, not an int."),
        ("1 in input.id", "expression_type", 2, "`in` has no meaning for (int, string)."),
        ("null in {'a': 1}", "expression_type", 5, "`in` has no meaning for (null, map)."),
        ("input.lines['a']", "expression_type", 11, "`[]` has no meaning for (list, string)."),
        ("input.count[0]", "expression_type", 11, "`[]` has no meaning for (int, int)."),
        ("input.count.all(x, true)", "expression_type", 12, "`all` needs a list or a map, not an int."),
        ("input.lines.filter(l, l.qty)", "expression_type", 23, "`filter` needs a bool, not an int."),
        ("input.count.contains('a')", "expression_type", 12, "`contains` has no meaning for (int, string)."),
        ("{1.5: 1}", "expression_type", 1, "The key of a map cannot be a double."),
    ],
)
def test_a_problem_is_named_where_it_is(source: str, code: str, offset: int, message: str) -> None:
    assert _check(source)[1] == [(code, offset, message)]


def test_all_problems_are_found_at_once_in_their_order() -> None:
    _, problems = _check("inptu.x > 1 && nodes.reviw.by == 'a' || nope(input.totl)")
    assert [offset for _, offset, _ in problems] == [0, 20, 40, 50]


def test_fields_may_be_found_lazily() -> None:
    class Lazy(Mapping[str, Type]):
        def __init__(self) -> None:
            self.asked: list[str] = []

        def __getitem__(self, name: str) -> Type:
            self.asked.append(name)
            if name == "review":
                return REVIEW
            raise KeyError(name)

        def __iter__(self) -> Iterator[str]:
            return iter(["review"])

        def __len__(self) -> int:
            return 1

    lazy = Lazy()
    scope = {"nodes": RecordType(lazy, open=False, noun="node")}
    assert check(parse("nodes.review.by"), scope) == (STRING, [])
    assert lazy.asked == ["review"]
    assert "Did you mean `review`?" in check(parse("nodes.revew"), scope)[1][0].message


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, STRING),
        ({"type": "integer"}, NUMBER),
        ({"type": "boolean"}, BOOL),
        ({"type": "array", "items": {"type": "string"}}, ListOf(STRING)),
        ({"type": "array"}, ListOf(DYN)),
        ({"type": "object", "additionalProperties": {"type": "number"}}, MapOf(NUMBER)),
        ({"type": ["string", "null"]}, DYN),
        ({"$ref": "#/x", "type": "string"}, DYN),
        ({"anyOf": [{"type": "string"}]}, DYN),
        ({"type": "unheard of"}, DYN),
        ({"type": 5}, DYN),
        ({}, DYN),
        (True, DYN),
        (None, DYN),
        ("string", DYN),
    ],
)
def test_a_schema_promises_a_type(schema: object, expected: Type) -> None:
    assert type_of_schema(schema) == expected


def test_an_object_schema_is_a_record() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, 5: {}}, "additionalProperties": False}
    record = type_of_schema(schema)
    assert isinstance(record, RecordType)
    assert (dict(record.fields), record.open) == ({"id": STRING}, False)
    loose = type_of_schema({"type": "object", "properties": {"id": True}})
    assert isinstance(loose, RecordType)
    assert loose.open


def test_a_schema_without_end_has_a_type() -> None:
    schema: dict[str, object] = {"type": "array"}
    schema["items"] = schema
    assert isinstance(type_of_schema(schema), ListOf)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("has({'a': 1}.a)", True),
        ("has({'a': 1}.b)", False),
        ("[{'a': 1}].all(m, has(m.b))", False),
        ("default({'a': 1}.b, 2)", 2),
    ],
)
def test_default_may_cover_a_field_that_a_literal_map_lacks(source: str, expected: object) -> None:
    assert _check(source)[1] == []
    assert compile_expression(parse(source)).evaluate({}) == expected


def test_a_field_that_a_written_map_lacks_cannot_be_read() -> None:
    assert [code for code, _, _ in _check("{'a': 1}.b")[1]] == ["expression_unknown_name"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("next('0 8 * *')", "five fields"),
        ("next('0 0 30 2 *', 'Europe/Berlin')", "can never happen"),
        ("next('@daily', 'Europe/Bielefeld')", "is not a time zone"),
    ],
)
def test_a_cron_line_or_a_zone_that_does_not_exist_is_reported(source: str, said: str) -> None:
    (problem,) = check(parse(source), SCOPE)[1]
    assert problem.code == "expression_type"
    assert said in problem.message


def test_a_cron_line_from_data_is_left_to_the_evaluation() -> None:
    assert not check(parse("next(input.id)"), SCOPE)[1]
