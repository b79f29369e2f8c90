"""Calls of functions, compiled.

The function is resolved before anything runs. At run time the arguments' kinds are matched against the
overloads; combinations of plain types that matched once are remembered, so the common case is one lookup in a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions import hints, patterns
from layover.core.expressions.errors import ExpressionError, locate_error
from layover.core.expressions.hints import as_suffix
from layover.core.expressions.instants import Duration, Timestamp
from layover.core.expressions.macros import MACROS
from layover.core.expressions.signatures import FUNCTIONS, FunctionSignature
from layover.core.expressions.syntax import path_text
from layover.core.expressions.values import no_overload
from layover.core.suggest import Suggestions

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame, Run
    from layover.core.expressions.syntax import FunctionCall

_PLAIN = frozenset({type(None), bool, int, float, str, list, dict, Timestamp, Duration})


def resolve(call: FunctionCall, suggestions: Suggestions | None = None) -> FunctionSignature:
    """Return the function of a call, or raise the problem with it."""
    function = FUNCTIONS.get(call.function)
    method = call.target is not None
    count = len(call.arguments) + method
    if function is None:
        raise _unknown(call, suggestions or Suggestions())
    if function.style not in {"both", "method" if method else "function"}:
        raise _unfit(call, f"`{call.function}` is called as `{_form(call, function)}`.")
    if not any(overload.takes(count) for overload in function.overloads):
        raise _unfit(call, f"`{call.function}` does not take {len(call.arguments)} arguments.")
    return function


def caller(function: FunctionSignature, arguments: list[Run], offset: int) -> Run:
    """Return a closure that calls a function."""
    implementation, name = function.run, function.name
    accepted: set[tuple[type, ...]] = set()

    def check(values: tuple[object, ...], types: tuple[type, ...]) -> None:
        if not function.accepts(values):
            raise locate_error(no_overload(name, *values), offset)
        if _PLAIN.issuperset(types):
            accepted.add(types)

    if len(arguments) == 1:
        only = arguments[0]

        def run_one(frame: Frame) -> object:
            value = only(frame)
            types = (type(value),)
            if types not in accepted:
                check((value,), types)
            try:
                return implementation(frame, value)
            except ExpressionError as error:
                raise locate_error(error, offset) from None

        return run_one

    def run(frame: Frame) -> object:
        values = tuple([argument(frame) for argument in arguments])
        types = tuple([type(value) for value in values])
        if types not in accepted:
            check(values, types)
        try:
            return implementation(frame, *values)
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return run


def matcher(text: Run, pattern: str, offset: int) -> Run:
    """Return `matches` with a constant pattern, which is compiled at its first use and kept."""
    kept: list[patterns.Pattern] = []
    refused: list[str] = []

    def program() -> patterns.Pattern:
        if not kept:
            if refused:
                raise ExpressionError(refused[0], code="invalid_argument")
            try:
                kept.append(patterns.compile_pattern(pattern))
            except ExpressionError as error:
                refused.append(error.message)  # or it would be compiled in vain, and for free, at every use
                raise
        return kept[0]

    def run(frame: Frame) -> object:
        value = text(frame)
        if type(value) is not str:
            raise locate_error(no_overload("matches", value, pattern), offset)
        try:
            return patterns.search(frame, value, program())
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return run


def _unknown(call: FunctionCall, suggestions: Suggestions) -> ExpressionError:
    if call.function in MACROS or call.function in {"has", "default"}:
        form = _FORMS[call.function]
        return _unfit(call, f"`{call.function}` is written `{form}`.")
    instead = as_suffix(hints.FUNCTIONS.get(call.function))
    if not instead:
        instead = suggestions.did_you_mean(call.function, [*FUNCTIONS, *_FORMS])
    return _unfit(call, f"There is no function `{call.function}`.{instead}")


def _form(call: FunctionCall, function: FunctionSignature) -> str:
    """Return a call in its correct form, with the written arguments where they are short."""
    if function.style == "method":
        return f"x.{function.name}(…)"
    target = path_text(call.target) if call.target is not None and not call.arguments else "…"
    return f"{function.name}({target})"


def _unfit(call: FunctionCall, sentence: str) -> ExpressionError:
    return ExpressionError(sentence, code="expression_unknown_name", offset=call.offset)


_FORMS = {
    "has": "has(input.field)",
    "default": "default(value, fallback)",
    "all": "list.all(x, condition)",
    "exists": "list.exists(x, condition)",
    "exists_one": "list.exists_one(x, condition)",
    "filter": "list.filter(x, condition)",
    "map": "list.map(x, value)",
}
