"""When the pause of an operator ends by itself: at a moment, or when a signal arrives."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from layover.core.definitions.scopes import SIGNAL
from layover.core.expressions import (
    BOOL,
    ExpressionError,
    ExpressionTime,
    Meter,
    Program,
    check,
    compile_expression,
    may_be,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_FILTER: Final = 1_000  # characters


class ResumeWait(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The signal that ends a pause; signals that were sent before or at `since` do not."""

    signal: str
    key: str = ""
    filter: str = ""
    since: int = 0

    @property
    def awaited(self) -> tuple[str, str]:
        """The name and the key of the signal."""
        return self.signal, self.key

    def is_for_same(self, other: ResumeWait | None) -> bool:
        """Return whether another wait is for the same signals, whenever it began."""
        return other is not None and (*self.awaited, self.filter) == (*other.awaited, other.filter)

    def takes(self, signal: Mapping[str, object], now: int) -> bool:
        """Return whether a signal ends the pause; a filter that cannot be evaluated lets nothing pass."""
        if (signal["name"], signal["key"]) != self.awaited:
            return False
        if not self.filter:
            return True
        try:
            found = _program(self.filter).evaluate({"signal": signal}, ExpressionTime(now), Meter())
        except ExpressionError:
            return False
        return found is True


class PauseEnd(NamedTuple):
    """When a pause ends by itself; neither: it does not."""

    at: int | None = None
    on: ResumeWait | None = None

    @property
    def is_set(self) -> bool:
        """Whether it ends by itself."""
        return self.at is not None or self.on is not None

    def is_same(self, other: PauseEnd) -> bool:
        """Return whether another end is the same."""
        if self.on is None or other.on is None:
            return self == other
        return self.at == other.at and self.on.is_for_same(other.on)


NO_END: Final = PauseEnd()


def filter_fault(text: str) -> str | None:
    """Return what is wrong with a filter, in which `signal` is the only name; None if nothing is."""
    if len(text) > LONGEST_FILTER:
        return f"A filter has at most {LONGEST_FILTER:,} characters."
    try:
        found, errors = check(parse(text), {"signal": SIGNAL})
    except ExpressionError as error:
        return error.message
    if errors:
        return errors[0].message
    return None if may_be(found, BOOL) else "A filter needs true or false."


@lru_cache(maxsize=256)
def _program(text: str) -> Program:
    return compile_expression(parse(text))
