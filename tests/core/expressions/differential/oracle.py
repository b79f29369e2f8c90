"""Google's implementation of CEL (`cel_expr_python`), behind one typed function.

Expressions are compiled without its type checker, so that it decides at evaluation as ours does. It refuses nesting
beyond 32 levels and crashes the process on a context nested 100,000 deep, so it gets generated input only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cel_expr_python import cel  # type: ignore[import-untyped]  # Google ships no marker for its types
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]  # nor here

from .outcome import Failure, Mistake, Outcome, Rejection, Success, spell

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = ("input", "vars", "item")

_ENVIRONMENT = cel.NewEnv(
    variables=dict.fromkeys(VARIABLES, cel.Type.DYN),
    extensions=[ext_strings.ExtStrings()],
)

_CLASSES = (
    (r"Key not found in map", {"no_such_key"}),
    (r"(divide|modulus) by zero", {"division_by_zero"}),
    (r"(integer|timestamp|duration) overflow|out of int64 range", {"overflow", "out_of_range"}),
    (r"Index error: index=", {"out_of_range"}),
    # A double beyond all integers is not a position to Google, and a position out of range to us.
    (r"Index error: expected integer type, got double", {"no_such_overload", "out_of_range"}),
    (r"Index error: expected integer|Invalid map key", {"no_such_overload", "invalid_argument"}),
    # Ours tells null, in which any key is missing, from values that have no fields.
    (r"Applying SELECT|Invalid container type", {"no_such_overload", "no_such_key"}),
    (r"No matching overloads", {"no_such_overload"}),
    (r"invalid regular expression|Invalid timezone|conversion failed|cannot convert", {"invalid_argument"}),
)

# `'abc'.substring(1, 3)` is `'bc'` by the documentation; this version takes no end that is the end of the text.
_MISTAKES = re.compile(r"<string>\.substring\(<start>, <end>\): <start> or <end> is greater")


def evaluate(source: str, context: Mapping[str, object]) -> Outcome:
    """Evaluate the expression as Google's library does."""
    try:
        expression = _ENVIRONMENT.compile(source, disable_check=True)
    except RuntimeError as error:
        return Rejection(str(error))
    try:
        result = expression.eval(data=context)
    except RuntimeError as error:
        return _failure(str(error))
    if result.type() == cel.Type.ERROR:
        return _failure(str(result.plain_value()))
    return Success(spell(result.plain_value()))


def _failure(message: str) -> Failure | Mistake:
    if _MISTAKES.search(message):
        return Mistake(message)
    for pattern, codes in _CLASSES:
        if re.search(pattern, message):
            return Failure(frozenset(codes), message)
    return Failure(frozenset(), message)
