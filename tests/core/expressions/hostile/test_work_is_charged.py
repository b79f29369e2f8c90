"""Work that grows with the data is charged in proportion, so that no budget buys more of it than was meant.

Each expression runs on data of one size and of ten times that size: the steps must grow with it.
"""

from __future__ import annotations

import pytest

from layover.core.expressions import Limits, Meter, compile_expression, parse

from .trial import MOMENT

SMALL = 20_000
GENEROUS = Limits(steps=10**9, size=10**9)


def _data(size: int) -> dict[str, object]:
    """Return long things: two equal texts that are different objects, one that differs at its end, lists, a map."""
    text = "a" * size
    return {
        "text": text,
        "twin": "".join(["a"] * size),
        "other": text[:-1] + "b",
        "numbers": list(range(size)),
        "twins": list(range(size)),
        "words": ["a"] * size,
        "map": {f"key{number}": number for number in range(size)},
        "json": "[" + "1," * (size // 2) + "1]",
        "half": "a" * (size // 2) + "b",
    }


@pytest.mark.parametrize(
    "source",
    [
        "input.text == input.twin",
        "input.text != input.other",
        "input.text < input.other",
        "input.text >= input.twin",
        "input.numbers == input.twins",
        "input.text in [input.other]",
        "input.text in {input.twin: 1}",
        "{input.twin: 1}[input.text]",
        "-1 in input.numbers",
        "'b' in input.words",
        "input.text.contains('b')",
        "input.text.contains(input.half)",
        "input.text.startsWith(input.twin)",
        "input.text.endsWith(input.twin)",
        "input.text.indexOf('b')",
        "input.text.lastIndexOf('b')",
        "input.text.matches('b$')",
        "input.text.lowerAscii() == ''",
        "input.text.trim() == ''",
        "input.text.reverse() == ''",
        "input.text.split('') == []",
        "input.text.split('a') == []",
        "input.text.replace('b', 'c') == ''",
        "input.text.substring(1) == ''",
        "input.words.join() == ''",
        "'%s'.format([input.text]) == ''",
        "'%s'.format([input.numbers]) == ''",
        "'%x'.format([input.text]) == ''",
        "input.text + input.text == ''",
        "input.numbers + input.numbers == []",
        "input.numbers.all(x, true)",
        "input.numbers.map(x, x).size()",
        "input.map.all(key, true)",
        "max(input.numbers)",
        "max([input.text, input.twin]) == ''",
        "min([input.text, input.twin]) == ''",
        "sum(input.numbers)",
        "sort(input.numbers) == []",
        "sort([input.text, input.twin]) == []",
        "distinct(input.numbers).size()",
        "distinct([input.text, input.twin]).size()",
        "json(input.numbers) == ''",
        "json(input.text) == ''",
        "parseJson(input.json).size()",
    ],
)
def test_more_data_costs_more(source: str) -> None:
    assert _steps(source, 10 * SMALL) >= 5 * _steps(source, SMALL)


def _steps(source: str, size: int) -> int:
    meter = Meter(GENEROUS)
    compile_expression(parse(source)).evaluate({"input": _data(size)}, moment=MOMENT, meter=meter)
    return meter.steps


def test_a_pattern_that_comes_from_data_is_charged_for_its_compilation() -> None:
    meter = Meter(GENEROUS)
    pattern = "(a|b)*c{50}" * 50
    compile_expression(parse("'a'.matches(input)")).evaluate({"input": pattern}, moment=MOMENT, meter=meter)
    assert meter.steps >= len(pattern)


@pytest.mark.parametrize(
    "source",
    ["input.map.exists(key, true)", "input.numbers.exists(x, true)", "input.numbers[0] == 0", "size(input.map) > 0"],
)
def test_what_looks_at_one_element_costs_the_same_however_many_there_are(source: str) -> None:
    assert _steps(source, 10 * SMALL) == _steps(source, SMALL)
