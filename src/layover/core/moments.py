"""Times: as a `datetime` for programs, and as ISO-8601 text for machines; UTC, in milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = "0001-01-01T00:00:00.000Z"
_LAST: Final = "9999-12-31T23:59:59.999Z"
_MINUTE: Final = 60_000  # milliseconds


def _of(at: int) -> Moment:
    """Return the time of so many milliseconds since 1970; one outside of the calendar is its nearest end."""
    minute, rest = divmod(at, _MINUTE)
    second, millisecond = divmod(rest, 1000)
    try:
        year, month, day, hour, in_hour = _parts(minute)
    except OverflowError:  # a deadline may be as far away as its author likes
        return Moment.fromisoformat(_LAST if at > 0 else _FIRST)
    return Moment(year, month, day, hour, in_hour, second, millisecond * 1000, UTC)


@lru_cache(maxsize=4096)
def _parts(minute: int) -> tuple[int, int, int, int, int]:
    """Return the date and the time of a minute: results are full of times, and this is most of the work for one."""
    at = _BEGINNING + timedelta(minutes=minute)
    return at.year, at.month, at.day, at.hour, at.minute


@lru_cache(maxsize=4096)  # the same times are asked for again, and most of all whether there is one
def _maybe(at: int | None) -> Moment | None:
    """Return the time of so many milliseconds, if there is one."""
    return None if at is None else _of(at)


class Moment(datetime):
    """A time: a `datetime` in UTC that is written with milliseconds, as `2026-11-16T09:30:00.123Z`."""

    __slots__ = ()

    of = staticmethod(cast("Callable[[int], Moment]", _maybe))
    maybe = staticmethod(_maybe)

    @classmethod
    def read(cls, text: str) -> Moment:
        """Return the time that an ISO-8601 text with a zone names."""
        at = cls.fromisoformat(text)
        if at.tzinfo is None:
            raise ValueError("a time needs a zone")
        return cls.fromtimestamp(at.timestamp(), UTC) if at.utcoffset() else at

    @property
    def milliseconds(self) -> int:
        """How many milliseconds lie between 1970 and this time."""
        return (self - _ZERO) // timedelta(milliseconds=1)

    def __str__(self) -> str:
        return self.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


_ZERO: Final = Moment(1970, 1, 1, tzinfo=UTC)


@overload
def moment(at: int) -> str: ...
@overload
def moment(at: int | None) -> str | None: ...
def moment(at: int | None) -> str | None:
    """Return a moment in ISO-8601, UTC, with milliseconds; one beyond the calendar becomes its nearest end."""
    if at is None:
        return None
    minute, rest = divmod(at, _MINUTE)
    try:
        return f"{_begins(minute)}{rest // 1000:02}.{rest % 1000:03}Z"
    except OverflowError:  # a deadline may be arbitrarily far away
        return _LAST if at > 0 else _FIRST


@lru_cache(maxsize=4096)
def _begins(minute: int) -> str:
    """Return the text with which the moments of a minute begin: cached, because long lists repeat it."""
    return (_BEGINNING + timedelta(minutes=minute)).isoformat()[:17]
