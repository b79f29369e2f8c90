"""The deepest expression that is accepted fits Python's stack with room to spare, whatever its parts."""

from __future__ import annotations

import sys

import pytest

from layover.core.expressions import ExpressionError, Meter, check, compile_expression, parse, to_json

from .case import nested
from .trial import LIMITS, MOMENT, SCOPE

ROOM = 600  # of the 1,000 frames that Python grants by default; the rest is the caller's

SHAPES = {
    "parentheses": ("(", ")", "1"),
    "lists": ("[", "]", "1"),
    "maps": ("{'a': ", "}", "1"),
    "conditions": ("true ? 1 : ", "", "1"),
    "sums": ("1 + (", ")", "1"),
    "negations": ("-(", ")", "1"),
    "conjunctions": ("true && (", ")", "true"),
    "comparisons": ("true == (", ")", "true"),
    "calls": ("dyn(", ")", "1"),
    "methods": ("'a'.replace('a', ", ")", "'a'"),
    "fields": ("", ".a", "input"),
    "positions": ("[0][", "]", "0"),
    "defaults": ("default(input.b, ", ")", "1"),
    "ranges of macros": ("", ".map(x, x)", "[1]"),
    "bodies of macros": ("[1].map(x, ", ")", "1"),
    "bodies of all": ("[1].all(x, ", ")", "true"),
}


def _deepest(before: str, after: str, core: str) -> int:
    """Return the deepest nesting that is accepted."""
    for depth in range(1, 2 * LIMITS.depth):
        try:
            parse(nested(before, after, depth, core))
        except ExpressionError:
            return depth - 1
    raise AssertionError("Nothing stops it.")


@pytest.mark.parametrize(("before", "after", "core"), SHAPES.values(), ids=SHAPES)
def test_the_deepest_expression_leaves_room_on_the_stack(before: str, after: str, core: str) -> None:
    deepest = _deepest(before, after, core)
    source = nested(before, after, deepest, core)
    data: object = 1
    for _ in range(deepest):
        data = {"a": data}
    limit = sys.getrecursionlimit()
    meter = Meter(LIMITS)
    sys.setrecursionlimit(_frames() + ROOM)
    try:
        expression = parse(source)
        check(expression, SCOPE)
        to_json(compile_expression(expression).evaluate({"input": data}, moment=MOMENT, meter=meter), meter)
    finally:
        sys.setrecursionlimit(limit)
    assert deepest >= LIMITS.depth // 4


def _frames() -> int:
    frame, count = sys._getframe(), 0  # noqa: SLF001 - there is no other way to count
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count
