"""Conditions that filter executions: a path, an operator and a value, as in `input.total>=12`.

A path begins with `input`, `output`, `vars`, `trigger` or `nodes.<id>` and leads through members of objects and, by
their numbers, elements of arrays. Numbers are compared by value and texts by their characters. Values of different
kinds are neither equal nor ordered, and a path that leads to nothing fulfils only `!=`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import msgspec

from layover.core.input_index import MOST_BYTES, UNREADABLE, Unbounded, fault_of, read_document
from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Operator = Literal[
    "=",  # equal; an object or an array contains the wanted value
    "!=",  # not equal, or not there
    ">=",
    "<=",
    ">",
    "<",
    "~",  # a text contains a text; an array has an element that equals or contains the value
]
ROOTS = ("input", "output", "vars", "trigger", "nodes")

_Number: TypeAlias = int | Decimal
_STEP = r'(?:"(?:[^"\\]|\\.)*"|[^."=!<>~]+)'
_CONDITION = re.compile(rf"({_STEP}(?:\.{_STEP})*)({'|'.join(get_args(Operator))})(.*)", re.DOTALL)
_STEPS = re.compile(_STEP)
_ELEMENT = re.compile(r"0|[1-9][0-9]{0,8}")
_EXAMPLE = "`input.total>=12`, `output.status=done` or `nodes.review.approved=true`"
_BEGINS_OPERATOR = frozenset("<>~")
_MOST_SHOWN = 80
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}
_ABSENT = object()


class InvalidCondition(LayoverError):  # noqa: N818 - it says what the condition is
    """A text that is not a valid condition."""

    code = "invalid_filter"


class PathCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A value that has to be found at a path; the first name says in which document."""

    path: tuple[str, ...]
    op: Operator
    value: object


def parse_condition(text: str) -> PathCondition:
    """Parse a condition; its value is JSON if it can be read as such, and a text if not."""
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    found = _CONDITION.fullmatch(text) if len(text) <= MOST_BYTES else None
    if found is None:
        if len(text) > MOST_BYTES:
            raise InvalidCondition(f"`{shown}` is too long: a condition has at most {MOST_BYTES:,} characters.")
        raise InvalidCondition(f"`{shown}` is not a condition: write it like {_EXAMPLE}.")
    path, op, literal = found.groups()
    if op == "=" and literal.startswith("="):
        raise InvalidCondition(f"`{shown}`: one `=` is enough; a text that begins with one is written in quotes.")
    if literal[:1] in _BEGINS_OPERATOR:
        raise InvalidCondition(
            f"`{shown}`: `{op}{literal[0]}` is no operator; they are {', '.join(get_args(Operator))}. "
            "A text that begins like one is written in quotes."
        )
    if any("[" in step and not step.startswith('"') for step in _STEPS.findall(path)):
        raise InvalidCondition(
            f"`{shown}`: an element of an array is named by its number, as in `input.items.0.sku`; "
            "a name with a bracket is written in quotes."
        )
    steps = tuple(_name_of(step) for step in _STEPS.findall(path))
    if not all(steps):
        raise InvalidCondition(f"`{shown}`: a name is missing in its path. Write it like {_EXAMPLE}.")
    if steps[0] not in ROOTS:
        raise InvalidCondition(f"`{shown}`: a path begins with one of {', '.join(ROOTS)}, and not with `{steps[0]}`.")
    if steps[0] == "nodes" and len(steps) == 1:
        raise InvalidCondition(f"`{shown}`: after `nodes` comes the id of a node, as in `nodes.review.approved=true`.")
    return PathCondition(path=steps, op=cast("Operator", op), value=_value_of(literal.strip(), shown))


def holds(condition: PathCondition, document: object) -> bool:
    """Return whether a document fulfils a condition."""
    found = _at(document, condition.path)
    if condition.op == "!=":
        return found is _ABSENT or not contains_value(found, condition.value)
    return found is not _ABSENT and _compare(found, condition.op, condition.value)


def contains_value(data: object, wanted: object) -> bool:
    """Return whether data contains a wanted value: every member of an object, every element of an array, or an equal.

    The order of array elements does not matter, and one element may match several wanted ones.
    """
    if isinstance(wanted, dict):
        return isinstance(data, Mapping) and all(
            name in data and contains_value(data[name], part) for name, part in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(data, list) and all(any(contains_value(one, part) for one in data) for part in wanted)
    return is_same(data, wanted)


def is_same(one: object, other: object) -> bool:
    """Return whether two scalars are equal; numbers by value."""
    if isinstance(one, float):
        one = _exact(one)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def as_containment(conditions: Iterable[PathCondition]) -> tuple[dict[str, object], tuple[PathCondition, ...]]:
    """Return what an input has to contain to fulfil conditions, and those that containment cannot express.

    An index can only find documents by containment.
    """
    document: dict[str, object] = {}
    others: list[PathCondition] = []
    for condition in conditions:
        wanted = _wanted_of_input(condition)
        both = _combine(document, wanted) if wanted else None
        if both is None:
            others.append(condition)
        else:
            document = both
    return document, tuple(others)


def _wanted_of_input(condition: PathCondition) -> dict[str, object] | None:
    """Return the object that an input contains if and only if it fulfils a condition."""
    root, *path = condition.path
    if condition.op != "=" or root != "input" or any(_ELEMENT.fullmatch(step) for step in path):
        return None
    wanted = condition.value
    for name in reversed(path):
        wanted = {name: wanted}
    return wanted if isinstance(wanted, dict) else None


def _combine(one: dict[str, object], other: dict[str, object]) -> dict[str, object] | None:
    """Return an object that contains both; None if one document cannot express that."""
    both = dict(one)
    for name, value in other.items():
        found = both.get(name, _ABSENT)
        if found is _ABSENT:
            both[name] = value
        elif isinstance(found, dict) and isinstance(value, dict):
            inner = _combine(found, value)
            if inner is None:
                return None
            both[name] = inner
        elif isinstance(found, list) or not is_same(found, value):
            return None
    return both


def _name_of(step: str) -> str:
    step = step.strip()
    if not step.startswith('"'):
        return step
    try:
        return msgspec.json.decode(step.encode(), type=str)
    except (msgspec.MsgspecError, UnicodeError):
        raise InvalidCondition(f"The name {step} in a path is not a valid JSON string.") from None


def _value_of(literal: str, shown: str) -> object:
    try:
        text = literal.encode()
        try:
            value: object = read_document(text)
        except Unbounded as error:
            raise InvalidCondition(f"`{shown}`: {error}.") from None
        except UNREADABLE:
            value, text = literal, msgspec.json.encode(literal)
    except UnicodeEncodeError:
        raise InvalidCondition(f"{shown!a} is not a condition: it has half a character (a lone surrogate).") from None
    fault = fault_of(b'{"":%b}' % text)
    if fault is not None:
        raise InvalidCondition(f"`{shown}` cannot be searched for: {fault}.")
    return value


def _at(document: object, path: tuple[str, ...]) -> object:
    """Return the value at a path."""
    found = document
    for step in path:
        if isinstance(found, Mapping):
            found = found.get(step, _ABSENT)
        elif isinstance(found, list) and _ELEMENT.fullmatch(step) and int(step) < len(found):
            found = found[int(step)]
        else:
            return _ABSENT
    return found


def _compare(found: object, op: Operator, value: object) -> bool:
    match op:
        case "=":
            return contains_value(found, value)
        case "~":
            if isinstance(found, str):
                return isinstance(value, str) and value in found
            return isinstance(found, list) and any(contains_value(one, value) for one in found)
        case _:
            is_ordered = _ORDERS[op]
            if isinstance(found, str):
                return isinstance(value, str) and is_ordered(found, value)
            number, other = _number(found), _number(value)
            return number is not None and other is not None and is_ordered(number, other)


def _number(value: object) -> _Number | None:
    if isinstance(value, float):
        value = _exact(value)
    return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def _exact(number: float) -> Decimal | None:
    """Return a number exactly as it is written; None if it is not finite."""
    return Decimal(repr(number)) if isfinite(number) else None
