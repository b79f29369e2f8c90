"""Arguments that are one of a few words: any other word is refused with those that are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from layover.core.engine.event_base import NodeStatus
from layover.core.engine.events import AnyEvent, PointKind
from layover.core.engine.state import ExecutionStatus
from layover.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

Until: TypeAlias = Literal["rest", "people", "end"]  # nothing runs | closed, or a person is awaited | closed
OnConflict: TypeAlias = Literal["reject", "return"]
Order: TypeAlias = Literal["created", "paused"]
EventOrder: TypeAlias = Literal["oldest", "newest"]
PointStatus: TypeAlias = Literal["open", "answered", "applied", "completed", "expired", "cancelled", "superseded"]

UNTIL = get_args(Until)
ON_CONFLICT = get_args(OnConflict)
ORDERS = get_args(Order)
POINT_KINDS = get_args(PointKind)
WAITS_ON = ("person", *POINT_KINDS, "retry", "operator")
POINT_STATUSES = get_args(PointStatus)
EXECUTION_STATUSES = get_args(ExecutionStatus)
NODE_STATUSES = get_args(NodeStatus)
EVENT_ORDERS = get_args(EventOrder)
EVENT_TYPES = tuple(sorted(kind.__name__ for kind in get_args(AnyEvent)))


def check_word(name: str, word: str | None, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not allowed: it would be taken for another one."""
    if word is not None and word not in allowed:
        words = ", ".join(f'"{one}"' for one in allowed)
        fault = f"{word!r:.100} is not one of {words}"
        raise InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_parameter")


def check_words(name: str, words: str | Iterable[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return words, of which one may stand alone; refuse those that are not allowed."""
    found = (words,) if isinstance(words, str) else tuple(words)
    for word in found:
        check_word(name, word, allowed)
    return found
