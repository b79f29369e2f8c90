"""The cost limits of an expression, and the meter that counts.

Straight-line code is bounded by the number of its nodes, so its whole cost is charged once before it runs. Only work
that depends on data is charged while running: each round of a comprehension, and every function that reads or builds
something long, before it does so. Two currencies: `steps` is work, `size` is output (characters, elements).
"""

from __future__ import annotations

import msgspec

from layover.core.expressions.errors import BudgetExceeded

_DEEPEST = 100  # fits Python's own stack with room to spare, also for deep callers
_CHARACTERS_PER_STEP = 64


class ExpressionLimits(msgspec.Struct, frozen=True):
    """The bounds of one expression: its text, its tree, and each evaluation of it."""

    source: int = 16_384
    nodes: int = 4_096
    depth: int = 64
    steps: int = 100_000
    size: int = 1_048_576

    def __post_init__(self) -> None:
        if self.depth > _DEEPEST:
            raise ValueError(f"An expression cannot nest deeper than {_DEEPEST}.")


DEFAULT = ExpressionLimits()


class Meter(msgspec.Struct):
    """The use of one evaluation so far; share one meter to bound several evaluations together."""

    limits: ExpressionLimits = DEFAULT
    steps: int = 0
    size: int = 0
    ids: int = 0

    def charge(self, steps: int = 0, size: int = 0) -> None:
        """Count work and output in advance; raise before the budget is overdrawn."""
        self.steps += steps
        self.size += size
        limits = self.limits
        if self.steps > limits.steps:
            raise BudgetExceeded(f"The expression needs more than {limits.steps} steps.")
        if self.size > limits.size:
            raise BudgetExceeded(f"The expression builds more than {limits.size} characters and elements.")

    def scan(self, characters: int) -> None:
        """Count the reading of text, which is far cheaper per character than a step."""
        if characters >= _CHARACTERS_PER_STEP:
            self.charge(characters // _CHARACTERS_PER_STEP)

    def build(self, size: int) -> None:
        """Count something about to be built, with the work of copying it."""
        self.charge(size // _CHARACTERS_PER_STEP, size)
