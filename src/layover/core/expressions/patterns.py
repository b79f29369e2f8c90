"""Regular expressions in time linear to the text, by RE2, which CEL prescribes.

RE2 is imported at the first match: most workflows need none. A pattern is bounded in length and in the memory of its
program; a constant one is compiled once, with the expression.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from layover.core.expressions.errors import ExpressionError

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame

_MAX_PATTERN: Final = 1_000
_MAX_MEMORY: Final = 1 << 19
_CHARACTERS_PER_STEP: Final = 16
_COMPILATION: Final = 500  # steps, whether or not the pattern is remembered: a cost must not depend on the past


class Pattern(Protocol):
    """What we use of a compiled RE2 pattern."""

    def search(self, text: str, /) -> object | None:
        """Return a match anywhere in the text."""


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Pattern:
    """Return a compiled pattern."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - RE2 ships no types; loading it lazily keeps start-up fast

    if len(pattern) > _MAX_PATTERN:
        raise ExpressionError(
            f"A regular expression may have at most {_MAX_PATTERN} characters.", code="invalid_argument"
        )
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        found: Pattern = re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise ExpressionError(
            f"`{pattern}` is no regular expression: {_reason(error)}.", code="invalid_argument"
        ) from error
    return found


def matches(frame: Frame, text: str, pattern: str) -> bool:
    """Return whether a pattern that comes from data matches anywhere in a text."""
    frame.meter.charge(_COMPILATION + len(pattern))
    return search(frame, text, compiled(pattern))


def search(frame: Frame, text: str, pattern: Pattern) -> bool:
    """Return whether a compiled pattern matches anywhere in a text."""
    frame.meter.charge(len(text) // _CHARACTERS_PER_STEP)
    try:
        return pattern.search(text) is not None
    except UnicodeError as error:
        raise ExpressionError("The text holds half a character (a surrogate).", code="invalid_argument") from error


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
