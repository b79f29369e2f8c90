"""Names of users, roles and keys: two that look alike are the same, so no user can pass for another.

What is not seen is not in a name: control characters, those that change the direction of a text, those without width,
and blanks at its ends.
"""

from __future__ import annotations

from typing import Final

# Letters and marks that show nothing, which Python counts as printable.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def fault_in_name(name: str) -> str | None:
    """Return what is wrong with a name, or None."""
    if name != name.strip():
        return "It begins or ends with a blank"
    unseen = next((one for one in name if not one.isprintable() or _is_blank(one)), None)
    return None if unseen is None else f"The character U+{ord(unseen):04X} cannot be seen"


def _is_blank(character: str) -> bool:
    return character in _BLANK or any(ord(character) in selectors for selectors in _SELECTORS)
