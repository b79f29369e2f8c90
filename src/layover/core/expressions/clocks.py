"""The functions on time: the parts of a timestamp or a duration, and the values that depend on the moment.

`now()`, `next(…)` and `uuid()` are functions of the moment alone, so an evaluation that is repeated gives the same
results.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from layover.core.calendar import next_cron, parse_cron, zone_named
from layover.core.expressions import instants
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import SECOND, Civil, Duration, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.expressions.frame import Frame

_MILLISECOND = 1_000_000
_ZONE = 100  # steps to find a time zone: its file is read at the first use
_NEXT = 5000  # steps to find the next time of a cron line: for a rare day it looks at many years


def now(frame: Frame) -> Timestamp:
    """Return the moment of the evaluation."""
    return instants.timestamp(frame.moment.now * _MILLISECOND)


def next_time(frame: Frame, line: str, zone: str = "UTC", after: Timestamp | None = None) -> Timestamp:
    """Return when a cron line happens next in a time zone, after this moment or another one."""
    frame.meter.charge(_NEXT)
    at = frame.moment.now if after is None else after.ns // _MILLISECOND
    try:
        found = next_cron(parse_cron(line), zone_named(zone), at)
    except ValueError as error:
        raise ExpressionError(str(error), code="invalid_argument") from error
    if found is None:
        raise ExpressionError(f"`{line}` does not happen again in `{zone}`.", code="invalid_argument")
    return instants.timestamp(found[0] * _MILLISECOND)


def uuid(frame: Frame) -> str:
    """Return an id that only this call of this evaluation gets, as a UUID of version 8."""
    frame.meter.ids += 1
    digest = bytearray(hashlib.sha256(f"{frame.moment.seed}\0{frame.meter.ids}".encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def calendar(part: Callable[[Civil], int]) -> Callable[..., int]:
    """Return a function that reads one part of the calendar at a timestamp."""

    def read(frame: Frame, value: Timestamp, zone: str = "") -> int:
        return part(_civil(frame, value, zone))

    return read


def clock(part: Callable[[Civil], int], unit: int) -> Callable[..., int]:
    """Return a function that reads one part of the clock at a timestamp, or a whole duration in that unit."""

    def read(frame: Frame, value: Timestamp | Duration, zone: str = "") -> int:
        if isinstance(value, Timestamp):
            return part(_civil(frame, value, zone))
        return _whole(value.ns, unit)

    return read


def milliseconds(frame: Frame, value: Timestamp | Duration, zone: str = "") -> int:
    """Return the milliseconds within the second."""
    if isinstance(value, Timestamp):
        _civil(frame, value, zone)
        return value.ns % SECOND // _MILLISECOND
    return _whole(value.ns, _MILLISECOND) - _whole(value.ns, SECOND) * 1000


def _civil(frame: Frame, value: Timestamp, zone: str) -> Civil:
    if zone:
        frame.meter.charge(_ZONE)
    return instants.civil(value, zone)


def _whole(value: int, unit: int) -> int:
    """Divide towards zero."""
    return value // unit if value >= 0 else -(-value // unit)
