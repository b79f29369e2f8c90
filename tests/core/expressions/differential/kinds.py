"""The vocabulary of the generator: kinds of expression, shapes that build one from others, and the built term.

A shape is a template such as `{0:add} + {1:mul}`. The word after the colon is the loosest binding that is allowed
there: a term that binds more loosely is put in parentheses, any other stays bare, so that precedence is compared as
well.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

BINDING = {"any": 0, "or": 1, "and": 2, "rel": 3, "add": 4, "mul": 5, "unary": 6, "member": 7}


class Kind(StrEnum):
    """The intended kind of an expression's value."""

    INT = "int"
    INDEX = "a small int"
    DOUBLE = "double"
    NUMBER = "int or double"
    STRING = "string"
    BOOL = "bool"
    NULL = "null"
    INTS = "list of ints"
    DOUBLES = "list of doubles"
    STRINGS = "list of strings"
    MIXED = "list of anything"
    MAP = "map from strings"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    ANY = "anything"
    # Leaves only: values in a form that a function parses.
    PATH = "a selection that may be absent"
    SHORT = "a double of few digits"
    EXACT = "an int that a double holds"
    INT_TEXT = "text for int()"
    DOUBLE_TEXT = "text for double()"
    BOOL_TEXT = "text for bool()"
    TIMESTAMP_TEXT = "text for timestamp()"
    DURATION_TEXT = "text for duration()"
    PATTERN = "a regular expression"
    ZONE = "a time zone"


@dataclass(frozen=True)
class Shape:
    """One way to build an expression; `binds` is the kind of the variable that a macro's body sees."""

    covers: str
    gives: Kind
    template: str
    takes: tuple[Kind, ...]
    level: str = "member"
    binds: Kind | None = None


@dataclass(frozen=True)
class Term:
    """An expression as text, with the direct parts that can be evaluated on their own."""

    source: str
    level: int = BINDING["member"]
    parts: tuple[str, ...] = ()

    def __format__(self, place: str) -> str:
        return self.source if self.level >= BINDING[place] else f"({self.source})"
