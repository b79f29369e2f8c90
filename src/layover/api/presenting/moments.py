"""Moments as machines read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, overload

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)


@overload
def moment(at: int) -> str: ...
@overload
def moment(at: int | None) -> str | None: ...
def moment(at: int | None) -> str | None:
    """Return a moment in ISO-8601, UTC, with milliseconds; one that no calendar has is its nearest end."""
    if at is None:
        return None
    try:
        told = _BEGINNING + timedelta(milliseconds=at)
    except OverflowError:  # a deadline may be as far away as somebody likes
        told = _LAST if at > 0 else _FIRST
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")
