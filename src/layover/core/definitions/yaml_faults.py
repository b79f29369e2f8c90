"""The sentences for YAML that cannot be read: what to write instead, then the message of the YAML parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDENTATION = "Check how far this line is indented: entries that belong together begin in the same column."
_BEHIND = "This cannot follow on the same line: put the whole text in quotes, or begin a new line."
_TAB = "Indent with spaces: YAML does not allow tabs there."

# Part of a message of libyaml or PyYAML → advice. The first match counts.
_SENTENCES: Final[Sequence[tuple[str, str]]] = (
    ("tab character", _TAB),
    ("cannot start any token", "Put this text in quotes: {mark} cannot stand at its beginning."),
    ("mapping values are not allowed", "Put text that holds a colon and a space in quotes, or check the indentation."),
    ("sequence entries are not allowed", "Begin the list on a line of its own."),
    ("while scanning a quoted scalar", "This quote is never closed."),
    ("node content", "A value is missing here; put literal text in quotes."),
    ("unknown escape", r"In double quotes a backslash begins an escape: write `\\`, or use single quotes."),
    ("Unicode character escape", r"Write this character itself, or with `\U` and its eight hexadecimal digits."),
    ("hexdecimal number", "An escape with `\\x`, `\\u` or `\\U` has two, four or eight hexadecimal digits."),
    ("tag handle", "Remove this tag: a definition needs none."),
    ("incompatible YAML document", "Remove the `%YAML` line, or let it say 1.2."),
    ("',' or '}'", "Put a comma here, or close the `{{` of line {opened} before."),
    ("',' or ']'", "Put a comma here, or close the `[` of line {opened} before."),
    ("expected ':'", "Put a colon and a space after this name, or put the text in quotes."),
    ("while scanning an anchor", "A name of letters and digits follows `&`; put other text in quotes."),
    ("while scanning an alias", "A name of letters and digits follows `*`; put other text in quotes."),
    (
        "while scanning a block scalar",
        "After `|` or `>` only `-`, `+` or a digit may follow; the text begins on the next line.",
    ),
    ("while scanning a directive", "No line begins with `%`: indent it, or put it in quotes."),
    ("<document start>", _INDENTATION),
    ("while parsing a block", _INDENTATION),
)
_LONGEST: Final = 200
_NOISE = re.compile(r"\s+")


def sentence(text: str, said: str, line: int, column: int, opened: int | None) -> str:
    """Return the advice for a fault at a line and column (from 1) of the text, given the message of the parser."""
    row = _row(text, line)
    mark = row[column - 1 : column]
    known = next((advice for part, advice in _SENTENCES if part in said), "YAML cannot be read here.")
    if _is_tab(row, column) and "quoted scalar" not in said:
        known = _TAB
    elif known is _INDENTATION and row[: column - 1].strip():
        known = _BEHIND
    advice = known.format(mark=f"`{mark}`" if mark != "`" else "a backtick", opened=opened or line)
    return f"{advice.removesuffix('.')} (YAML: {_NOISE.sub(' ', said[:_LONGEST]).strip()})."


def _row(text: str, line: int) -> str:
    rows = re.finditer(r"[^\r\n]*+(?:\r\n?|\n|\Z)", text)
    for number, row in enumerate(rows, 1):
        if number == line:
            return row[0]
    return ""


def _is_tab(row: str, column: int) -> bool:
    """Return whether the fault is in or right behind an indentation that has a tab."""
    indentation = row[: len(row) - len(row.lstrip(" \t"))]
    return "\t" in indentation and column <= len(indentation) + 1
