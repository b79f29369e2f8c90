"""Regular expressions in linear time, by RE2, which CEL prescribes.

RE2 reads each byte of the text once, but for each byte it may visit every instruction of the pattern's program. So a
search costs text times program, and that product is charged before the search. A repetition is written out when the
pattern is compiled: `(a{30}){30}` is a program of 900 instructions, and the memory of a program is bounded. Compiling
is charged in advance, by its expensive parts: the pattern's length, its repetitions and its Unicode classes. A
constant pattern is compiled once, with the expression.

RE2 is imported at the first match: most workflows need none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from layover.core.expressions.errors import ExpressionError

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame

_MAX_PATTERN: Final = 1_000
_MAX_MEMORY: Final = 1 << 19  # of a program and its automaton: at most some 20,000 instructions
_VISITS_PER_STEP: Final = 64  # of one instruction for one byte, which takes up to 10 ns
_COMPILATION: Final = 500  # steps, whether or not the pattern is remembered: a cost must not depend on the past
_PER_CHARACTER: Final = 4
_PER_EXPANSION: Final = 200  # for each repetition and each class, which stand for hundreds of instructions
_INSTRUCTIONS_PER_STEP: Final = 4
_EXPANDING: Final = ("{", "\\p", "\\P")


class Pattern(Protocol):
    """The part of a compiled RE2 pattern that we use."""

    @property
    def programsize(self) -> int:
        """The number of its instructions."""

    def search(self, text: bytes, /) -> object | None:
        """Return a match anywhere in a text of UTF-8."""


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Pattern:
    """Return a compiled pattern."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - RE2 ships no types; loading it lazily keeps start-up fast

    if len(pattern) > _MAX_PATTERN:
        raise ExpressionError(
            f"A regular expression may have at most {_MAX_PATTERN} characters.", code="invalid_argument"
        )
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    options.never_capture = True  # groups are never read, and remembering them needs a larger, slower program
    try:
        found: Pattern = re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise ExpressionError(
            f"`{pattern}` is not a valid regular expression: {_reason(error)}.", code="invalid_argument"
        ) from error
    return found


def compilation_cost(pattern: str) -> int:
    """Return the steps that compiling a pattern costs; known before it is compiled."""
    expansions = sum(map(pattern.count, _EXPANDING))
    return _COMPILATION + _PER_CHARACTER * len(pattern) + _PER_EXPANSION * expansions


def matches(frame: Frame, text: str, pattern: str) -> bool:
    """Return whether a pattern that comes from data matches anywhere in a text."""
    frame.meter.charge(compilation_cost(pattern))
    program = compile_pattern(pattern)
    frame.meter.charge(program.programsize // _INSTRUCTIONS_PER_STEP)
    return search(frame, text, program)


def search(frame: Frame, text: str, pattern: Pattern) -> bool:
    """Return whether a compiled pattern matches anywhere in a text."""
    frame.meter.scan(len(text))
    try:
        encoded = text.encode()
    except UnicodeError as error:
        raise ExpressionError("The text holds half a character (a surrogate).", code="invalid_argument") from error
    frame.meter.charge(len(encoded) * pattern.programsize // _VISITS_PER_STEP)
    return pattern.search(encoded) is not None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    if "too large" in said:
        return "with its repetitions and classes written out it is too large"
    return said
