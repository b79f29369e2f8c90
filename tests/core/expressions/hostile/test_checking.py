"""Checking is bounded as well: many mistakes, or types that share their parts, take work in proportion to the text."""

from __future__ import annotations

import sys

import pytest

from layover.core.expressions import DYN, RecordType, check, parse

NODES = RecordType({f"node_number_{number}": DYN for number in range(1_000)}, open=False)
CALLS_PER_CHARACTER = 150  # measured: 70 at most

_NESTED = ".map(x, {'a': x, 'b': x})" * 28

MISTAKES = {
    "700 misspelt nodes among 1,000": ("+".join(f"nodes.node_numbr_{number}" for number in range(700)), 700),
    "1,500 unknown names": ("+".join(f"inpu{number}" for number in range(1_500)), 1_500),
    "1,500 unknown functions": ("+".join(f"siz{number}()" for number in range(1_500)), 1_500),
    "1,300 operations that cannot work": ("[" + ",".join(["1 + ''"] * 1_300) + "]", 1_300),
    "two types that share their parts, side by side": (f"true ? [1]{_NESTED} : [1.5]{_NESTED}", 0),
    "two types that share their parts, in a list": (f"[[1]{_NESTED}, ['a']{_NESTED}]", 0),
    "two types that share their parts, in a sum": (f"[1]{_NESTED}[0] + ['a']{_NESTED}[0]", 1),
}


@pytest.mark.parametrize(("source", "problems"), MISTAKES.values(), ids=MISTAKES)
def test_checking_is_work_in_proportion_to_the_text(source: str, problems: int) -> None:
    expression = parse(source)
    calls = 0

    def count(_frame: object, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    outer = sys.getprofile()
    sys.setprofile(count)
    try:
        found = check(expression, {"input": DYN, "nodes": NODES})[1]
    finally:
        sys.setprofile(outer)
    assert len(found) == problems
    assert calls <= CALLS_PER_CHARACTER * len(source)
