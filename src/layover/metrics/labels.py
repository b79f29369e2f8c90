"""Values of labels that users choose: a bounded number of them, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER: Final = "other"
MOST_VALUES: Final = 100


class LabelValues:
    """Lets the first values through and calls the rest `other`: every value is one more time series."""

    __slots__ = ("_known", "_most")

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._known: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def bounded(self, value: str) -> str:
        """Return the value, or `other` if there are as many as may be."""
        found = self._known.get(value)
        if found is None:
            if len(self._known) >= self._most:
                return OTHER
            found = self._known[value] = value
        return found
