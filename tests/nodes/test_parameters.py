"""The known parameters of a function before it is called: only those that a call would check."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.definitions import Parameters
from layover.nodes.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.context import NodeContext


def typed(card: str, amount: int = 1, *, note: str = "") -> None: ...


def untyped(card, amount=1, *rest): ...  # type: ignore[no-untyped-def]


def with_context(context: NodeContext, card: str) -> None: ...


def open_to_all(card: str, **others: object) -> None: ...


def with_unreachable(card: str, lock: Registry | None = None) -> None: ...


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (typed, Parameters(required=("card",), optional=("amount", "note"))),
        (untyped, Parameters(required=("card",), optional=("amount",))),
        (with_context, Parameters(required=("card",))),
        (open_to_all, Parameters(required=("card",), takes_others=True)),
        (functools.partial(typed, card="c"), Parameters(optional=("card", "amount", "note"))),
        (with_unreachable, Parameters(required=("card",))),
    ],
)
def test_the_parameters_of_a_function(function: Callable[..., object], expected: Parameters) -> None:
    registry = Registry()
    registry.add(function, "f")
    assert registry.parameters() == {"f": replace(expected, for_lost_calls=frozenset())}


def test_a_wrapper_that_passes_an_argument_makes_parameters_unknown() -> None:
    def with_card(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def wrapped(**given: object) -> object:
            return function(card="c", **given)

        return wrapped

    registry = Registry()
    registry.add(with_card(untyped), "f")
    assert registry.parameters() == {"f": None}


def test_what_a_function_has_for_lost_calls_is_known_with_its_parameters() -> None:
    registry = Registry()
    registry.add(typed, "f", probe=typed, undo=typed)
    (known,) = registry.parameters().values()
    assert known is not None
    assert known.for_lost_calls == frozenset({"probe", "undo"})
