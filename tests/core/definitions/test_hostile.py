"""Definitions made to hang, to crash or to fill the memory: each gives its problem, or a plan, for bounded work.

Work is counted, not timed: the steps of a check, the memory at its peak, and the instructions that it executes when the
input doubles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.definitions import DefinitionLimits, check
from layover.core.plan import compile_plan

from .effort import instructions_of, peak_of
from .hostile_cases import CASES, band, chain, compute, containers, edges, one_node, workflow

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = [pytest.param(*case[1:], id=case[0]) for case in CASES]


@pytest.mark.parametrize(("make", "code"), ALL)
def test_a_check_of_hostile_input_takes_few_steps(make: Callable[[], str | bytes], code: str | None) -> None:
    source = make()
    checked = check(source)
    assert checked.ok == (code is None), checked.problems[:3]
    if code is not None:
        assert code in {problem.code for problem in checked.problems}
    assert checked.steps <= 100 + 2 * len(source)
    assert len(checked.problems) <= 2 * DefinitionLimits().problems + 1
    assert all(len(problem.message) <= 1_000 and len(problem.path) <= 10_000 for problem in checked.problems)


# Counting memory makes a check several times slower, so these are the cases in which little text could need much of it.
HEAVY = (
    *("a text of 10 MB", "aliases that grow to 10^10 values", "data that is 100,000 deep in JSON"),
    *("a single text of nearly 4 MB", "a field of 1 MB", "150 edges to names of 20 kB"),
    *("5,000 nodes, each with a problem", "a schema of references that double 40 times"),
)


@pytest.mark.parametrize("make", [pytest.param(case[1], id=case[0]) for case in CASES if case[0] in HEAVY])
def test_a_check_needs_little_memory(make: Callable[[], str | bytes]) -> None:
    source = make()
    _, peak = peak_of(lambda: check(source))
    assert peak <= 4_000_000 + 60 * min(len(source), DefinitionLimits().bytes)


def grown(make: Callable[[int], str], count: int) -> float:
    """Return the growth of instructions when the definition doubles."""
    once, twice = make(count), make(2 * count)
    return instructions_of(lambda: _all_that_can_be_done(twice)) / instructions_of(lambda: _all_that_can_be_done(once))


def _all_that_can_be_done(source: str) -> None:
    checked = check(source, functions=("work",), limits=DefinitionLimits(problems=1_000_000))
    if checked.ok:
        compile_plan(checked)


def _schema(count: int) -> dict[str, object]:
    return {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(count)}}


FLAT: dict[str, Callable[[int], str]] = {
    "a chain": lambda count: workflow(chain(count)),
    "a cycle": lambda count: workflow([compute(n, next=f"n{(n + 1) % count}") for n in range(count)]),
    "a band": lambda count: workflow([compute(n) for n in range(count)], edges=edges(band(count, 4))),
    "one above all": lambda count: workflow([compute(0, next=[f"n{n}" for n in range(1, count)]), *chain(count)[1:]]),
    "merges": lambda count: workflow(
        [compute(0, next="n1")]
        + [{"id": f"n{n}", "type": "merge", "branches": [f"n{n - 1}"], "next": f"n{n + 1}"} for n in range(1, count)]
        + [compute(count)]
    ),
    "a switch with a port for each node": lambda count: workflow(
        [
            {"id": "s", "type": "switch", "cases": [{"if": "true", "port": f"p{n}"} for n in range(count)]}
            | {"next": {f"p{n}": f"n{n}" for n in range(count)}},
            *(compute(n) for n in range(count)),
        ]
    ),
    "containers": lambda count: workflow(containers(count)),
    "functions": lambda count: workflow([{**node, "type": "work"} | {"output": 1} for node in chain(count)]),
    "names of earlier nodes": lambda count: workflow(
        [{**node, "output": "${nodes.n0} ${nodes.n1}"} if n > 1 else node for n, node in enumerate(chain(count))]
    ),
    "nodes that lack a field": lambda count: workflow([{"id": f"n{n}", "type": "compute"} for n in range(count)]),
    "starts": lambda count: workflow([compute(n) for n in range(count)], start=[f"n{n}" for n in range(count)]),
    "signals": lambda count: one_node(
        type="wait_signal",
        signals=[{"alias": f"a{n}", "signal": "x", "filter": "signal.data.ok"} for n in range(count)],
    ),
    "branches": lambda count: one_node(
        type="parallel", branches=[{"id": f"b{n}", "body": [compute(0)]} for n in range(count)]
    ),
    "fields of a large schema": lambda count: workflow(
        [
            {"id": "f", "type": "form", "schema": _schema(10 * count), "next": "n0"},
            compute(0, output=[f"${{nodes.f.p{n}}}" for n in range(count)]),
        ]
    ),
    "fields of many signals": lambda count: workflow(
        [
            {"id": "s", "type": "wait_signal", "signals": [{"alias": f"a{n}", "signal": "x"} for n in range(count)]}
            | {"next": "n0"},
            compute(0, output=[f"${{nodes.s.a{n}}}" for n in range(count)]),
        ]
    ),
    "one long text by alias": lambda count: (
        "name: w\nnodes:\n  - id: a\n    type: compute\n    output:\n"
        f"      - &text '${{{'1 + ' * count}1}}'\n" + "      - *text\n" * count
    ),
    "yaml": lambda count: "name: w\nnodes:\n" + "".join(f"  - {{id: n{n}, type: end}}\n" for n in range(count)),
}


@pytest.mark.parametrize("shape", FLAT)
def test_the_cost_of_a_node_is_flat_in_the_size_of_its_definition(shape: str) -> None:
    _all_that_can_be_done(FLAT[shape](4))  # fills the tables that all later checks share
    assert grown(FLAT[shape], 60) <= 2.05


def test_hints_cost_the_same_however_many_names_are_misspelt() -> None:
    """The ids share all but their ends, so that every one of them has to be compared with every misspelt name."""

    def misspelt(count: int) -> str:
        ids = [f"{'step-' * 10}{n:04}" for n in range(1_100)]
        nodes = [compute(0) | {"id": name} for name in ids]
        wrong = [f'${{nodes["{name[:-2]}zz"]}}' for name in ids[:count]]
        return workflow([compute(0, id="first", next=ids), *nodes, compute(0, id="last", output=wrong)])

    few, many = (instructions_of(lambda count=count: check(misspelt(count))) for count in (60, 190))  # type: ignore[misc]
    assert many - few <= 2_000_000


def test_a_long_text_that_an_alias_puts_into_every_node_is_too_large() -> None:
    first = f"  - id: n0\n    type: compute\n    output: &text '${{{'1 + ' * 2_000}1}}'\n"
    source = (
        "name: w\nnodes:\n"
        + first
        + "".join(f"  - {{id: n{n}, type: compute, output: *text}}\n" for n in range(1, 1_000))
    )
    assert "too_large" in {problem.code for problem in check(source).problems}


def test_a_repeated_mistake_is_reported_at_each_position() -> None:
    checked = check(one_node(type="compute", output=["${nope}", "${nope}"]))
    assert [problem.path for problem in checked.problems] == ["$.nodes[0].output[0]", "$.nodes[0].output[1]"]
