"""A document as a tree of values that know where they stand in the text.

Every later stage (dialects, sugar, reading, checking) takes and gives such trees, so that a problem found at the very
end can still point at the line and column where its author wrote it. A rewritten value keeps the place of what it was
made from.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Value: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"


class Place:
    """Where a value stands: its path through the document and, if it came from text, line and column from 1."""

    __slots__ = ("column", "key", "line", "parent")

    def __init__(
        self, parent: Place | None, key: str | int | None, line: int | None = None, column: int | None = None
    ) -> None:
        self.parent = parent
        self.key = key
        self.line = line
        self.column = column

    @property
    def path(self) -> str:
        """The path as JSONPath writes it: ``$.nodes[3].next.true``."""
        return "$" + "".join(_step(key) for key in self._keys())

    def _keys(self) -> Iterator[str | int]:
        keys: list[str | int] = []
        place: Place | None = self
        while place is not None and place.key is not None:
            keys.append(place.key)
            place = place.parent
        return reversed(keys)


ROOT = Place(None, None)
_LONGEST_STEP = 255


class Tree:
    """One value of a document with its place.

    `key_place` is the place of the key in front of a mapping's value. `text_column` is the column of the first
    character of a string that stands unbroken and unescaped on one line, so that an offset in it is a column too.
    """

    __slots__ = ("key_place", "place", "text_column", "value")

    def __init__(
        self, value: Value, place: Place, key_place: Place | None = None, text_column: int | None = None
    ) -> None:
        self.value = value
        self.place = place
        self.key_place = key_place or place
        self.text_column = text_column

    def get(self, key: str) -> Tree | None:
        """Return the value under a key if this is a mapping that has it."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def with_value(self, value: Value) -> Tree:
        """Return another value that stands at this place."""
        return Tree(value, self.place, self.key_place)

    def plain(self) -> Json:
        """Return the value without places, as JSON knows it."""
        value = self.value
        if isinstance(value, dict):
            return {key: child.plain() for key, child in value.items()}
        if isinstance(value, list):
            return [child.plain() for child in value]
        return value


class NotJson(Exception):  # noqa: N818 - says what the value is
    """A Python value that no JSON document can hold, with the code of the problem that it is."""

    def __init__(self, code: str, place: Place, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.place = place


def plant(value: object, place: Place = ROOT, depth: int = 100) -> Tree:
    """Make a tree of plain data that has no text; NotJson if JSON could not hold it or it is nested too deeply."""
    if depth < 0:
        raise NotJson("too_deep", place, "This is nested too deeply.")
    if isinstance(value, dict):
        children = {}
        for key, child in value.items():
            if not isinstance(key, str):
                raise NotJson("bad_type", place, f"Keys are text, not {type(key).__name__}.")
            children[key] = plant(child, Place(place, key), depth - 1)
        return Tree(children, place)
    if isinstance(value, list | tuple):
        return Tree([plant(child, Place(place, index), depth - 1) for index, child in enumerate(value)], place)
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson("bad_number", place, f"A definition holds finite numbers, not {value}.")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise NotJson("number_too_large", place, "Whole numbers have at most 64 bits.")
    if value is None or isinstance(value, bool | int | float | str):
        return Tree(value, place)
    raise NotJson("bad_type", place, f"A definition holds JSON values, not {type(value).__name__}.")


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if len(key) > _LONGEST_STEP:
        key = f"{key[: _LONGEST_STEP - 1]}…"
    plain = key.replace("_", "a").replace("-", "a")
    return f".{key}" if plain.isascii() and plain.isalnum() else f"[{key!r}]"
