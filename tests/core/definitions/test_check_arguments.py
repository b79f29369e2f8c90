"""The arguments that nodes give to functions whose parameters are known."""

from __future__ import annotations

import pytest

from layover.core.definitions import Parameters, check

from .test_check import nodes

CHARGE = {"charge": Parameters(required=("card", "amount"), optional=("note",))}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("- {id: a, type: charge, input: {card: c, amount: 1}}", []),
        ("- {id: a, type: charge, input: {card: c, amount: 1, note: n}}", []),
        ("- {id: a, type: charge, input: '${input}'}", []),
        ("- {id: a, type: charge, input: {card: c}}", [("missing_argument", 3, 34)]),
        ("- {id: a, type: charge}", [("missing_argument", 3, 5)]),
        ("- {id: a, type: callback, call: charge, input: {card: c}}", [("missing_argument", 3, 50)]),
        ("- {id: a, type: charge, input: {card: c, amount: 1, nte: n}}", [("unknown_argument", 3, 55)]),
    ],
)
def test_the_arguments_of_a_function_are_those_that_it_takes(
    node: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    problems = check(nodes(node), functions=CHARGE).problems
    assert [(one.code, one.line, one.column) for one in problems] == expected
    assert all(one.severity == "error" for one in problems)


def test_an_unknown_argument_is_reported_with_the_known_ones() -> None:
    (only,) = check(nodes("- {id: a, type: charge, input: {card: c, amount: 1, nte: n}}"), functions=CHARGE).problems
    assert only.path == "$.nodes[0].input.nte"
    assert only.message == ("`charge` takes no argument `nte`: it takes `card`, `amount`, `note`. Did you mean `note`?")


def test_arguments_are_not_checked_for_functions_with_unknown_parameters() -> None:
    source = nodes("- {id: a, type: charge, input: {any: 1}}")
    assert check(source, functions={"charge"}).ok
    assert check(source, functions={"charge": None}).ok
    assert check(source, functions={"charge": Parameters(takes_others=True)}).ok


@pytest.mark.parametrize("wanted", ["probe", "undo"])
def test_a_probe_or_an_undo_that_a_function_lacks_is_warned_about(wanted: str) -> None:
    source = nodes(f"- {{id: a, type: charge, on_crash: {wanted}}}")
    (only,) = check(source, functions={"charge": Parameters(for_lost_calls=frozenset())}).problems
    assert (only.code, only.severity, only.path) == (f"unknown_{wanted}", "warning", "$.nodes[0].on_crash")
    assert only.message.startswith(f"`charge` has no {wanted}: after a crash a person would be asked.")
    assert not check(source, functions={"charge": Parameters(for_lost_calls=frozenset({wanted}))}).problems
    assert not check(source, functions={"charge": Parameters()}).problems  # it is not known what it has
    other = nodes("- {id: a, type: charge, on_crash: pause}")
    assert not check(other, functions={"charge": Parameters(for_lost_calls=frozenset())}).problems
