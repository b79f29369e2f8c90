"""JSON in and out of expressions: `json(x)`, `parseJson(text)`, and `to_json` for the result of an expression.

JSON has no timestamps, no durations, no NaN and only text as keys: timestamps leave as ISO-8601 with milliseconds,
durations as CEL writes them (`3600s`). Depth is bounded in both directions, size by the meter.
"""

from __future__ import annotations

import json as stdlib_json
import math
import operator
import re
from types import NoneType
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import Duration, Timestamp, format_duration, iso_timestamp
from layover.core.expressions.sharing import charge_copies
from layover.core.expressions.values import as_list, as_map
from layover.core.payloads import reserved_key

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame
    from layover.core.expressions.limits import Meter

JSON = object

_MAX_DEPTH: Final = 32
_DEEPEST_BUILT: Final = 200
_PLAIN: Final = frozenset({NoneType, bool, int, float, str})
_CONTAINER: Final = 8  # an empty list takes the memory of some eight elements
_MAX_INT_BITS: Final = 1024
# A text that is never closed reaches to the end: otherwise the search would start over at each quote in it.
_NESTING = re.compile(r'"(?:[^"\\]|\\.?)*+"?|([\[{])|([\]}])', re.DOTALL)


def json(frame: Frame, value: object) -> str:
    """Return the JSON text of a value, with the keys in the order they have."""
    return write_json(value, frame.meter)


def write_json(value: object, meter: Meter) -> str:
    """Return the JSON text of a value, charging for every part of it before it is made."""
    pieces: list[str] = []
    _write(value, pieces, meter, 0)
    return "".join(pieces)


def parse_json(frame: Frame, text: str) -> object:
    """Return the value that a JSON text stands for."""
    frame.meter.build(len(text))
    depth = 0
    containers = 0
    for match in _NESTING.finditer(text):
        if match[1]:
            depth += 1
            containers += 1
            if depth > _MAX_DEPTH:
                raise _too_deep("parseJson")
        elif match[2]:
            depth -= 1
    frame.meter.charge(containers, _CONTAINER * containers)
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ExpressionError(f"The text is not valid JSON: {error}.", code="invalid_argument") from error
    # A text from outside may write `$` as an escape, too.
    if ("$" in text or "\\" in text) and (key := reserved_key(found)) is not None:
        raise ExpressionError(f"The key `{key}` is reserved.", code="invalid_argument")
    return found


def to_json(value: object, meter: Meter | None = None) -> JSON:
    """Return a value as JSON data; plain data is returned as it is. A meter bounds the parts that are repeated."""
    if meter is not None and type(value) not in _PLAIN:
        charge_copies(value, meter)
    return _leave(value, 0)


def _leave(value: object, depth: int) -> object:
    """Expressions nest no deeper than this, so anything deeper came from outside as plain data already."""
    if type(value) is float and not math.isfinite(value):
        raise _not_finite()
    if type(value) in _PLAIN or depth > _DEEPEST_BUILT:
        return value
    if isinstance(value, Timestamp):
        return iso_timestamp(value)
    if isinstance(value, Duration):
        return format_duration(value)
    entries = as_map(value)
    if entries is not None:
        changed = {_key(key): _leave(item, depth + 1) for key, item in entries.items()}
        if len(changed) < len(entries):
            raise ExpressionError("Two keys of the map are the same in JSON.", code="invalid_argument")
        same = type(value) is dict and all(key in changed and changed[key] is entries[key] for key in entries)
        return value if same else changed
    items = as_list(value)
    if items is not None:
        parts = [_leave(item, depth + 1) for item in items]
        same = type(value) is list and all(map(operator.is_, parts, items))
        return value if same else parts
    return value


def _key(key: object) -> str:
    """Return the key of a map as JSON text."""
    if type(key) is str:
        return key
    if type(key) is int:
        return _digits(key)
    return ("true" if key else "false") if type(key) is bool else str(key)


def _digits(value: int) -> str:
    """Return the digits of an integer; Python itself refuses to write thousands of them."""
    if value.bit_length() > _MAX_INT_BITS:
        raise ExpressionError("The integer is too large to be written.", code="overflow")
    return str(value)


def _not_finite() -> ExpressionError:
    return ExpressionError("JSON has no NaN and no infinity.", code="invalid_argument")


def _write(value: object, pieces: list[str], meter: Meter, depth: int) -> None:
    scalar = _scalar(value, meter)
    if scalar is not None:
        pieces.append(scalar)
        return
    if depth >= _MAX_DEPTH:
        raise _too_deep("json")
    items = as_list(value)
    if items is not None:
        meter.charge(len(items), 2 * len(items) + 2)
        for number, item in enumerate(items):
            pieces.append("," if number else "[")
            _write(item, pieces, meter, depth + 1)
        pieces.append("]" if items else "[]")
        return
    entries = as_map(value)
    if entries is None:
        raise ExpressionError("The value has no JSON form.", code="invalid_argument")
    meter.charge(len(entries), 4 * len(entries) + 2)
    for number, key in enumerate(entries):
        pieces.append("," if number else "{")
        name = _scalar(key, meter)
        if name is None:
            raise ExpressionError("The key of a map has no JSON form.", code="invalid_argument")
        pieces.append(name if type(key) is str else f'"{name}"')
        pieces.append(":")
        _write(entries[key], pieces, meter, depth + 1)
    pieces.append("}" if entries else "{}")


def _scalar(value: object, meter: Meter) -> str | None:
    if type(value) is str:
        meter.build(len(value) + 2)
        return stdlib_json.dumps(value, ensure_ascii=False)
    if value is None or type(value) is bool:
        return "null" if value is None else "true" if value else "false"
    if type(value) is int:
        meter.build(min(value.bit_length(), _MAX_INT_BITS) // 3)
        return _digits(value)
    if type(value) is float:
        if math.isnan(value) or math.isinf(value):
            raise _not_finite()
        return repr(value)
    if isinstance(value, Timestamp):
        return f'"{iso_timestamp(value)}"'
    if isinstance(value, Duration):
        return f'"{format_duration(value)}"'
    return None


def _too_deep(function: str) -> ExpressionError:
    return ExpressionError(f"`{function}` does not go deeper than {_MAX_DEPTH} levels.", code="invalid_argument")
