"""A document as a tree of values that know their position in the text.

Every later stage (dialects, sugar, reading, checking) takes and gives such trees, so that a problem found at the very
end can still point at the line and column where its author wrote it. A rewritten value keeps the place of what it was
made from.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, TypeAlias

from layover.core.definitions.limits import DEFAULT_LIMITS, DefinitionLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Value: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"


class SourcePosition:
    """The position of a value: its path through the document and, if it came from text, line and column from 1."""

    __slots__ = ("column", "key", "line", "parent")

    def __init__(
        self, parent: SourcePosition | None, key: str | int | None, line: int | None = None, column: int | None = None
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
        place: SourcePosition | None = self
        while place is not None and place.key is not None:
            keys.append(place.key)
            place = place.parent
        return reversed(keys)


ROOT = SourcePosition(None, None)
_LONGEST_STEP = 255
_SURROGATE = re.compile("[\ud800-\udfff]").search


class Tree:
    """One value of a document with its position.

    `key_place` is the position of the key in front of a mapping's value. `text_column` is the column of the first
    character of a string that stands unbroken and unescaped on one line, so that an offset in it is a column too.
    """

    __slots__ = ("key_place", "place", "text_column", "value")

    def __init__(
        self,
        value: Value,
        place: SourcePosition,
        key_place: SourcePosition | None = None,
        text_column: int | None = None,
    ) -> None:
        self.value = value
        self.place = place
        self.key_place = key_place or place
        self.text_column = text_column

    def get(self, key: str) -> Tree | None:
        """Return the value under a key if this is a mapping that has it."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def with_value(self, value: Value) -> Tree:
        """Return another value at the same position."""
        return Tree(value, self.place, self.key_place)

    def plain(self) -> Json:
        """Return the value without positions, as plain JSON."""
        value = self.value
        if isinstance(value, dict):
            return {key: child.plain() for key, child in value.items()}
        if isinstance(value, list):
            return [child.plain() for child in value]
        return value


class NotJson(Exception):  # noqa: N818 - says what the value is
    """A Python value that JSON cannot hold, with the code of the problem."""

    def __init__(self, code: str, place: SourcePosition, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.place = place


def tree_from_data(value: object, place: SourcePosition = ROOT, limits: DefinitionLimits = DEFAULT_LIMITS) -> Tree:
    """Make a tree of plain data that has no text; NotJson if JSON cannot hold it or a bound is exceeded."""
    return _Planter(limits).plant(value, place, 0)


class _Planter:
    """Counts the values: data can share parts of itself, or contain itself, and is then larger than it looks."""

    def __init__(self, limits: DefinitionLimits) -> None:
        self._limits = limits
        self._values = 0

    def plant(self, value: object, place: SourcePosition, depth: int) -> Tree:
        self._values += 1
        if self._values > self._limits.values:
            raise NotJson("too_large", place, f"A definition has at most {self._limits.values} values.")
        if isinstance(value, dict | list | tuple):
            if depth == self._limits.depth:
                raise NotJson("too_deep", place, f"This is nested deeper than {self._limits.depth} levels.")
            return Tree(self._children(value, place, depth + 1), place)
        return Tree(_scalar(value, place), place)

    def _children(
        self, value: dict[object, object] | list[object] | tuple[object, ...], place: SourcePosition, depth: int
    ) -> Value:
        if not isinstance(value, dict):
            return [self.plant(child, SourcePosition(place, index), depth) for index, child in enumerate(value)]
        children = {}
        for key, child in value.items():
            if not isinstance(key, str):
                raise NotJson("bad_type", place, f"Keys are text, not {type(key).__name__}.")
            name = _text(key, place)
            children[name] = self.plant(child, SourcePosition(place, name), depth)
        return children


def _scalar(value: object, place: SourcePosition) -> bool | int | float | str | None:
    """Return a scalar of exactly the JSON type, so that writers need not handle subclasses."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise NotJson("number_too_large", place, "Whole numbers have at most 64 bits.")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson("bad_number", place, f"A definition holds finite numbers, not {value}.")
        return float(value)
    raise NotJson("bad_type", place, f"A definition holds JSON values, not {type(value).__name__}.")


def _text(text: str, place: SourcePosition) -> str:
    if not text.isascii() and _SURROGATE(text):
        raise NotJson("bad_text", place, "This text holds half of a character (a lone surrogate): write it whole.")
    return str.__str__(text)


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if len(key) > _LONGEST_STEP:
        key = f"{key[: _LONGEST_STEP - 1]}…"
    plain = key.replace("_", "a").replace("-", "a")
    return f".{key}" if plain.isascii() and plain.isalnum() else f"[{key!r}]"
