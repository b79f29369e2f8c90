"""Moments as machines read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, overload

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = "0001-01-01T00:00:00.000Z"
_LAST: Final = "9999-12-31T23:59:59.999Z"
_MINUTE: Final = 60_000  # milliseconds


@overload
def moment(at: int) -> str: ...
@overload
def moment(at: int | None) -> str | None: ...
def moment(at: int | None) -> str | None:
    """Return a moment in ISO-8601, UTC, with milliseconds; one that no calendar has is its nearest end."""
    if at is None:
        return None
    minute, rest = divmod(at, _MINUTE)
    try:
        return f"{_begins(minute)}{rest // 1000:02}.{rest % 1000:03}Z"
    except OverflowError:  # a deadline may be as far away as somebody likes
        return _LAST if at > 0 else _FIRST


@lru_cache(maxsize=4096)
def _begins(minute: int) -> str:
    """Return how the moments of a minute begin: a list has many, and most of its time would go into their dates."""
    return (_BEGINNING + timedelta(minutes=minute)).isoformat()[:17]
