"""Values that come from outside, as a person reads them: bounded, whatever they hold.

An object is a list of names and values, a list a list. What is too long, too deep or too many is cut, and said to be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from layover.pages.html import element, value

if TYPE_CHECKING:
    from layover.pages.html import Child, Html

_LONGEST_TEXT: Final = 2_000  # characters
_LONGEST_NAME: Final = 100
_LONGEST_TITLE: Final = 300
_DEEPEST: Final = 4
_MOST: Final = 200  # values on one page
_MOST_IN_ONE: Final = 50
_WORDS: Final = re.compile(r"[_\-]+|(?<=[a-z0-9])(?=[A-Z])")


class _Budget:
    """How many values a page still shows."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def facts(shown: object) -> Html:
    """Return what a person is shown of a value."""
    return element("div", _shown(shown, 0, _Budget(_MOST)), class_="facts")


def title_text(text: str) -> str:
    """Return a title within its bounds."""
    return _cut(" ".join(text.split()), _LONGEST_TITLE)


def label_of(name: str) -> str:
    """Return the name of a field as a label: `cost_centre` reads `Cost centre`."""
    words = " ".join(one.lower() if one[1:].islower() else one for one in _WORDS.split(name) if one)
    words = _cut(words, _LONGEST_NAME) or "(no name)"
    return words[:1].upper() + words[1:]


def short_text(given: object, most: int = _LONGEST_NAME) -> str:
    """Return a value as a text of one line."""
    return _cut(" ".join(_text(given).split()), most)


def _shown(given: object, depth: int, budget: _Budget) -> Child:
    if isinstance(given, Mapping) and given and depth < _DEEPEST:
        return _object(given, depth, budget)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and given and depth < _DEEPEST:
        return _list(given, depth, budget)
    budget.take()
    return value(_cut(_text(given), _LONGEST_TEXT))


def _object(given: Mapping[str, object], depth: int, budget: _Budget) -> Child:
    rows: list[Html] = []
    for name, one in list(given.items())[:_MOST_IN_ONE]:
        if budget.left <= 0:
            break
        label = element("dt", element("bdi", label_of(str(name))))
        rows.append(element("div", label, element("dd", _shown(one, depth + 1, budget))))
    return [element("dl", rows), _left_out(len(given) - len(rows))]


def _list(given: Sequence[object], depth: int, budget: _Budget) -> Child:
    items: list[Html] = []
    for one in given[:_MOST_IN_ONE]:
        if budget.left <= 0:
            break
        items.append(element("li", _shown(one, depth + 1, budget)))
    return [element("ul", items), _left_out(len(given) - len(items))]


def _left_out(count: int) -> Html | None:
    return element("p", f"… and {count:,} more", class_="small") if count > 0 else None


def _text(given: object) -> str:
    match given:
        case str():
            return given
        case None:
            return "-"
        case True:
            return "Yes"
        case False:
            return "No"
        case int():
            return str(given) if given.bit_length() < 1_000 else "a very large number"
        case float():
            return msgspec.json.encode(given).decode()
        case Mapping() | list() | tuple() if not given:
            return "-"
        case _:
            return _json(given)


def _json(given: object) -> str:
    try:
        return msgspec.json.encode(given)[: 8 * _LONGEST_TEXT].decode(errors="replace")
    except (TypeError, ValueError, RecursionError):
        return "a value that cannot be shown"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
