"""Hostile templates end in a clear error whose offset lies in the text, or in the right value."""

from __future__ import annotations

import pytest

from .case import nested
from .trial import LIMITS, MEGABYTE, try_template

MOST_MEMORY = 16 * MEGABYTE

REFUSED = {
    "100,000 openings": "${" * 100_000,
    "100,000 openings with a space": "${ " * 100_000,
    "200,000 small expressions": "${1}" * 200_000,
    "an opening that is never closed, in 1 MB": "${" + "a" * 1_000_000,
    "a text that is never closed within": "${'" + "a" * 10_000,
    "an expression that is too long": "${" + "1+" * 10_000 + "1}",
    "braces within braces": "${" + nested("{'a':", "}", 2_000) + "}",
    "an expression that nests too deep": "${" + nested("(", ")", 2_000) + "}",
    "templates within templates": nested("${'", "'}", 5_000, "a"),
    "nothing between the braces": "${}",
    "a closing brace missing at the end": "abc ${ input.a ",
    "a surrogate inside": "${\ud800}",
    "a NUL inside": "${\0}",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_a_hostile_template_is_refused_with_an_offset_in_its_text(text: str) -> None:
    trial = try_template(text)
    assert trial.refused
    assert trial.verdict in {"expression_syntax", "expression_too_large"}
    assert trial.peak < MOST_MEMORY
    assert trial.error is not None
    assert trial.error.offset is None or 0 <= trial.error.offset <= len(text)


ANSWERED = {
    "no expression in 1 MB": ("a" * 1_000_000, "a" * 1_000_000),
    "100,000 dollars": ("$" * 100_000, "$" * 100_000),
    "100,000 braces": ("{}" * 50_000, "{}" * 50_000),
    "20,000 escaped openings": ("$${" * 20_000, "${" * 20_000),
    "a brace within a text": ("${'}'}", "}"),
    "an opening within a text": ("${'${'}", "${"),
    "data that looks like a template": ("${input}!", "${1 + 1}!"),
    "data that looks like a template, alone": ("${input}", "${1 + 1}"),
    "right-to-left marks": ("\u202e${1}\u202c", "\u202e1\u202c"),
    "a surrogate outside": ("\ud800${1}", "\ud8001"),
}


@pytest.mark.parametrize(("text", "value"), ANSWERED.values(), ids=ANSWERED)
def test_an_odd_template_gives_the_right_text(text: str, value: str) -> None:
    trial = try_template(text, {"input": "${1 + 1}"})
    assert trial.value == value
    assert trial.peak < MOST_MEMORY


STOPPED = {
    "a long text in many places": "${input}" * 200 + "!",
    "a long list in many places": "${[input, input, input]}" * 100 + "!",
    "a bomb among others": "${1} ${[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, input + input)).size()}",
}


@pytest.mark.parametrize("text", STOPPED.values(), ids=STOPPED)
def test_a_template_has_one_budget_for_all_its_expressions(text: str) -> None:
    trial = try_template(text, {"input": "a" * 100_000})
    assert trial.verdict == "budget_exceeded"
    assert trial.peak < MOST_MEMORY


def test_rendering_is_charged() -> None:
    trial = try_template("${input} and ${input}", {"input": "a" * 1_000})
    assert trial.error is None
    assert 0 < trial.steps <= LIMITS.steps
    assert trial.size >= 2_000


@pytest.mark.parametrize(
    ("text", "offset"),
    [("abc ${ 1 + }", 11), ("abc ${ 1 $ 2 }", 9), ("abc ${ foo(1) }", 7), ("abc ${1} ${ 'a }", 12)],
)
def test_an_error_in_a_template_is_placed_in_its_text(text: str, offset: int) -> None:
    trial = try_template(text)
    assert trial.error is not None
    assert trial.error.offset == offset
