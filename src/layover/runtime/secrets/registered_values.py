"""The values that one engine has registered to be masked in texts; when it ends, it leaves none behind."""

from __future__ import annotations

from collections import Counter

from layover.redaction import forget_secret, register_secret


class RegisteredValues:
    """Counts what is registered; a value that was forgotten with all others need not be forgotten again."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, value: str, name: str) -> None:
        """Have a value masked."""
        register_secret(value, name)
        self._counts[value] += 1

    def remove(self, value: str) -> None:
        """Undo one registration."""
        if self._counts[value]:
            self._counts[value] -= 1
            forget_secret(value)
        if not self._counts[value]:
            del self._counts[value]

    def clear(self) -> None:
        """Undo all of them."""
        for value in self._counts.elements():
            forget_secret(value)
        self._counts.clear()
