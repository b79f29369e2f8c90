"""Timestamps and durations: nanoseconds in an int, with the ranges and the texts that CEL gives them.

Calendar arithmetic is done by hand on the proleptic Gregorian calendar, because `datetime` has microseconds only and
ends at the year 9999, while a timestamp seen in another time zone may lie just beyond it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from layover.core.calendar import zone_named
from layover.core.expressions.errors import ExpressionError

SECOND: Final = 1_000_000_000
_DAY: Final = 86_400
_EARLIEST: Final = -62_135_596_800 * SECOND
_LATEST: Final = 253_402_300_800 * SECOND - 1
LAST_MOMENT: Final = _LATEST // 1_000_000  # in milliseconds, as the engine counts
_LONGEST: Final = 315_576_000_000 * SECOND + SECOND - 1
_UNITS: Final = {"h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND, "ms": 1_000_000, "us": 1_000, "ns": 1}
_MAX_TEXT: Final = 100

_TIMESTAMP = re.compile(
    r"[ \t\n\v\f\r]*([0-9]{1,5})-([0-9]{1,2})-([0-9]{1,2})[Tt]"
    r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))[ \t\n\v\f\r]*"
)
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(h|ms|m|s|us|ns)")
_OFFSET = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{1,2})")
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Timestamp(msgspec.Struct, frozen=True, order=True):
    """A point in time between the years 1 and 9999, in nanoseconds since 1970 UTC."""

    ns: int


class Duration(msgspec.Struct, frozen=True, order=True):
    """A span of time of at most about 10,000 years, in nanoseconds."""

    ns: int


class Civil(msgspec.Struct, frozen=True):
    """A timestamp as a calendar and a clock show it; all parts count as CEL counts them."""

    year: int
    month: int
    day: int
    day_of_week: int
    day_of_year: int
    hour: int
    minute: int
    second: int


def timestamp(ns: int) -> Timestamp:
    """Return a timestamp, unless it lies outside the years 1 to 9999."""
    if not _EARLIEST <= ns <= _LATEST:
        raise ExpressionError("The timestamp lies outside the years 1 to 9999.", code="overflow")
    return Timestamp(ns)


def duration(ns: int) -> Duration:
    """Return the duration that a computation gives, unless its nanoseconds need more than 64 bits."""
    if not -(2**63) <= ns < 2**63:
        raise ExpressionError("The duration is longer than 292 years.", code="overflow")
    return Duration(ns)


def parse_timestamp(text: str) -> Timestamp:
    """Return the timestamp that an RFC 3339 text stands for."""
    match = _TIMESTAMP.fullmatch(text) if len(text) <= _MAX_TEXT else None
    if match is None:
        raise _no_timestamp(text)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60 and second <= 60):
        raise _no_timestamp(text)
    seconds = _days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second
    if sign:
        if int(hours) > 23 or int(minutes) > 59:
            raise _no_timestamp(text)
        shift = int(hours) * 3600 + int(minutes) * 60
        seconds += shift if sign == "-" else -shift
    return timestamp(seconds * SECOND + int((fraction or "0")[:9].ljust(9, "0")))


def format_timestamp(value: Timestamp) -> str:
    """Return the RFC 3339 text that CEL's `string()` gives: a fraction of 3, 6 or 9 digits where there is one."""
    seconds, nanos = divmod(value.ns, SECOND)
    return f"{_date_and_time(seconds)}{_fraction(nanos)}Z"


def short_timestamp(value: Timestamp) -> str:
    """Return the RFC 3339 text that CEL's `%s` gives: a fraction without zeros at its end."""
    seconds, nanos = divmod(value.ns, SECOND)
    return f"{_date_and_time(seconds)}{_fraction(nanos).rstrip('0')}Z"


def iso_timestamp(value: Timestamp) -> str:
    """Return the text that leaves an expression: milliseconds always, nanoseconds only where there are any."""
    seconds, nanos = divmod(value.ns, SECOND)
    return f"{_date_and_time(seconds)}{_fraction(nanos) or '.000'}Z"


def parse_duration(text: str) -> Duration:
    """Return the duration that a text such as `1h30m` or `1.5s` stands for."""
    body = text[1:] if text[:1] in {"+", "-"} else text
    if len(text) > _MAX_TEXT or not body:
        raise _no_duration(text)
    total = 0
    position = 0
    while position < len(body) and body != "0":
        match = _DURATION_PART.match(body, position)
        if match is None or not (match[1] or match[2]):
            raise _no_duration(text)
        unit = _UNITS[match[3]]
        fraction = match[2] or ""
        total += int(match[1] or "0") * unit
        if fraction:
            total += int(fraction) * unit // 10 ** len(fraction)
        position = match.end()
    total = -total if text[0] == "-" else total
    if not -_LONGEST <= total <= _LONGEST:
        raise ExpressionError(f"`{text}` is longer than 10,000 years.", code="invalid_argument")
    return Duration(total)


def format_duration(value: Duration) -> str:
    """Return a duration as CEL writes it, in seconds: `3600s`, `0.500s`."""
    seconds, nanos = divmod(abs(value.ns), SECOND)
    return f"{'-' if value.ns < 0 else ''}{seconds}{_fraction(nanos)}s"


def civil(value: Timestamp, zone: str) -> Civil:
    """Return the calendar and clock time of a timestamp, in a named time zone or at a fixed offset."""
    days, rest = divmod(value.ns // SECOND + _offset(value, zone), _DAY)
    year, month, day = _date(days)
    return Civil(
        year=year,
        month=month,
        day=day,
        day_of_week=(days + 4) % 7,
        day_of_year=days - _days(year, 1, 1),
        hour=rest // 3600,
        minute=rest // 60 % 60,
        second=rest % 60,
    )


def _offset(value: Timestamp, zone: str) -> int:
    """Return the seconds that a zone is ahead of UTC at a timestamp."""
    if zone in {"", "UTC"}:
        return 0
    fixed = _OFFSET.fullmatch(zone)
    if fixed is not None:
        seconds = int(fixed[2]) * 3600 + int(fixed[3]) * 60
        return -seconds if fixed[1] == "-" else seconds
    try:
        known = zone_named(zone)
    except ValueError as error:
        raise _no_zone(zone) from error
    # A year inside both ends keeps `datetime` in range; zones do not change their rules out there.
    seconds = min(max(value.ns // SECOND, -62_100_000_000), 253_370_000_000)
    utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    ahead = utc.astimezone(known).utcoffset()
    return 0 if ahead is None else round(ahead.total_seconds())


def _date_and_time(seconds: int) -> str:
    days, rest = divmod(seconds, _DAY)
    year, month, day = _date(days)
    return f"{year:04}-{month:02}-{day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    if nanos % 1_000_000 == 0:
        return f".{nanos // 1_000_000:03}"
    if nanos % 1_000 == 0:
        return f".{nanos // 1_000:06}"
    return f".{nanos:09}"


def _days_in(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap else _MONTH_DAYS[month - 1]


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date; years begin in March so that the leap day comes last."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _date(days: int) -> tuple[int, int, int]:
    """Return the date that lies some days after 1970-01-01: the inverse of `_days`."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def _no_timestamp(text: str) -> ExpressionError:
    return ExpressionError(
        f"`{text[:_MAX_TEXT]}` is not a timestamp such as `2026-01-02T03:04:05Z`.", code="invalid_argument"
    )


def _no_duration(text: str) -> ExpressionError:
    return ExpressionError(f"`{text[:_MAX_TEXT]}` is not a duration such as `1h30m`.", code="invalid_argument")


def _no_zone(zone: str) -> ExpressionError:
    return ExpressionError(
        f"`{zone[:_MAX_TEXT]}` is not a time zone such as `Europe/Berlin` or `+01:00`.", code="invalid_argument"
    )
