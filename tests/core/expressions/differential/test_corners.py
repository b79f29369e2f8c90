"""The corners of the language, written out: where we and Google agree, and where we differ on purpose.

`corners.cel` holds one expression a line; both sides must accept or refuse it alike, with the same result.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from . import oracle, subject
from .outcome import Failure, Rejection, Success, agree, spell

CORNERS = [
    line
    for line in Path(__file__).with_name("corners.cel").read_text("utf-8").splitlines()
    if line and not line.startswith("# ")
]
CONTEXT = {
    "input": {"a": 1, "s": "x", "f": 1.5, "l": [1, 2, 3], "m": {"x": None}, "n": None, "b": True},
    "vars": {},
    "item": 1,
}


@pytest.mark.parametrize("source", CORNERS)
def test_we_agree_with_google_on_the_corner(source: str) -> None:
    ours, theirs = subject.evaluate(source, CONTEXT), oracle.evaluate(source, CONTEXT)
    assert agree(ours, theirs), f"ours {ours}, theirs {theirs}"


# An integer beside a double becomes a double: the one difference in the meaning of an operator.
PROMOTED = {
    "1 + 1.5": 2.5,
    "input.a + 1.5": 2.5,
    "dyn(1) + 1.0": 2.0,
    "input.f * 2": 3.0,
    "7 / 2.0": 3.5,
    "1 - 0.5": 0.5,
}

# Integers and doubles are compared on the number line, as the specification says; Google rounds the integer first.
EXACT = {
    "9007199254740993 == 9007199254740992.0": False,
    "9007199254740993 > 9007199254740992.0": True,
    "9223372036854775807 == 9223372036854775807.0": False,
    "9223372036854775807 < 9223372036854775808.0": True,
}

# Details of Google's runtime that follow neither its own documentation nor cel-go.
GOOGLES_OWN = {
    "string(0.0/0.0)": "nan",
    "'%s'.format([123456789.125])": "1.23456789125e+08",
    "---9223372036854775808": -(2**63),
}


@pytest.mark.parametrize(("source", "value"), [*PROMOTED.items(), *EXACT.items(), *GOOGLES_OWN.items()])
def test_we_differ_from_google_on_purpose(source: str, value: object) -> None:
    assert subject.evaluate(source, CONTEXT) == Success(spell(value))
    assert oracle.evaluate(source, CONTEXT) != Success(spell(value))


# Left out of the language, or refused before evaluation where Google fails during it.
REFUSED = (
    "1u", "0x1u", "b'a'", "br'a'", "bytes('abc')", "type(1)", "strings.quote('a')", "foo(1)", "'a'.foo()", "input.a()",
    "size()", "size(1, 2)", "'a'.size(1)", "has()", "has(input.a, input.b)", "[1].map(x)", "[1].map()", "!-1",
)  # fmt: skip


@pytest.mark.parametrize("source", REFUSED)
def test_unsupported_language_features_are_refused_before_evaluation(source: str) -> None:
    assert isinstance(subject.evaluate(source, CONTEXT), Rejection)


@pytest.mark.parametrize("source", ["{1: 'a', true: 'b'}", "int(true)"])
def test_some_expressions_that_cel_accepts_are_refused(source: str) -> None:
    assert isinstance(subject.evaluate(source, CONTEXT), Failure)
    assert isinstance(oracle.evaluate(source, CONTEXT), Success)
