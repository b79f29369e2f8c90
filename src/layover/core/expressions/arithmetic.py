"""Chains of arithmetic, compiled: `a + b`, and `a + b - c` from the left in one loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions.errors import ExpressionError, locate_error
from layover.core.expressions.operators import ARITHMETIC
from layover.core.expressions.values import INT_MAX, INT_MIN

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame, Run
    from layover.core.expressions.syntax import Arithmetic


def chain(first: Run, terms: list[tuple[Arithmetic, Run, int]]) -> Run:
    """Return a function that applies operators to operands one after the other."""
    if len(terms) == 1:
        symbol, operand, offset = terms[0]
        return _binary(symbol, first, operand, offset)
    return _long_chain(first, terms)


def _binary(symbol: Arithmetic, left: Run, right: Run, offset: int) -> Run:
    """Return one operation of arithmetic; sums and differences of small integers are decided here."""
    apply = ARITHMETIC[symbol]

    def run(frame: Frame) -> object:
        one, other = left(frame), right(frame)
        try:
            return apply(one, other, frame.meter)
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    if symbol != "+":
        return run

    def plus(frame: Frame) -> object:
        one, other = left(frame), right(frame)
        if type(one) is int and type(other) is int and INT_MIN <= one <= INT_MAX and INT_MIN <= other <= INT_MAX:
            result = one + other
            if INT_MIN <= result <= INT_MAX:
                return result
        try:
            return apply(one, other, frame.meter)
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return plus


def _long_chain(first: Run, terms: list[tuple[Arithmetic, Run, int]]) -> Run:
    steps = [(ARITHMETIC[symbol], operand, offset) for symbol, operand, offset in terms]

    def run(frame: Frame) -> object:
        value = first(frame)
        for apply, operand, offset in steps:
            other = operand(frame)
            try:
                value = apply(value, other, frame.meter)
            except ExpressionError as error:
                raise locate_error(error, offset) from None
        return value

    return run
