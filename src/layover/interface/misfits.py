"""What does not fit a declared struct, in words: where it is, what is wrong, and what would be right.

msgspec says what it met (``Invalid enum value 'x' - at `$.status[0]` ``). What it expected there is in the declaration,
which is walked to that place, only once something is wrong.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import inspect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_STEP: Final = re.compile(r"\[[^\]]*\]|[^.\[\]]+")
_CHOICE: Final = re.compile(r"Invalid enum value (.+)", re.DOTALL)
_UNKNOWN: Final = re.compile("Object contains unknown field `(.+)`", re.DOTALL)
_MISSING: Final = re.compile("Object missing required field `(.+)`")
_PATTERN: Final = "Expected `str` matching regex"
_OF_NAMES: Final = "^[A-Za-z][A-Za-z0-9_.-]"  # how patterns of names begin
_NAME: Final = "a name has letters, digits, `_`, `.` and `-`, after a letter"
_LONGEST: Final = 100  # characters of what was given


class Misfit(NamedTuple):
    """One thing that does not fit; `unknown` is the field that is not declared."""

    path: str
    message: str
    unknown: str | None = None


def misfit_of(error: str, wanted: type[Any]) -> Misfit:
    """Return what a ValidationError of msgspec says, with what would fit in its place."""
    said, _, where = error.partition(" - at ")
    path = where.strip("`").removeprefix("$").removeprefix(".")
    if missing := _MISSING.fullmatch(said):
        return Misfit(_below(path, missing[1]), "it is missing")
    if unknown := _UNKNOWN.fullmatch(said):
        known = [field for one in _at(wanted, path) for field in _fields(one)]
        name = unknown[1][:_LONGEST]
        return Misfit(_below(path, name), f"there is no such field{_alternatives(name, known)}", unknown[1])
    if said.startswith(_PATTERN) and any(_is_name(one) for one in _at(wanted, path)):
        return Misfit(path, _NAME)
    if choice := _CHOICE.fullmatch(said):
        allowed = [value for one in _at(wanted, path) for value in _choices(one)]
        given = choice[1].strip("'\"")[:_LONGEST]
        if allowed:
            return Misfit(path, f"`{given}` is none of {_list(allowed)}")
    return Misfit(path, said)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _alternatives(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, 1)
    if close:
        return f"; the nearest is `{close[0]}`"
    return f"; it takes {_list(known)}" if known else "; it takes none"


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def _at(wanted: type[Any], path: str) -> list[inspect.Type]:
    """Return what is declared at a path: more than one, if several types may be there."""
    found = list(_plain(inspect.type_info(wanted)))
    for step in _STEP.findall(path):
        found = [part for one in found for inner in _within(one, step) for part in _plain(inner)]
    return found


def _plain(one: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the types that a type stands for."""
    if isinstance(one, inspect.Metadata):
        yield from _plain(one.type)
    elif isinstance(one, inspect.UnionType):
        for part in one.types:
            yield from _plain(part)
    else:
        yield one


def _within(one: inspect.Type, step: str) -> Iterator[inspect.Type]:
    if isinstance(one, inspect.StructType):
        yield from (field.type for field in one.fields if field.encode_name == step)
    elif isinstance(one, inspect.CollectionType):
        yield one.item_type
    elif isinstance(one, inspect.DictType):
        yield one.value_type


def _fields(one: inspect.Type) -> Iterator[str]:
    if isinstance(one, inspect.StructType):
        yield from (field.encode_name for field in one.fields)


def _is_name(one: inspect.Type) -> bool:
    return isinstance(one, inspect.StrType) and (one.pattern or "").startswith(_OF_NAMES)


def _choices(one: inspect.Type) -> Iterator[str]:
    if isinstance(one, inspect.LiteralType):
        yield from map(str, one.values)
    elif isinstance(one, inspect.EnumType):
        yield from (str(member.value) for member in one.cls)
