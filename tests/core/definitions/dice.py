"""Choices, each one a draw of Hypothesis, so that everything made from them can be shrunk.

Everything is made from a few strategies that are reused: to build a new strategy for every choice would cost far more
than the choice itself.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

_TRICKY = (
    *(
        "",
        "yes",
        "~",
        "1.0",
        "0x1F",
        "1:30",
        "2026-01-01",
        " a ",
        "a: b",
        "a #b",
        "- a",
        "'",
        '"',
        "\\",
        "a\n\nb\n",
        "\t",
    ),
    *(
        "|",
        "&a",
        "*a",
        "!t",
        "%",
        "@",
        "`",
        "[",
        "{",
        "}",
        "? k",
        "\n",
        " \n x",
        "\x85",
        "\u2028",
        "\ufeff",
        "5 $",
        "é",
    ),
)
_CHARACTERS = st.characters(exclude_categories=["Cs"])
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@cache
def _integers(least: int, most: int) -> SearchStrategy[int]:
    return st.integers(least, most)


@cache
def _texts(most: int) -> SearchStrategy[str]:
    return st.text(_CHARACTERS, max_size=most)


class Dice:
    """Draws the choices of a generator."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw

    def integer(self, least: int, most: int) -> int:
        return self.draw(_integers(least, most))

    def float(self) -> float:
        return self.draw(_FLOATS)

    def chance(self, of: int = 2) -> bool:
        """Say yes once in so many times; shrinks towards no."""
        return self.integer(0, of - 1) == of - 1

    def pick(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def several(self, options: Sequence[T], least: int = 0, most: int = 3) -> list[T]:
        """Draw different ones of several options, in any order."""
        left = list(options)
        count = self.integer(min(least, len(left)), min(most, len(left)))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]

    def some(self, options: Mapping[str, Callable[[], object]]) -> dict[str, object]:
        """Draw some of several fields."""
        chosen = self.integer(0, 2 ** len(options) - 1)
        return {name: make() for bit, (name, make) in enumerate(options.items()) if chosen >> bit & 1}

    def text(self, most: int = 12) -> str:
        """Draw text without an expression: any characters that JSON can hold, and those that are special in YAML."""
        found = self.pick(_TRICKY) if self.chance() else self._characters(most)
        return found.replace("${", "$ {")[:most]

    def _characters(self, most: int) -> str:
        return self.draw(_texts(most))


class SeededDice(Dice):
    """Draws evenly and fast, without Hypothesis: for tests that need many examples and no shrinking."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - no secret is made of it

    def integer(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def float(self) -> float:
        return self._random.choice((0.5, -1e300, 1e-9, 123456.75, self._random.random()))

    def _characters(self, most: int) -> str:
        return "".join(self._random.choice(" aÄ☂\x00\n\t:#'\"𝄞") for _ in range(self._random.randint(0, most)))


def dice() -> SearchStrategy[Dice]:
    """Generate dice for a test that makes choices of its own."""
    return st.composite(Dice)()
