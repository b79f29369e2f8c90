"""Search terms: whatever fulfils a condition has a term by which the condition is searched, however it is written."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from layover.core.conditions import Operator, PathCondition, holds, parse_condition
from layover.core.search_terms import MOST_TERMS, TERM_BYTES, Terms, TermSearch, below, searches_of, terms_of

SEED = 7
OPERATORS: tuple[Operator, ...] = ("=", "=", "=", ">", ">=", "<", "<=")
NAMES = ("a", "b", "0", "1", "items", "größe", "", "a.b")
SCALARS: tuple[object, ...] = (
    *(0, 1, -1, 12, 12.0, 12.5, -0.0, 10**30, 2**53, 2**53 + 1, 1e-300, Decimal("12.50"), Decimal("1e399")),
    *(True, False, None, "", "12", "gold", "größe", "\u0000"),
)


def matches(search: TermSearch, terms: Terms) -> bool:
    between = search.first is not None and search.last is not None
    return any(term in terms for term in search.exact) or (
        between and any(search.first <= term <= search.last for term in terms)  # type: ignore[operator]
    )


def value(chance: random.Random, depth: int = 0) -> object:
    kind = chance.random()
    if depth >= 4 or kind < 0.5:
        return chance.choice(SCALARS)
    if kind < 0.75:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES): value(chance, depth + 1) for _ in range(chance.randrange(4))}


def part(chance: random.Random, whole: object) -> object:
    """Return something that a value contains, mostly."""
    if isinstance(whole, dict):
        return {name: part(chance, one) for name, one in whole.items() if chance.random() < 0.7}
    if isinstance(whole, list):
        return [part(chance, one) for one in whole if chance.random() < 0.7]
    return whole


def somewhere(chance: random.Random, whole: object, path: tuple[str, ...]) -> tuple[tuple[str, ...], object]:
    while chance.random() < 0.7:
        if isinstance(whole, dict) and whole:
            name = chance.choice([*whole])
            path, whole = (*path, name), whole[name]
        elif isinstance(whole, list) and whole:
            index = chance.randrange(len(whole))
            path, whole = (*path, str(index)), whole[index]
        else:
            break
    return path, whole


def test_whatever_fulfils_a_condition_is_found_by_each_of_its_searches() -> None:
    chance = random.Random(SEED)  # noqa: S311 - a seed to repeat
    fulfilled = passed_over = ranges = 0
    for _ in range(20_000):
        document = {"input": value(chance), "vars": value(chance)}
        terms = terms_of([((name,), one) for name, one in document.items()])
        root = chance.choice([*document])
        path, there = somewhere(chance, document[root], (root,))
        operator = chance.choice(OPERATORS)
        wanted = part(chance, there) if chance.random() < 0.8 else value(chance)
        condition = PathCondition(path=path, op=operator, value=wanted)
        searches = list(searches_of(condition))
        found = [matches(search, terms) for search in searches]
        if holds(condition, document):
            assert all(found), (document, condition)
            fulfilled += 1
            ranges += any(search.first is not None for search in searches)
        else:
            passed_over += bool(found) and not all(found)
    assert fulfilled > 5_000
    assert passed_over > 1_000  # it says something: most of what does not fulfil a condition is not looked at
    assert ranges > 500


def test_ranges_of_numbers_are_ranges_of_terms() -> None:
    chance = random.Random(SEED)  # noqa: S311 - a seed to repeat
    numbers: list[int | float] = [0, -0.0, 1, -1, 2**53, 2**53 + 1, -(2**70), 10**400, -(10**400), 5e-324, 1.7e308]
    numbers += [chance.choice((-1, 1)) * math.ldexp(chance.random(), chance.randrange(-1000, 1000)) for _ in range(200)]
    for bound in numbers:
        (search,) = searches_of(PathCondition(path=("input", "n"), op=">=", value=bound))
        for number in numbers:
            if number >= bound:
                assert matches(search, terms_of([(("input",), {"n": number})]))
    (search,) = searches_of(parse_condition("input.n>100"))
    assert not matches(search, terms_of([(("input",), {"n": 99.5})]))
    assert not matches(search, terms_of([(("input",), {"n": -1_000_000})]))
    assert not matches(search, terms_of([(("input",), {"n": "1000"})]))
    assert not matches(search, terms_of([(("input",), {"m": 1_000})]))


@pytest.mark.parametrize(
    "condition",
    [
        "input.a!=1",
        "input.a~x",
        "input.a={}",
        "input.a=[]",
        "input.a>x",
        "input.a>true",
        "input.a>=null",
        "input.a=null",
    ],
)
def test_what_the_index_cannot_find_has_no_search(condition: str) -> None:
    assert list(searches_of(parse_condition(condition))) == []


def test_one_term_stands_for_all_places_of_an_array() -> None:
    terms = terms_of([(("input",), {"items": [{"sku": "A"}, {"sku": "B"}]})])
    for text in ("input.items.0.sku=B", "input.items.7.sku=A", 'input.items=[{"sku": "B"}]'):
        assert all(matches(search, terms) for search in searches_of(parse_condition(text)))
    (search,) = searches_of(parse_condition("input.items.0.sku=C"))
    assert not matches(search, terms)


def test_many_values_at_one_path_are_one_term_and_the_others_stay() -> None:
    rows = [{"sku": f"A-{n}", "kind": "book"} for n in range(500)]
    terms = terms_of([(("input",), {"rows": rows, "total": 12})])
    assert len(terms) == 3
    for text in ("input.rows.3.sku=A-77", "input.rows.3.sku=nothing", "input.rows.0.kind=book", "input.total=12"):
        assert all(matches(search, terms) for search in searches_of(parse_condition(text)))
    for text in ("input.rows.0.kind=film", "input.total=13", "vars.x=1"):
        assert not any(matches(search, terms) for search in searches_of(parse_condition(text)))


def test_an_execution_has_a_bounded_number_of_terms() -> None:
    large = {f"n{n}": n for n in range(400)}
    documents = [(("vars",), large), (("output",), {"x": 1}), (("trigger",), {"y": [[], {}, "z"]})]
    terms = terms_of(documents)
    assert len(terms) <= MOST_TERMS
    for text in ("vars.n7=7", "vars.n7=8", "output.x=1", "trigger.y.2=z"):
        assert all(matches(search, terms) for search in searches_of(parse_condition(text)))
    assert not any(matches(search, terms) for search in searches_of(parse_condition("output.x=2")))


def test_many_nodes_are_looked_at_in_searches_for_nodes_only() -> None:
    nodes = [(("nodes", f"n{n}"), {"x": n}) for n in range(MOST_TERMS + 1)]
    terms = terms_of([*nodes, (("input",), {"customer": "c-1"})])
    assert len(terms) == 2
    for text in ("nodes.n7.x=1", "nodes.n300.y=1", "nodes.other.x>1", "input.customer=c-1"):
        assert all(matches(search, terms) for search in searches_of(parse_condition(text)))
    for text in ("input.customer=c-2", "output.x=1"):
        assert not any(matches(search, terms) for search in searches_of(parse_condition(text)))


def test_of_very_many_values_only_the_first_are_looked_at() -> None:
    looked_at = 0

    class Counting(dict[str, object]):
        def items(self) -> Any:
            nonlocal looked_at
            looked_at += len(self)
            return super().items()

    nodes = [(("nodes", f"n{n}"), Counting({f"m{m}": m for m in range(1_000)})) for n in range(200)]
    terms = terms_of(nodes)
    assert looked_at <= 10_000
    assert len(terms) <= MOST_TERMS
    for text in ("nodes.n7.m3=3", "nodes.n199.m3=3"):
        assert all(matches(search, terms) for search in searches_of(parse_condition(text)))


def test_a_document_that_is_too_deep_or_too_long_is_looked_at_in_every_search_below_it() -> None:
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    terms = terms_of(
        [(("vars",), {"deep": deep, "x": 1}), (("output",), {"long": "x" * 9, "rows": [[n] for n in range(5_000)]})]
    )
    for text in ("vars.deep=" + "[" * 30 + "2" + "]" * 30, "vars.x=1", "output.long=y"):
        searches = list(searches_of(parse_condition(text)))
        assert text.startswith("vars.deep") or all(matches(search, terms) for search in searches)
    assert not any(matches(search, terms) for search in searches_of(parse_condition("vars.x=2")))
    assert list(searches_of(PathCondition(path=("vars", *"x" * 100), op="=", value=1))) == []
    (search,) = searches_of(PathCondition(path=("vars", "deep", *"0" * 38), op="=", value=1))
    assert matches(search, terms)


def test_what_is_incomplete_is_looked_at_below_its_path_only() -> None:
    terms = terms_of([(("output",), {"x": 1})], [("runs",)])
    (of_output,) = searches_of(parse_condition("output.x=2"))
    assert not matches(of_output, terms)
    assert matches(below(of_output, ("runs",)), terms)
    (of_runs,) = searches_of(PathCondition(path=("runs", "a", "x"), op="=", value=1))
    assert matches(of_runs, terms)


def test_values_that_do_not_come_from_json_may_be_anything() -> None:
    terms = terms_of([(("vars",), {"x": {1, 2}, "y": math.inf})])
    (of_x,) = searches_of(parse_condition("vars.x=1"))
    assert matches(of_x, terms)
    assert len(terms) == 1  # what is written as null is not searched by


def test_terms_do_not_hold_texts_and_have_one_length() -> None:
    terms = terms_of([(("input",), msgspec.json.decode(b'{"secret": "hunter2hunter2", "n": [1, null, true]}'))])
    assert {len(term) for term in terms} == {TERM_BYTES}
    assert not any(b"hunter" in term for term in terms)
