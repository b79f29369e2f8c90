"""Work that grows with the data is charged in proportion, so that a budget bounds it.

Each expression runs on data of one size and of ten times that size: the steps must grow with it.
"""

from __future__ import annotations

import pytest

from layover.core.expressions import ExpressionLimits, Meter, calls, check, compile_expression, parse, patterns

from .trial import MOMENT

SMALL = 20_000
GENEROUS = ExpressionLimits(steps=10**9, size=10**9)


def _data(size: int) -> dict[str, object]:
    """Return long values: two equal texts that are different objects, one that differs at its end, lists, a map."""
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


def _spent(source: str, data: object) -> int:
    meter = Meter(GENEROUS)
    compile_expression(parse(source)).evaluate({"input": data}, moment=MOMENT, meter=meter)
    return meter.steps


@pytest.mark.parametrize(
    ("large", "small"),
    [
        ("a{500}b", "a{5}b"),
        ("(a{20}){20}b", "(a{2}){20}b"),
        ("(a?){300}a{300}b", "(a?){30}a{30}b"),
        ("é{200}b", "é{20}b"),
    ],
)
@pytest.mark.parametrize("source", ["input.text.matches(r'{}')", "input.text.matches(input.pattern)"])
def test_a_search_is_charged_by_text_times_program(source: str, large: str, small: str) -> None:
    def spent(pattern: str) -> int:
        return _spent(source.format(pattern) if "{}" in source else source, {"text": "a" * SMALL, "pattern": pattern})

    assert spent(large) >= 5 * spent(small)


def test_a_text_is_charged_by_its_bytes() -> None:
    assert _spent("input.matches('b$')", "文" * SMALL) >= 2 * _spent("input.matches('b$')", "a" * SMALL)


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [(r"\pL" * 300, 50_000), ("x{0,1000}" * 110, 20_000), (r"(?i)\pL{9}", 2_500), (r"\p{Greek}", 500)],
)
def test_compiling_is_charged_before_it_is_done_even_if_it_fails(pattern: str, steps: int) -> None:
    meter = Meter(GENEROUS)
    program = compile_expression(parse("input.exists(p, ''.matches(p) && false) || true"))
    assert program.evaluate({"input": [pattern]}, moment=MOMENT, meter=meter) is True
    assert meter.steps >= steps


def test_a_constant_pattern_that_fails_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[str] = []
    compiled = patterns.compile_pattern

    def counted(pattern: str) -> patterns.Pattern:
        attempts.append(pattern)
        return compiled(pattern)

    monkeypatch.setattr(patterns, "compile_pattern", counted)
    assert _spent("input.all(x, 'a'.matches('(') || true)", list(range(100))) > 0
    assert len(attempts) == 1


def test_constant_patterns_that_are_slow_to_compile_together_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    free: list[str] = []
    monkeypatch.setattr(patterns, "matches", lambda *_: False)
    monkeypatch.setattr(calls, "matcher", lambda _text, pattern, _offset: free.append(pattern))
    source = " || ".join(f"input.matches(r'{number}{chr(92)}pL{{9}}')" for number in range(100))
    compile_expression(parse(source))
    assert 0 < sum(map(patterns.compilation_cost, free)) <= 30_000


def test_checking_compiles_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "compile_pattern", pytest.fail)
    expression = parse("'a'.matches('a{1000}')")
    check(expression, {})
    compile_expression(expression)


def test_a_part_that_is_nearly_found_everywhere_is_charged_for_every_attempt() -> None:
    """In a short text Python compares naively, so the part counts as much as the text."""
    near = {"text": "a" * 2_400, "part": "a" * 600 + "b" + "a" * 600, "short": "ab"}
    for call in ("contains({})", "indexOf({})", "split({})", "replace({}, '')", "lastIndexOf({})"):
        spent, least = (
            _spent(f"dyn(input.text.{call.format(part)}) == 0", near) for part in ("input.part", "input.short")
        )
        assert spent - least >= 2_400 * 1_200 // 1_000, call


def test_looking_for_the_key_1_in_a_map_is_charged_by_its_size() -> None:
    def spent(entries: int) -> int:
        return _spent(
            "[{{1: 1, {}}}].all(m, input.all(x, 1 in m && m[1] == 1 || true))".format(
                ", ".join(f"{number}: 1" for number in range(2, entries))
            ),
            [0] * 100,
        )

    assert spent(800) - spent(8) >= 100 * 2 * 99


def test_large_integers_of_one_hash_are_charged_for_their_comparisons() -> None:
    large = [number * (2**61 - 1) for number in range(8, 2_008)]
    assert len({hash(number) for number in large}) == 1
    assert _spent("distinct(input).size()", large) >= 2_000 * 2_000 // 2 // 8


def test_a_time_zone_is_charged_for_looking_it_up() -> None:
    source = "input.all(x, timestamp(0).getHours('Nowhere/Z' + string(x)) == 0 || true)"
    assert _spent(source, list(range(50))) >= 50 * 100


def test_a_result_is_charged_for_its_contents() -> None:
    assert _spent("[input]", list(range(SMALL * 10))) >= 5 * _spent("[input]", list(range(SMALL)))


def test_a_program_without_a_meter_never_runs_out() -> None:
    program = compile_expression(parse("input[1]"))
    data = {"input": {number: number for number in range(100_000)}}
    assert {program.evaluate(data) for _ in range(10)} == {1}


@pytest.mark.parametrize(
    "source",
    ["input.map.exists(key, true)", "input.numbers.exists(x, true)", "input.numbers[0] == 0", "size(input.map) > 0"],
)
def test_access_to_one_element_costs_the_same_for_any_size(source: str) -> None:
    assert _steps(source, 10 * SMALL) == _steps(source, SMALL)
