"""Rules for the name, the key and the id of a signal: the same for senders and for waits."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 255


def is_writable(text: str) -> bool:
    """Return whether every database can store a text: PostgreSQL has no U+0000, and none takes a lone surrogate."""
    return "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def fault_in(what: str, text: object) -> str | None:
    """Return the problem of a text of a signal, or None; only a key may be empty."""
    if not isinstance(text, str):
        return f"The {what} of a signal must be a text."
    least = 0 if what == "key" else 1
    if not least <= len(text) <= LONGEST:
        return f"The {what} of a signal must have {least} to {LONGEST} characters."
    if not is_writable(text):
        return f"The {what} of a signal has a character that cannot be stored: remove U+0000 and lone surrogates."
    return None
