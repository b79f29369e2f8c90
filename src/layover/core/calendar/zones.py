"""Time zones by name, from the zone data that are installed with Layover.

The data of the operating system are not used: instances on different machines would disagree about a schedule, and none
could tell the release of its data. So `ZONE_DATA` names the release of all data that are used here. The file of a zone
is read once. The package `tzdata` is a folder of files: nothing of it is imported, which keeps the start fast.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo


def _folder() -> Path:
    found = find_spec("tzdata")
    if found is None or not found.submodule_search_locations:
        raise ImportError("The package `tzdata` is not installed: install Layover with its dependencies.")
    return Path(found.submodule_search_locations[0])


def _release(folder: Path) -> str:
    with (folder / "zoneinfo" / "tzdata.zi").open(encoding="utf-8") as file:
        return file.readline(100).removeprefix("# version ").strip()


_FOLDER: Final = _folder()
ZONE_DATA: Final = _release(_FOLDER)  # "2026f"; a newer release sorts behind an older one

_STEP: Final = timedelta(hours=6)  # no zone keeps an offset for a shorter time
_SECOND: Final = timedelta(seconds=1)
_NONE: Final = timedelta()


@lru_cache(maxsize=1024)
def zone_named(name: str) -> ZoneInfo:
    """Return a zone of the IANA database; ValueError for any other name."""
    if name not in _names():
        raise ValueError(f"`{name[:100]}` is not a time zone such as `Europe/Berlin` or `UTC`.")
    with _FOLDER.joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset((_FOLDER / "zones").read_text(encoding="utf-8").split())


def offset_at(zone: ZoneInfo, at: datetime) -> timedelta:
    """Return how far the dial of a zone is ahead of UTC at an instant, which is given in UTC without a zone."""
    return at.replace(tzinfo=UTC).astimezone(zone).utcoffset() or _NONE


def first_change(zone: ZoneInfo, begin: datetime, end: datetime) -> datetime | None:
    """Return the first second in `begin < second <= end` at which the offset is not that of `begin`."""
    offset = offset_at(zone, begin)
    low, high = begin, min(begin + _STEP, end)
    while offset_at(zone, high) == offset:
        if high == end:
            return None
        low, high = high, min(high + _STEP, end)
    while high - low > _SECOND:
        middle = low + (high - low) // _SECOND // 2 * _SECOND
        if offset_at(zone, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def first_shown(zone: ZoneInfo, wall: datetime) -> datetime:
    """Return the instant at which the dial first shows a time, or shows a later one because it jumps over that time."""
    early, late = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC).replace(tzinfo=None, fold=0) for fold in (0, 1))
    if early + offset_at(zone, early) == wall:
        return early
    # The two readings of a time inside a gap lie on both sides of the change.
    begin, end = min(early, late) - _SECOND, max(early, late)
    return first_change(zone, begin, end) or end
