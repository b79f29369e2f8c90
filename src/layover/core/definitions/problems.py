"""What is wrong with a definition: found all at once, told so that a person can act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from layover.core.errors import LayoverError
from layover.core.suggest import Suggestions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.core.definitions.tree import SourcePosition, Tree

Severity = Literal["error", "warning"]

_LONGEST_MESSAGE = 500


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong: a stable code, where it stands, and a sentence that says what to do."""

    code: str
    path: str
    message: str
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        where = f"{self.line}:{self.column}" if self.line is not None else self.path
        return f"{where}: {self.message} [{self.code}]"


class InvalidDefinition(LayoverError):  # noqa: N818 - reads as what it says where it is caught
    """A definition with problems was asked to become a plan."""

    code = "invalid_definition"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class TooManyProblems(Exception):  # noqa: N818 - it stops a check, it reports nothing by itself
    """Ends a check whose input has more problems than anybody would read."""


class Problems:
    """Collects problems in the order in which they are found, up to a bound.

    One error too many ends the check. Warnings stand in the way of nothing, so those over the bound are left out.
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
        """Report an error that earlier releases let pass: in a version that they stored it is a warning."""
        self._append(code, place, message, severity="warning" if self._stored else "error")

    def warn(self, code: str, place: SourcePosition, message: str) -> None:
        """Report something that is allowed and most likely not meant."""
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
        """Report a name that nothing has, with the one that was probably meant."""
        guess = self.suggestions.closest(name, known) if self._counts[severity] < self._most else None
        ending = f" Did you mean `{guess}`?" if guess is not None else ""
        self._append(code, place, f"{what}.{ending}", suggestion=guess, severity=severity)

    @property
    def count(self) -> int:
        """How many have been found so far."""
        return len(self._found)

    @property
    def failed(self) -> bool:
        """Whether anything found so far is an error."""
        return self._counts["error"] > 0

    def found(self) -> list[Problem]:
        """Return what was found, in the order of the text where there is one."""
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
                message=f"More than {self._most} problems: mend these first, then check again.",
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
    """Return a sentence in which nothing that it quotes can break the line, turn it around or make it endless."""
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 100]}…{message[-99:]}"
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def shown(tree: Tree, most: int = 60) -> str:
    """Return a value as a person recognises it in a sentence, never longer than a line."""
    value = tree.value
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
