"""What the name, the key and the id of a signal can be: the same for those who bring one and those who wait for it."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 255


def is_writable(text: str) -> bool:
    """Return whether every database can keep a text: PostgreSQL has no U+0000, and half a character is no text."""
    return "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def fault_in(what: str, text: object) -> str | None:
    """Return what is wrong with a text of a signal, or None; only a key may be empty."""
    if not isinstance(text, str):
        return f"The {what} of a signal is a text."
    least = 0 if what == "key" else 1
    if not least <= len(text) <= LONGEST:
        return f"The {what} of a signal has {least} to {LONGEST} characters."
    if not is_writable(text):
        return f"The {what} of a signal has a character that cannot be written."
    return None
