"""Our implementation, behind the same function as the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions import ExpressionError, ExpressionLimits, ExpressionTime, Meter, compile_expression, parse

from .outcome import Failure, Outcome, Rejection, Success, spell

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOMENT = ExpressionTime(now=1_700_000_000_000, seed="differential")


def evaluate(source: str, context: Mapping[str, object]) -> Outcome:
    """Evaluate the expression as Layover does."""
    try:
        program = compile_expression(parse(source))
    except ExpressionError as error:
        return Rejection(f"{error.code}: {error.message}")
    try:
        value = program.evaluate(context, moment=_MOMENT, meter=Meter(ExpressionLimits()))
    except ExpressionError as error:
        return Failure(frozenset({error.code}), error.message)
    return Success(spell(value))
