"""The functions on text, as CEL's strings extension defines them: positions count code points, from 0.

Each function charges the meter for the text it reads and, before it builds anything, for its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.values import display, no_overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.expressions.frame import Frame
    from layover.core.expressions.limits import Meter

_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SHORT = 16
# The cases in which CPython's search compares naively (`Objects/stringlib/fastsearch.h`), and how much of that is a
# step.
_TINY, _SHORT_PART = 5, 100
_SHORT_TEXT, _MIDDLING_TEXT = 2_500, 30_000
_COMPARISONS_PER_STEP = 512
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def contains(frame: Frame, text: str, part: str) -> bool:
    """Return whether a text has a part."""
    _charge_search(frame.meter, text, part)
    return part in text


def starts_with(frame: Frame, text: str, prefix: str) -> bool:
    """Return whether a text starts with another."""
    frame.meter.scan(len(prefix))
    return text.startswith(prefix)


def ends_with(frame: Frame, text: str, suffix: str) -> bool:
    """Return whether a text ends with another."""
    frame.meter.scan(len(suffix))
    return text.endswith(suffix)


def lower_ascii(frame: Frame, text: str) -> str:
    """Return a text with A-Z in lower case."""
    frame.meter.build(len(text))
    return text.lower() if text.isascii() else text.translate(_LOWER)


def upper_ascii(frame: Frame, text: str) -> str:
    """Return a text with a-z in upper case."""
    frame.meter.build(len(text))
    return text.upper() if text.isascii() else text.translate(_UPPER)


def trim(frame: Frame, text: str) -> str:
    """Return a text without white space at its ends."""
    frame.meter.build(len(text))
    return text.strip(_WHITE_SPACE)


def reverse(frame: Frame, text: str) -> str:
    """Return the characters of a text backwards."""
    frame.meter.build(len(text))
    return text[::-1]


def split(frame: Frame, text: str, separator: str, limit: int = -1) -> list[str]:
    """Return the parts between separators, at most `limit` of them unless it is negative."""
    meter = frame.meter
    _charge_search(meter, text, separator)
    if limit == 0:
        return []
    if limit == 1 or not text:
        return [text]
    if separator:
        most = text.count(separator) if limit < 0 else min(limit - 1, text.count(separator))
        meter.build(len(text) + most + 1)
        return text.split(separator, most)
    pieces = len(text) if limit < 0 else min(limit, len(text))
    meter.build(len(text) + pieces)
    return [*text[: pieces - 1], text[pieces - 1 :]]


def join(frame: Frame, parts: Sequence[object], separator: str = "") -> str:
    """Return texts one after the other, with a separator between them."""
    total = 0
    texts: list[str] = []
    frame.meter.charge(len(parts))
    for part in parts:
        if type(part) is not str:
            raise no_overload("join", parts, part)
        total += len(part)
        texts.append(part)
    frame.meter.build(total + len(separator) * max(len(texts) - 1, 0))
    return separator.join(texts)


def replace(frame: Frame, text: str, old: str, new: str, limit: int = -1) -> str:
    """Return a text with a part replaced, at most `limit` times unless it is negative."""
    meter = frame.meter
    _charge_search(meter, text, old)
    found = text.count(old)
    times = found if limit < 0 else min(found, limit)
    meter.build(max(0, len(text) + times * (len(new) - len(old))))
    return text.replace(old, new, times)


def substring(frame: Frame, text: str, start: int, end: int | None = None) -> str:
    """Return the characters from one position up to another."""
    end = len(text) if end is None else end
    if start < 0 or end < start or end > len(text):
        raise _outside(f"{display(start)} to {display(end)}", text)
    frame.meter.build(end - start)
    return text[start:end]


def index_of(frame: Frame, text: str, part: str, start: int = 0) -> int:
    """Return the first position of a part at or after a position, or -1."""
    if not 0 <= start <= len(text):
        raise _outside(display(start), text)
    _charge_search(frame.meter, text, part)
    return text.find(part, start)


def last_index_of(frame: Frame, text: str, part: str, start: int | None = None) -> int:
    """Return the last position of a part at or before a position, or -1."""
    _charge_search(frame.meter, text, part)
    if start is not None and not 0 <= start <= len(text):
        raise _outside(display(start), text)
    end = len(text) if start is None else min(start + len(part), len(text))
    if len(part) <= _SHORT:
        return text.rfind(part, 0, end)
    # Python searches backwards in quadratic time, but forwards in linear time.
    frame.meter.build(end + len(part))
    found = text[:end][::-1].find(part[::-1])
    return found if found < 0 else end - found - len(part)


def char_at(_: Frame, text: str, position: int) -> str:
    """Return the character at a position, or an empty text right behind the last one."""
    if not 0 <= position <= len(text):
        raise _outside(display(position), text)
    return text[position : position + 1]


def _charge_search(meter: Meter, text: str, part: str) -> None:
    """Charge for a search: Python's takes time linear to a long text, but text times part in a short one."""
    length, wanted = len(text), len(part)
    meter.scan(length + wanted)
    if wanted > _TINY and (length < _SHORT_TEXT or (wanted < _SHORT_PART and length < _MIDDLING_TEXT)):
        meter.charge(wanted * length // _COMPARISONS_PER_STEP)


def _outside(position: str, text: str) -> ExpressionError:
    return ExpressionError(
        f"Position {position} lies outside a text of {len(text)} characters.", code="invalid_argument"
    )
