"""From an offset in a text to the line and column that an editor shows.

Lines end with LF, CRLF or CR and are counted from 1, columns count characters from 1. Asking costs the length of the
text up to the offset: readers that place every value count as they go and ask here only where they stop.
"""

from __future__ import annotations


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of the character at an offset."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")
