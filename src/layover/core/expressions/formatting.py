"""`'%s costs %.2f'.format([name, price])`, as CEL's strings extension defines it.

Every clause charges for its output before it builds it; a precision is at most 1000, and there are no widths.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import Duration, Timestamp, format_duration, short_timestamp
from layover.core.expressions.numbers import fits, format_double
from layover.core.expressions.values import as_list, as_map, kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.expressions.frame import Frame
    from layover.core.expressions.limits import Meter

_CLAUSE = re.compile(r"%(?:(%)|(?:\.([^a-zA-Z%]*))?(.)?)", re.DOTALL)
_MAX_PRECISION: Final = 1_000
_MAX_DEPTH: Final = 32
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def format_text(frame: Frame, template: str, arguments: Sequence[object]) -> str:
    """Return a template with each clause replaced by the next argument."""
    meter = frame.meter
    meter.build(len(template))
    pieces: list[str] = []
    position = 0
    used = 0
    for match in _CLAUSE.finditer(template):
        pieces.append(template[position : match.start()])
        position = match.end()
        if match[1]:
            pieces.append("%")
            continue
        clause = _CLAUSES.get(match[3] or "")
        precision = _precision(match[2])
        if clause is None:
            raise _invalid(f"`{match[0]}` is not a clause of `format`")
        if used >= len(arguments):
            raise _invalid(f"`format` has no argument {used + 1} for `{match[0]}`")
        meter.charge(1)
        pieces.append(clause(arguments[used], precision, meter))
        used += 1
    pieces.append(template[position:])
    return "".join(pieces)


def _precision(digits: str | None) -> int:
    if digits is None:
        return 6
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 9:
        raise _invalid(f"`.{digits[:20]}` is not a precision")
    precision = int(digits)
    if precision > _MAX_PRECISION:
        raise _invalid(f"A precision is at most {_MAX_PRECISION}, not {precision}")
    return precision


def text_of(value: object, meter: Meter, depth: int = 0) -> str:
    """Return a value as `%s` writes it."""
    if type(value) is str:
        meter.build(len(value))
        return value
    if value is None or type(value) is bool:
        return "null" if value is None else "true" if value else "false"
    if type(value) is int:
        return str(fits(value))
    if type(value) is float:
        return _special(value) or format_double(value)
    if isinstance(value, Timestamp):
        return short_timestamp(value)
    if isinstance(value, Duration):
        return format_duration(value)
    if depth >= _MAX_DEPTH:
        raise _invalid(f"`format` does not go deeper than {_MAX_DEPTH} levels into a value")
    items = as_list(value)
    if items is not None:
        meter.charge(len(items), 2 * len(items))
        return f"[{', '.join(text_of(item, meter, depth + 1) for item in items)}]"
    entries = as_map(value)
    if entries is not None:
        meter.charge(len(entries), 4 * len(entries))
        texts = sorted((text_of(key, meter, depth + 1), text_of(entries[key], meter, depth + 1)) for key in entries)
        return f"{{{', '.join(f'{key}: {text}' for key, text in texts)}}}"
    raise _refused("%s", value)


def _string(value: object, _: int, meter: Meter) -> str:
    return text_of(value, meter)


def _decimal(value: object, _: int, meter: Meter) -> str:
    if type(value) is int:
        return str(fits(value))
    if type(value) is float:
        return _fixed(value, 6, meter)
    raise _refused("%d", value)


def _fixed(value: object, precision: int, meter: Meter) -> str:
    number = _double("%f", value)
    meter.build(precision + (16 if abs(number) < 1e15 else 310))
    return _special(number) or f"{number:.{precision}f}"


def _scientific(value: object, precision: int, meter: Meter) -> str:
    number = _double("%e", value)
    meter.build(precision)
    return _special(number) or f"{number:.{precision}e}"


def _binary(value: object, _: int, meter: Meter) -> str:
    meter.build(64)
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) is int:
        return f"{fits(value):b}"
    raise _refused("%b", value)


def _octal(value: object, _: int, meter: Meter) -> str:
    meter.build(22)
    if type(value) is int:
        return f"{fits(value):o}"
    raise _refused("%o", value)


def _hex(value: object, _: int, meter: Meter) -> str:
    if type(value) is int:
        return f"{fits(value):x}"
    if type(value) is str:
        meter.build(8 * len(value))
        return value.encode("utf-8", "surrogatepass").hex()
    raise _refused("%x", value)


def _upper_hex(value: object, precision: int, meter: Meter) -> str:
    return _hex(value, precision, meter).upper()


def _double(clause: str, value: object) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        return float(fits(value))
    if type(value) is str and value in _SPECIAL:
        return _SPECIAL[value]
    raise _refused(clause, value)


def _special(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _refused(clause: str, value: object) -> ExpressionError:
    return _invalid(f"`{clause}` does not take a value of kind {kind(value)}")


def _invalid(sentence: str) -> ExpressionError:
    return ExpressionError(f"{sentence}.", code="invalid_argument")


_CLAUSES: Final[dict[str, Callable[[object, int, Meter], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": _upper_hex,
}
