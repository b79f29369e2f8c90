"""Reads JSON into a tree whose every key and value knows its line and column.

A reader of our own, because neither msgspec nor the json module gives positions or notices a key that is given twice.
It accepts what RFC 8259 accepts and is stricter where JSON readers disagree: no NaN and no infinities, no whole number
beyond 64 bits, no fraction beyond a double, no key twice in one object, no half of a surrogate pair.

Invariants: one pass with an explicit stack, so that neither depth nor length can exhaust anything; every regular
expression consumes without taking back (possessive repeats of one character class), so that time is linear; line breaks
are counted as the reader passes them. Faults in the syntax and passed bounds end the reading, because the rest would be
guesswork. Everything else is reported and reading goes on, with 0 for a refused number and the first of two equal keys.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Final

from layover.core.definitions import json_faults, numerals
from layover.core.definitions.line_numbers import line_and_column
from layover.core.definitions.stop_reading import StopReading
from layover.core.definitions.tree import SourcePosition, Tree

if TYPE_CHECKING:
    from layover.core.definitions.limits import DefinitionLimits
    from layover.core.definitions.problems import Problems

_SPACE: Final = r"([ \t\n]*+)"
_STRING: Final = r'"([^"\\\x00-\x1f]*+)"'
_NUMBER: Final = r"-?(0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![-+.\w])"
_BLANK = re.compile(r"[ \t\n]*+").match
_MEMBER = re.compile(r"[ \t\n]*+(,?)" + _SPACE + _STRING + r"[ \t\n]*+:").match
_VALUE = re.compile(_SPACE + rf"(?:{_STRING}|{_NUMBER}|([\[{{])|(true|false|null)(?!\w))").match
_TEXT, _DIGITS, _NUMERAL, _OPENING, _WORD = 2, 3, 4, 5, 6  # the groups of _VALUE
_NO_NUMBER = re.compile(r"(?:NaN|-?Infinity)(?!\w)").match
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_WORDS: Final = {"true": True, "false": False, "null": None}
_CLOSING: Final = {"{": "}", "[": "]"}
_decode_string = JSONDecoder().raw_decode


def read_json(text: str, problems: Problems, limits: DefinitionLimits) -> Tree | None:
    """Return the value that a JSON text spells, or None if it cannot be read; the problems say why."""
    try:
        return _Reader(text, problems, limits).read()
    except StopReading as stop:
        problems.add(stop.code, stop.place, stop.message)
        return None


class _Open:
    """A list or an object whose end has not been read."""

    __slots__ = ("closing", "items", "members", "place", "started")

    def __init__(self, opening: str, place: SourcePosition) -> None:
        self.closing = _CLOSING[opening]
        self.members: dict[str, Tree] = {}
        self.items: list[Tree] = []
        self.place = place
        self.started = False


class _Reader:
    def __init__(self, text: str, problems: Problems, limits: DefinitionLimits) -> None:
        # A string in JSON holds no line break, so all kinds of line breaks can become the same here.
        self._text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        self._problems = problems
        self._limits = limits
        self._at = 0
        self._counted = 0
        self._line = 1
        self._line_start = 0
        self._values = 0
        self._open: list[_Open] = []

    def read(self) -> Tree:
        self._refuse_surrogates()
        if not self._text.strip(" \t\n"):
            raise StopReading("empty_document", SourcePosition(None, None, 1, 1), "The document is empty.")
        root = self._value(None, None, None)
        while self._open:
            self._continue(self._open[-1])
        at = self._skip_space()
        if at < len(self._text):
            raise self._fault(at, json_faults.after_the_end(self._text, at))
        return root

    def _continue(self, container: _Open) -> None:
        """Read the next entry of the innermost open container, or its end."""
        if container.closing == "}":
            match = _MEMBER(self._text, self._at)
            if match is not None and container.started == (match[1] == ","):
                self._at = match.end()
                container.started = True
                return self._member(container, match[3], match.end(2))
        if self._enter(container):
            if container.closing == "}":
                return self._unusual_member(container)
            container.items.append(self._value(container.place, len(container.items), None))
        return None

    def _enter(self, container: _Open) -> bool:
        """Pass the comma in front of an entry, or the end of the container; say whether an entry follows."""
        at = self._skip_space()
        mark = self._text[at : at + 1]
        if mark == container.closing:
            self._open.pop()
            self._at += 1
            return False
        if container.started != (mark == ","):
            raise self._fault(at, json_faults.between_entries(self._text, at, container.closing, container.place.line))
        self._at += container.started
        container.started = True
        return True

    def _member(self, container: _Open, key: str, start: int) -> None:
        """Read the value of a member whose key and colon have been read."""
        column = self._column(start)
        place = SourcePosition(container.place, key, self._line, column)
        tree = self._value(container.place, key, place)
        first = container.members.setdefault(key, tree)
        if first is not tree:
            message = f"{json_faults.quoted(key)} is given twice; it is already in line {first.key_place.line}."
            self._problems.add("duplicate_key", place, message)

    def _unusual_member(self, container: _Open) -> None:
        """Read a member whose key has escapes, or raise the fault at the place of its key or colon."""
        start = self._skip_space()
        if self._text[start : start + 1] != '"':
            raise self._fault(start, json_faults.no_key(self._text, start, container.place.line))
        key = self._string(SourcePosition(container.place, "", *self._line_and_column(start)))
        at = self._skip_space()
        if self._text[at : at + 1] != ":":
            raise self._fault(at, json_faults.no_colon(self._text, at, key))
        self._at += 1
        self._member(container, key, start)

    def _value(self, parent: SourcePosition | None, key: str | int | None, key_place: SourcePosition | None) -> Tree:
        self._values += 1
        if self._values > self._limits.values:
            place = SourcePosition(parent, key, *self._line_and_column(self._skip_space()))
            raise StopReading("too_large", place, f"The document has more than {self._limits.values} values.")
        match = _VALUE(self._text, self._at)
        if match is None:
            return self._unusual_value(parent, key, key_place)
        column = self._column(match.end(1))
        place = SourcePosition(parent, key, self._line, column)
        self._at = match.end()
        kind = match.lastindex
        if kind == _TEXT:
            return Tree(match[_TEXT], place, key_place, column + 1)
        if kind == _OPENING:
            return self._container(match[_OPENING], place, key_place)
        if kind == _WORD:
            return Tree(_WORDS[match[_WORD]], place, key_place)
        return Tree(self._number(match, place), place, key_place)

    def _container(self, opening: str, place: SourcePosition, key_place: SourcePosition | None) -> Tree:
        if len(self._open) == self._limits.depth:
            raise StopReading("too_deep", place, f"The document nests deeper than {self._limits.depth} levels.")
        container = _Open(opening, place)
        self._open.append(container)
        return Tree(container.members if opening == "{" else container.items, place, key_place)

    def _number(self, match: re.Match[str], place: SourcePosition) -> int | float:
        number: int | float | None
        negative = self._text[match.end(1)] == "-"
        if match[_NUMERAL]:
            number = numerals.fraction(self._text[match.end(1) : match.end()], self._limits.number_digits)
        else:
            number = numerals.integer(match[_DIGITS], sign=-1 if negative else 1)
        if number is None:
            self._problems.add("number_too_large", place, numerals.TOO_LARGE)
            return 0
        return number

    def _unusual_value(
        self, parent: SourcePosition | None, key: str | int | None, key_place: SourcePosition | None
    ) -> Tree:
        """Read a text with escapes or an invalid number, or raise the fault at the place of a value."""
        at = self._skip_space()
        place = SourcePosition(parent, key, *self._line_and_column(at))
        if self._text[at : at + 1] == '"':
            return Tree(self._string(place), place, key_place)
        no_number = _NO_NUMBER(self._text, at)
        if no_number is not None:
            self._at = no_number.end()
            self._problems.add("bad_number", place, numerals.NOT_A_NUMBER)
            return Tree(0, place, key_place)
        container = self._open[-1] if self._open else None
        message = json_faults.no_value(self._text, at, container.place.line if container else None)
        raise StopReading("syntax", place, message)

    def _string(self, place: SourcePosition) -> str:
        """Read a string that has escapes or a fault; the json module is as strict about those as we are."""
        value: str
        start = self._at
        try:
            value, self._at = _decode_string(self._text, start)
        except JSONDecodeError as error:
            at = max(error.pos, start)
            raise self._fault(at, json_faults.in_string(self._text, at, error.msg)) from None
        if value.isascii() or not _SURROGATE.search(value):
            return value
        self._problems.add("bad_text", place, json_faults.HALF_CHARACTER)
        return _SURROGATE.sub("\ufffd", value)

    def _refuse_surrogates(self) -> None:
        match = None if self._text.isascii() else _SURROGATE.search(self._text)
        if match is not None:
            place = SourcePosition(None, None, *line_and_column(self._text, match.start()))
            raise StopReading("bad_text", place, json_faults.HALF_CHARACTER)

    def _skip_space(self) -> int:
        match = _BLANK(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def _column(self, at: int) -> int:
        """Count the line breaks up to an offset, never smaller than the last one; return its column."""
        breaks = self._text.count("\n", self._counted, at)
        if breaks:
            self._line += breaks
            self._line_start = self._text.rfind("\n", self._counted, at) + 1
        self._counted = at
        return at - self._line_start + 1

    def _line_and_column(self, at: int) -> tuple[int, int]:
        column = self._column(at)
        return self._line, column

    def _fault(self, at: int, message: str) -> StopReading:
        inner = self._open[-1].place if self._open else None
        line, column = line_and_column(self._text, at)
        place = (
            SourcePosition(inner.parent, inner.key, line, column) if inner else SourcePosition(None, None, line, column)
        )
        return StopReading("syntax", place, message)
