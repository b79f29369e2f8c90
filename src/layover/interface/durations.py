"""Lengths of time as callers give them, a text such as `1h30m` or a `timedelta`, and moments, which have a zone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, TypeAlias, overload

from layover.core.definitions.durations import LONGEST_DURATION, parse_duration
from layover.core.moments import Moment
from layover.errors import InvalidInput

Duration: TypeAlias = str | timedelta  # a text such as `1h30m`, or a `timedelta`

_MILLISECOND: Final = timedelta(milliseconds=1)
_BEGINNING: Final = Moment.of(0)


@overload
def milliseconds_of(name: str, length: Duration) -> int: ...
@overload
def milliseconds_of(name: str, length: Duration | None) -> int | None: ...
def milliseconds_of(name: str, length: Duration | None) -> int | None:
    """Return a length of time in milliseconds; `name` is the argument that an error names."""
    if length is None:
        return None
    if isinstance(length, timedelta):
        found = length // _MILLISECOND
        if 0 <= found <= LONGEST_DURATION:
            return found
        raise _refused(name, f"{length!s} is not between nothing and a hundred years")
    if not isinstance(length, str):  # Python passes whatever it is given
        raise _refused(name, f"{length!r:.100} is not a length of time: give a text such as '90s', or a timedelta")
    try:
        return parse_duration(length)
    except ValueError as error:
        raise _refused(name, str(error)) from error


def seconds_of(name: str, length: Duration | None) -> float | None:
    """Return a length of time in seconds."""
    found = milliseconds_of(name, length)
    return None if found is None else found / 1000


def instant_of(name: str, at: datetime | None) -> int | None:
    """Return a moment in milliseconds since 1970."""
    if at is None:
        return None
    moment: object = at  # Python passes whatever it is given
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise _refused(name, f"{at!r:.100} is not a `datetime` with a time zone")
    return (moment - _BEGINNING) // _MILLISECOND


def _refused(name: str, fault: str) -> InvalidInput:
    return InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_parameter")
