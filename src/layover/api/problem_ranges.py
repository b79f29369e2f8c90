"""Where that ends at which a problem was found: editors underline it. It is read from the line of the text alone."""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_PLAIN: Final = re.compile(r"""[^,\[\]{}:#"']+(?::(?!\s|$)[^,\[\]{}:#"']*)*""")


def end_of(lines: list[str], line: int | None, column: int | None) -> tuple[int, int] | None:
    """Return line and column behind what begins at a place, both from 1; None without a place in the text."""
    if line is None or column is None or not 0 < line <= len(lines):
        return None
    text = lines[line - 1]
    found = _QUOTED.match(text, column - 1) or _PLAIN.match(text, column - 1)
    ended = len(text[: found.end()].rstrip()) if found is not None else column
    return line, max(ended, column) + 1
