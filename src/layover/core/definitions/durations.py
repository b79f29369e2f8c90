"""Durations as people write them: `1h30m`, `2d`, `PT90M`. Inside they are whole milliseconds."""

from __future__ import annotations

import re

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
LONGEST_DURATION = 100 * 366 * _UNITS["d"]
_MOST_CHARACTERS = 64

SHORT_PATTERN = r"(?:\d+(?:ms|[wdhms]))+"
ISO_PATTERN = r"P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?"
DURATION_PATTERN = f"^(?:{SHORT_PATTERN}|{ISO_PATTERN})$"

_SHORT = re.compile(SHORT_PATTERN)
_PART = re.compile(r"(\d+)(ms|[wdhms])")
_ISO = re.compile(ISO_PATTERN)


def parse_duration(text: str) -> int:
    """Return milliseconds; ValueError says what a duration looks like."""
    if len(text) <= _MOST_CHARACTERS and text.isascii():
        if _SHORT.fullmatch(text):
            return _bounded(text, sum(int(n) * _UNITS[unit] for n, unit in _PART.findall(text)))
        iso = _ISO.fullmatch(text)
        if iso:
            weeks, days, hours, minutes, seconds, fraction = iso.groups(default="0")
            whole = zip((weeks, days, hours, minutes, seconds), ("w", "d", "h", "m", "s"), strict=True)
            milliseconds = sum(int(n) * _UNITS[unit] for n, unit in whole) + int(fraction.ljust(3, "0"))
            return _bounded(text, milliseconds)
    raise ValueError("a duration is written like `90s`, `1h30m`, `2d` or `PT15M` (units w, d, h, m, s, ms)")


def format_duration(milliseconds: int) -> str:
    """Return the shortest text that `parse_duration` turns back into the same number."""
    if milliseconds == 0:
        return "0s"
    text = ""
    for unit, size in _UNITS.items():
        count, milliseconds = divmod(milliseconds, size)
        if count:
            text += f"{count}{unit}"
    return text


def brief_duration(milliseconds: int) -> str:
    """Return a duration as people read it, rounded to its two largest units at most: `1.5s`, `2h05m`."""
    if milliseconds < 1_000:
        return f"{milliseconds}ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f}s"
    seconds = milliseconds // 1000
    if seconds < 3_600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    if seconds < 86_400:
        return f"{seconds // 3_600}h{seconds % 3_600 // 60:02}m"
    return f"{seconds // 86_400}d{seconds % 86_400 // 3_600:02}h"


def _bounded(text: str, milliseconds: int) -> int:
    if milliseconds > LONGEST_DURATION:
        raise ValueError(f"`{text}` is longer than a hundred years")
    return milliseconds
