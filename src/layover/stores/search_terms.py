"""How the terms of an execution are stored: one after the other, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.search_terms import TERM_BYTES

if TYPE_CHECKING:
    from layover.core.search_terms import Terms


def packed(terms: Terms) -> bytes:
    """Return terms as they are stored."""
    return b"".join(sorted(terms))


def unpacked(stored: object) -> Terms:
    """Return stored terms; none, if nothing was stored."""
    text = stored if isinstance(stored, bytes) else b""
    return frozenset(text[start : start + TERM_BYTES] for start in range(0, len(text), TERM_BYTES))
