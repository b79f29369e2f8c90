"""Durations that foreign documents write as a number beside a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.tree_edits import number_of, text_of
from layover.core.definitions.durations import format_duration

if TYPE_CHECKING:
    from layover.core.definitions.tree import Tree

_MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_UNITS: Final = {
    spelling: short
    for short, spellings in {
        "ms": "ms millis millisecond milliseconds",
        "s": "s sec second seconds",
        "m": "m min minute minutes",
        "h": "h hour hours",
        "d": "d day days",
        "w": "w week weeks",
    }.items()
    for spelling in spellings.split()
}
UNIT_WORDS: Final = ("milliseconds", "seconds", "minutes", "hours", "days", "weeks")
_LARGEST = 10**30


def unit_of(tree: Tree | None, default: str) -> str | None:
    """Return the short form of a unit, the default if there is none, None if it is unknown."""
    if tree is None or tree.value is None:
        return default
    return _UNITS.get((text_of(tree) or "").strip().lower())


def length(tree: Tree, unit: str) -> Tree:
    """Return a number as a duration in a unit, `0s` if it is not positive; anything else stays as it is.

    A text that is wholly `@{ }` gives a number too, so the unit is put behind it.
    """
    number = number_of(tree)
    if number is None:
        text = text_of(tree) or ""
        return tree.with_value(text + unit) if text.startswith("@{") and text.endswith("}") else tree
    if number <= 0:
        return tree.with_value("0s")
    if number > _LARGEST:
        return tree
    if number == int(number):
        return tree.with_value(f"{int(number)}{unit}")
    return tree.with_value(format_duration(round(number * _MILLISECONDS[unit])))
