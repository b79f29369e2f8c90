"""Texts with expressions in them."""

from __future__ import annotations

import pytest

from layover.core.expressions import ExpressionError, ExpressionLimits, Meter, Template, Timestamp

from .evaluation import MOMENT

CONTEXT = {
    "input": {
        "id": "A-1",
        "total": 1234567.5,
        "n": 3,
        "none": None,
        "yes": True,
        "list": [1, "a"],
        "evil": "${input.id}",
    }
}


def _render(text: str) -> object:
    return Template.parse(text).render(CONTEXT, MOMENT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${input.n}", 3),
        ("${ input.list }", [1, "a"]),
        ("${input.none}", None),
        ("${timestamp(0)}", Timestamp(0)),
        (" ${input.n}", " 3"),
        ("${input.n} ", "3 "),
        ("${input.n}${input.n}", "33"),
        ("Order ${input.id} costs ${input.total}", "Order A-1 costs 1234567.5"),
        ("${input.none}!", "!"),
        ("${input.yes}!", "true!"),
        ("${2.0}!", "2!"),
        ("${input.list}!", '[1,"a"]!'),
        ("${timestamp(0)}!", "1970-01-01T00:00:00.000Z!"),
        ("${duration('1h')}!", "3600s!"),
        ("${{'a': {'b': 1}}.a.b}", 1),
        ("${'}'}", "}"),
        ("${'''}'''}", "}"),
        ("${\"}\" + '{'}", "}{"),
        ("${1 // }\n}", 1),
        ("$${input.id}", "${input.id}"),
        ("$$${input.id}", "$${input.id}"),
        ("a$${b}${input.n}", "a${b}3"),
        ("${input.evil}", "${input.id}"),
        ("<${input.evil}>", "<${input.id}>"),
        ("", ""),
        ("no expression: $ { } $5", "no expression: $ { } $5"),
    ],
)
def test_a_template_renders_to(text: str, expected: object) -> None:
    found = _render(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("abc ${input.n", "expression_syntax", 6),
        ("abc ${", "expression_syntax", 6),
        ("abc ${}", "expression_syntax", 6),
        ("abc ${ 1 + }", "expression_syntax", 11),
        ("abc ${ 'x }", "expression_syntax", 7),
        ("abc ${ # }", "expression_syntax", 7),
        ("${1} ${" + "(" * 70 + ")" * 70 + "}", "expression_too_large", 71),
        ("${" + "1" * 20_000 + "}", "expression_too_large", 2),
        ("${a}" * 5_000, "expression_too_large", 4 * 4096 + 2),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_with_its_own_offset(text: str, code: str, offset: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        Template.parse(text)
    assert (caught.value.code, caught.value.offset) == (code, offset)


def test_an_error_while_rendering_has_its_offset_in_the_text() -> None:
    for text, offset in (("ab ${input.x}", 10), ("ab ${ nope(1) }", 6), ("${1 / 0}", 4)):
        with pytest.raises(ExpressionError) as caught:
            _render(text)
        assert caught.value.offset == offset


def test_a_template_knows_its_expressions() -> None:
    template = Template.parse("a ${input.n} b ${ vars.x }")
    assert not template.literal
    assert [(offset, expression.source) for offset, expression in template.expressions] == [
        (4, "input.n"),
        (17, " vars.x "),
    ]
    assert Template.parse("plain $${text}").literal


def test_the_expressions_of_a_text_share_one_budget_and_never_an_id() -> None:
    meter = Meter()
    text = Template.parse("${uuid()} ${uuid()}").render({}, MOMENT, meter)
    assert isinstance(text, str)
    first, second = text.split(" ")
    assert first != second
    assert meter.ids == 2
    limits = ExpressionLimits(size=50)
    with pytest.raises(ExpressionError, match="50 characters"):
        Template.parse("${'a' + x}" * 10, limits).render({"x": "b" * 10}, MOMENT)
