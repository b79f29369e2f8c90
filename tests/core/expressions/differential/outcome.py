"""The outcome of an evaluation, in a form in which two implementations can be compared.

A value is written down with its type, so that `1` and `1.0` differ, and `NaN` equals `NaN`. Google's values show
microseconds only; nanoseconds are compared where an expression turns them into text. A failure is the set of codes
that ours may give for it: one code where the other side's message shows the class, several where it leaves a choice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layover.core.expressions import Duration, Timestamp

type_names = {bool: "bool", int: "int", str: "string", type(None): "null"}

MICROSECOND = dt.timedelta(microseconds=1)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Success:
    """A value, with its types written out."""

    value: object


@dataclass(frozen=True)
class Failure:
    """An error at evaluation; `codes` is empty where the class is not known."""

    codes: frozenset[str]
    message: str


@dataclass(frozen=True)
class Rejection:
    """An error before evaluation: the expression was not accepted."""

    message: str


@dataclass(frozen=True)
class Mistake:
    """A result that the other side is known to get wrong; documented_examples.py says what is right instead."""

    message: str


Outcome = Success | Failure | Rejection | Mistake


def spell(value: object) -> object:
    """Write a plain value down with its types, hashable and comparable."""
    if value is None or isinstance(value, bool | int | str):
        return (type_names[type(value)], value)
    if isinstance(value, float):
        return ("double", repr(value))
    if isinstance(value, Timestamp):
        return ("timestamp", value.ns // 1000)
    if isinstance(value, Duration):
        return ("duration", -(-value.ns // 1000) if value.ns < 0 else value.ns // 1000)
    if isinstance(value, dt.datetime):
        return ("timestamp", (value - EPOCH) // MICROSECOND)
    if isinstance(value, dt.timedelta):
        return ("duration", value // MICROSECOND)
    if isinstance(value, Mapping):
        return ("map", frozenset((spell(key), spell(item)) for key, item in value.items()))
    if isinstance(value, Sequence):
        return ("list", tuple(spell(item) for item in value))
    raise TypeError(f"no CEL value: {value!r}")


def agree(ours: Outcome, theirs: Outcome) -> bool:
    """Return whether two outcomes mean the same."""
    if isinstance(theirs, Mistake):
        return True
    if isinstance(ours, Failure) and isinstance(theirs, Failure):
        return not theirs.codes or bool(ours.codes & theirs.codes)
    if isinstance(ours, Rejection) or isinstance(theirs, Rejection):
        return isinstance(ours, Rejection) and isinstance(theirs, Rejection)
    return ours == theirs
