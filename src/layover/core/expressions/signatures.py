"""The one table of functions: how each is called, the kinds it takes, its result, and its implementation.

The checker reads the overloads, the compiler both the overloads and the implementation, and tests read the table to
see that nothing is left uncovered. An implementation may rely on the kinds of its arguments: the
call has been matched before it runs. It receives the frame first and charges its meter for work that depends on data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from layover.core.expressions import clocks, conversions, formatting, json_text, lists, numbers, patterns, strings
from layover.core.expressions.instants import SECOND, Civil
from layover.core.expressions.types import (
    BOOL,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NUMBER,
    STRING,
    TIMESTAMP,
    ListOf,
    MapOf,
    Type,
    common,
    kinds,
)
from layover.core.expressions.values import kind

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame

Style = Literal["function", "method", "both"]
Implementation = Callable[..., object]
Result = Type | Callable[[tuple[Type, ...]], Type]

_LIST: Final = ListOf(DYN)
_MAP: Final = MapOf(DYN)


class Overload(msgspec.Struct, frozen=True):
    """One way to call a function; the receiver of a method counts as its first parameter."""

    parameters: tuple[Type, ...]
    result: Result
    variadic: bool = False

    def takes(self, count: int) -> bool:
        """Return whether that many arguments fit."""
        return count >= len(self.parameters) if self.variadic else count == len(self.parameters)

    def parameter(self, position: int) -> Type:
        """Return the type wanted at a position; the last parameter of a variadic overload repeats."""
        return self.parameters[min(position, len(self.parameters) - 1)]

    def result_for(self, arguments: tuple[Type, ...]) -> Type:
        """Return the type of the result for arguments of these types."""
        return self.result(arguments) if callable(self.result) else self.result


class FunctionSignature(msgspec.Struct, frozen=True):
    """A function: `steady` ones give the same result for the same arguments, at any moment."""

    name: str
    style: Style
    overloads: tuple[Overload, ...]
    run: Implementation
    steady: bool = True
    metered: bool = True

    def accepts(self, arguments: tuple[object, ...]) -> bool:
        """Return whether some overload takes these values."""
        found = tuple(kind(argument) for argument in arguments)
        return any(
            overload.takes(len(found))
            and all(one in kinds(overload.parameter(position)) for position, one in enumerate(found))
            for overload in self.overloads
        )


def _element(arguments: tuple[Type, ...]) -> Type:
    only = arguments[0]
    if len(arguments) > 1:
        return common(list(arguments))
    return only.element if isinstance(only, ListOf) else only if only in _ORDERED else DYN


def _same(arguments: tuple[Type, ...]) -> Type:
    return arguments[0] if isinstance(arguments[0], ListOf) else _LIST


def _rounded(arguments: tuple[Type, ...]) -> Type:
    return arguments[0] if arguments[0] == INT else NUMBER


_ORDERED: Final = (INT, DOUBLE, NUMBER, STRING, BOOL, TIMESTAMP, DURATION)


def _on(*parameters: Type, gives: Result, variadic: bool = False) -> Overload:
    return Overload(parameters, gives, variadic)


def _function(name: str, run: Implementation, *overloads: Overload, metered: bool = True) -> FunctionSignature:
    return FunctionSignature(name, "function", overloads, run, metered=metered)


def _method(name: str, run: Implementation, *overloads: Overload, metered: bool = True) -> FunctionSignature:
    return FunctionSignature(name, "method", overloads, run, metered=metered)


def _size(_: Frame, value: str | list[object] | dict[object, object]) -> int:
    return len(value)


def _round(_: Frame, value: float, digits: int | None = None) -> float:
    return numbers.round_half_away(value, digits)


def _calendar(name: str, part: Callable[[Civil], int]) -> FunctionSignature:
    overloads = (_on(TIMESTAMP, gives=INT), _on(TIMESTAMP, STRING, gives=INT))
    return FunctionSignature(name, "method", overloads, clocks.calendar(part))


def _clock(name: str, run: Implementation) -> FunctionSignature:
    overloads = (_on(TIMESTAMP, gives=INT), _on(TIMESTAMP, STRING, gives=INT), _on(DURATION, gives=INT))
    return FunctionSignature(name, "method", overloads, run)


_ALL: Final = (
    FunctionSignature(
        "size",
        "both",
        (_on(STRING, gives=INT), _on(_LIST, gives=INT), _on(_MAP, gives=INT)),
        _size,
        metered=False,
    ),
    # text
    _method("contains", strings.contains, _on(STRING, STRING, gives=BOOL)),
    _method("startsWith", strings.starts_with, _on(STRING, STRING, gives=BOOL)),
    _method("endsWith", strings.ends_with, _on(STRING, STRING, gives=BOOL)),
    # Not steady: an expression that is only checked must not pay for compiling its patterns.
    FunctionSignature("matches", "both", (_on(STRING, STRING, gives=BOOL),), patterns.matches, steady=False),
    _method("lowerAscii", strings.lower_ascii, _on(STRING, gives=STRING)),
    _method("upperAscii", strings.upper_ascii, _on(STRING, gives=STRING)),
    _method("trim", strings.trim, _on(STRING, gives=STRING)),
    _method("reverse", strings.reverse, _on(STRING, gives=STRING)),
    _method(
        "split",
        strings.split,
        _on(STRING, STRING, gives=ListOf(STRING)),
        _on(STRING, STRING, INT, gives=ListOf(STRING)),
    ),
    _method("join", strings.join, _on(_LIST, gives=STRING), _on(_LIST, STRING, gives=STRING)),
    _method(
        "replace",
        strings.replace,
        _on(STRING, STRING, STRING, gives=STRING),
        _on(STRING, STRING, STRING, INT, gives=STRING),
    ),
    _method("substring", strings.substring, _on(STRING, INT, gives=STRING), _on(STRING, INT, INT, gives=STRING)),
    _method("indexOf", strings.index_of, _on(STRING, STRING, gives=INT), _on(STRING, STRING, INT, gives=INT)),
    _method("lastIndexOf", strings.last_index_of, _on(STRING, STRING, gives=INT), _on(STRING, STRING, INT, gives=INT)),
    _method("charAt", strings.char_at, _on(STRING, INT, gives=STRING), metered=False),
    _method("format", formatting.format_text, _on(STRING, _LIST, gives=STRING)),
    # conversions
    _function(
        "int",
        conversions.to_int,
        _on(INT, gives=INT),
        _on(DOUBLE, gives=INT),
        _on(STRING, gives=INT),
        _on(TIMESTAMP, gives=INT),
        metered=False,
    ),
    _function(
        "double",
        conversions.to_double_value,
        _on(INT, gives=DOUBLE),
        _on(DOUBLE, gives=DOUBLE),
        _on(STRING, gives=DOUBLE),
        metered=False,
    ),
    _function(
        "string",
        conversions.to_string,
        _on(STRING, gives=STRING),
        _on(BOOL, gives=STRING),
        _on(INT, gives=STRING),
        _on(DOUBLE, gives=STRING),
        _on(TIMESTAMP, gives=STRING),
        _on(DURATION, gives=STRING),
        metered=False,
    ),
    _function("bool", conversions.to_bool, _on(BOOL, gives=BOOL), _on(STRING, gives=BOOL), metered=False),
    _function(
        "timestamp",
        conversions.to_timestamp,
        _on(STRING, gives=TIMESTAMP),
        _on(INT, gives=TIMESTAMP),
        _on(TIMESTAMP, gives=TIMESTAMP),
        metered=False,
    ),
    _function(
        "duration",
        conversions.to_duration,
        _on(STRING, gives=DURATION),
        _on(DURATION, gives=DURATION),
        metered=False,
    ),
    _function("dyn", conversions.dyn, _on(DYN, gives=DYN), metered=False),
    # time
    _calendar("getFullYear", lambda seen: seen.year),
    _calendar("getMonth", lambda seen: seen.month - 1),
    _calendar("getDate", lambda seen: seen.day),
    _calendar("getDayOfMonth", lambda seen: seen.day - 1),
    _calendar("getDayOfWeek", lambda seen: seen.day_of_week),
    _calendar("getDayOfYear", lambda seen: seen.day_of_year),
    _clock("getHours", clocks.clock(lambda seen: seen.hour, 3600 * SECOND)),
    _clock("getMinutes", clocks.clock(lambda seen: seen.minute, 60 * SECOND)),
    _clock("getSeconds", clocks.clock(lambda seen: seen.second, SECOND)),
    _clock("getMilliseconds", clocks.milliseconds),
    # additions of Layover
    _function("min", lists.minimum, _on(DYN, gives=_element, variadic=True)),
    _function("max", lists.maximum, _on(DYN, gives=_element, variadic=True)),
    _function("sum", lists.total, _on(_LIST, gives=NUMBER)),
    _function("sort", lists.sort, _on(_LIST, gives=_same)),
    _function("distinct", lists.distinct, _on(_LIST, gives=_same)),
    _function("round", _round, _on(NUMBER, gives=_rounded), _on(NUMBER, INT, gives=_rounded), metered=False),
    _function("json", json_text.json, _on(DYN, gives=STRING)),
    _function("parseJson", json_text.parse_json, _on(STRING, gives=DYN)),
    FunctionSignature("now", "function", (_on(gives=TIMESTAMP),), clocks.now, steady=False, metered=False),
    FunctionSignature(
        "next",
        "function",
        (
            _on(STRING, gives=TIMESTAMP),
            _on(STRING, STRING, gives=TIMESTAMP),
            _on(STRING, STRING, TIMESTAMP, gives=TIMESTAMP),
        ),
        clocks.next_time,
        steady=False,
    ),
    FunctionSignature("uuid", "function", (_on(gives=STRING),), clocks.uuid, steady=False),
)

FUNCTIONS: Final[Mapping[str, FunctionSignature]] = {function.name: function for function in _ALL}
