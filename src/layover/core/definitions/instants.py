"""Dates and times as authors write them: `2027-01-31`, `2027-01-31T08:00`, `2027-01-31T08:00:00+01:00`.

Without an offset, they are what a clock on the wall of some zone shows.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

_EARLIEST_YEAR, _LATEST_YEAR = 1970, 9000  # what can be counted in milliseconds, with room on both sides


def is_instant(text: str) -> bool:
    """Return whether a text is a date, or a date and a time."""
    try:
        parse_instant(text, UTC)
    except ValueError:
        return False
    return True


def parse_instant(text: str, zone: tzinfo) -> int:
    """Return the milliseconds since 1970 UTC of a date or time; one without an offset is of the zone."""
    read = datetime.fromisoformat(text)
    if not _EARLIEST_YEAR <= read.year <= _LATEST_YEAR:
        raise ValueError(f"the year lies between {_EARLIEST_YEAR} and {_LATEST_YEAR}")
    aware = read if read.tzinfo is not None else read.replace(tzinfo=zone)
    return round(aware.timestamp() * 1000)
