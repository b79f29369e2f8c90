"""The problems of a definition: all found at once, each with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.suggest import Suggestions
from layover.errors import InvalidDefinition, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.definitions.tree import SourcePosition, Tree

__all__ = ["InvalidDefinition", "Problem", "Problems", "TooManyProblems", "display", "one_line"]

_LONGEST_MESSAGE = 500


class TooManyProblems(Exception):  # noqa: N818 - it stops a check, it reports nothing by itself
    """Ends a check whose input has more problems than a person would read."""


class Problems:
    """Collects problems in the order in which they are found, up to a bound.

    One error too many ends the check. Warnings prevent nothing, so those over the bound are left out.
    """

    def __init__(self, most: int = 200, *, stored: bool = False) -> None:
        self._most = most
        self._stored = stored
        self._found: list[Problem] = []
        self._counts: dict[Severity, int] = {"error": 0, "warning": 0}
        self.suggestions = Suggestions()  # one budget for the whole definition

    def add(self, code: str, place: SourcePosition, message: str, *, column: int | None = None) -> None:
        """Report an error at a place; `column` overrides the place's own."""
        self._append(code, place, message, column=column)

    def add_unless_stored(self, code: str, place: SourcePosition, message: str) -> None:
        """Report an error that earlier releases accepted: in a version that they stored it is a warning."""
        self._append(code, place, message, severity="warning" if self._stored else "error")

    def warn(self, code: str, place: SourcePosition, message: str) -> None:
        """Report something that is allowed and probably a mistake."""
        self._append(code, place, message, severity="warning")

    def unknown(
        self,
        code: str,
        place: SourcePosition,
        what: str,
        name: str,
        known: Iterable[str],
        *,
        severity: Severity = "error",
    ) -> None:
        """Report an unknown name, with the known name that was probably meant."""
        guess = self.suggestions.closest(name, known) if self._counts[severity] < self._most else None
        ending = f" Did you mean `{guess}`?" if guess is not None else ""
        self._append(code, place, f"{what}.{ending}", suggestion=guess, severity=severity)

    @property
    def count(self) -> int:
        """The number of problems so far."""
        return len(self._found)

    @property
    def failed(self) -> bool:
        """Whether anything found so far is an error."""
        return self._counts["error"] > 0

    def listed(self) -> list[Problem]:
        """Return the problems, in the order of the text where there is one."""
        return sorted(self._found, key=lambda problem: (problem.line is None, problem.line or 0, problem.column or 0))

    def _append(
        self,
        code: str,
        place: SourcePosition,
        message: str,
        *,
        column: int | None = None,
        suggestion: str | None = None,
        severity: Severity = "error",
    ) -> None:
        self._counts[severity] += 1
        if self._counts[severity] > self._most:
            if severity == "warning":
                return
            last = Problem(
                code="too_many_problems",
                path="$",
                message=f"More than {self._most} problems: fix these first, then check again.",
            )
            self._found.append(last)
            raise TooManyProblems
        self._found.append(
            Problem(
                code=code,
                path=place.path,
                message=one_line(message),
                line=place.line,
                column=column or place.column,
                suggestion=suggestion,
                severity=severity,
            )
        )


def one_line(message: str) -> str:
    """Return a sentence on one line and of bounded length, whatever it quotes."""
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 100]}…{message[-99:]}"
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def display(tree: Tree, most: int = 60) -> str:
    """Return a value as it may appear in a sentence, never longer than a line."""
    value = tree.value
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
