"""A compiled expression, ready to be evaluated any number of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.expressions.compiler import Compiler
from layover.core.expressions.frame import EPOCH, ExpressionTime, Frame
from layover.core.expressions.limits import Meter
from layover.core.expressions.sharing import charge_copies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.expressions.parser import Expression
    from layover.core.expressions.values import Value

_CONTAINERS: Final = frozenset({list, dict})
_NO_SLOTS: Final[list[object]] = []


class _Idle(Meter):
    """The meter of programs whose cost is known in advance; all of them share it, so it counts nothing."""

    def charge(self, steps: int = 0, size: int = 0) -> None:
        """Count nothing."""


_IDLE: Final = _Idle()


class Program:
    """A compiled expression; `cost` is the number of steps it takes, besides those that depend on data."""

    __slots__ = ("_builds", "_limits", "_run", "_slots", "_unmetered", "cost", "expression")

    def __init__(self, expression: Expression) -> None:
        compiler = Compiler()
        self.expression = expression
        self._run = compiler.compile(expression.ast).run
        self._slots = compiler.slots
        self._limits = expression.limits
        self.cost = compiler.cost
        self._builds = compiler.builds
        self._unmetered = not compiler.metered and not self._builds and self.cost <= self._limits.steps

    @property
    def only_reads(self) -> bool:
        """Whether a list that it returns can only be one of the data, unchanged."""
        return self._unmetered

    def evaluate(
        self, context: Mapping[str, Value], moment: ExpressionTime = EPOCH, meter: Meter | None = None
    ) -> Value:
        """Return the value of the expression for some data, or raise an ExpressionError."""
        if meter is None:
            if self._unmetered:
                return self._run(Frame(context, moment, _IDLE, _NO_SLOTS))
            meter = Meter(self._limits)
        meter.charge(self.cost)
        slots: list[object] = [None] * self._slots if self._slots else _NO_SLOTS
        value = self._run(Frame(context, moment, meter, slots))
        if self._builds and type(value) in _CONTAINERS:
            charge_copies(value, meter)
        return value


def compile_expression(expression: Expression) -> Program:
    """Compile an expression; an unknown function is an ExpressionError here already."""
    return Program(expression)
