"""The errors of expressions: a stable code, a sentence, and the offset in the source.

`BudgetExceeded` is special: `&&`, `

` and `default` may swallow any other error, but never this one, or a hostile
expression could run on after its budget is spent.
"""

from __future__ import annotations

from typing import Literal

from layover.errors import LayoverError

ErrorCode = Literal[
    "expression_syntax",
    "expression_too_large",
    "expression_unknown_name",
    "expression_type",
    "no_such_key",
    "no_such_overload",
    "out_of_range",
    "overflow",
    "division_by_zero",
    "invalid_argument",
    "budget_exceeded",
    "payload_too_large",
]


class ExpressionError(LayoverError):
    """An expression that cannot be parsed, checked or evaluated; `offset` counts characters from 0."""

    def __init__(self, message: str, *, code: ErrorCode, offset: int | None = None) -> None:
        super().__init__(message, code=code)
        self.offset = offset


def locate_error(error: ExpressionError, offset: int) -> ExpressionError:
    """Return an error that knows where it happened."""
    if error.offset is None:
        error.offset = offset
    return error


class BudgetExceeded(ExpressionError):  # noqa: N818 - it states a fact
    """The evaluation used up its steps or its size; nothing may absorb this."""

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message, code="budget_exceeded", offset=offset)


def shift_error(error: ExpressionError, start: int) -> ExpressionError:
    """Return an error of an embedded expression with its offset in the whole text."""
    if error.offset is not None:
        error.offset += start
    return error
