"""Suggestions for misspelt names.

The work is bounded whatever the input. Only names that could be close enough are compared, a comparison looks at a band
around the diagonal and gives up as soon as the distance exceeds two, and all questions about one text share a budget:
a text with a thousand misspelt names gets hints for the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_DISTANCE = 2
_MAX_LENGTH = 64
_MAX_CANDIDATES = 1000
_STEPS: Final = (64, 32, 16, 8, 4, 2, 1)
_BUDGET: Final = 100_000  # pairs of characters, and names that are looked at


class Suggestions:
    """Suggests names until its budget is spent; `left` is what remains of it."""

    __slots__ = ("left",)

    def __init__(self, budget: int = _BUDGET) -> None:
        self.left = budget

    def closest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate that is closest to a misspelt name."""
        if not name or len(name) > _MAX_LENGTH or self.left <= 0:
            return None
        folded = name.casefold()
        allowed = 1 if len(name) <= 4 else _MAX_DISTANCE
        best: str | None = None
        best_distance = allowed + 1
        for looked_at, candidate in enumerate(candidates):
            self.left -= 1
            if looked_at == _MAX_CANDIDATES or self.left <= 0:
                break
            if candidate == name or abs(len(candidate) - len(name)) >= best_distance:
                continue
            distance = self._distance(folded, candidate.casefold(), best_distance - 1)
            if distance < best_distance:
                best, best_distance = candidate, distance
        return best

    def did_you_mean(self, name: str, candidates: Iterable[str]) -> str:
        """Return `` Did you mean `x`?`` to append to a sentence, or nothing."""
        guess = self.closest(name, candidates)
        return f" Did you mean `{guess}`?" if guess is not None else ""

    def starting_with(self, prefix: str, candidates: Iterable[str]) -> str | None:
        """Return the first candidate that begins with a text."""
        for candidate in candidates:
            self.left -= 1
            if self.left <= 0:
                return None
            if candidate.startswith(prefix):
                return candidate
        return None

    def _distance(self, left: str, right: str, limit: int) -> int:
        """Return the number of edits (insert, delete, replace, swap neighbours), or limit + 1 when there are more.

        A common beginning costs nothing. Cells further from the diagonal than the limit are over it, so they are
        skipped.
        """
        same = 0
        for step in _STEPS:
            if left[: same + step] == right[: same + step]:
                same += step
        left, right = left[same:], right[same:]
        over = limit + 1
        two_above: list[int] = []
        above = [min(j, over) for j in range(len(right) + 1)]
        for i, a in enumerate(left, start=1):
            first, last = max(1, i - limit), min(len(right), i + limit)
            row = [over] * (len(right) + 1)
            row[0] = min(i, over)
            self.left -= last - first + 1
            for j in range(first, last + 1):
                b = right[j - 1]
                cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
                if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                    cost = min(cost, two_above[j - 2] + 1)
                row[j] = cost
            if min(row) > limit:
                return over
            two_above, above = above, row
        return min(above[-1], over)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is closest to a misspelt name, with a budget of its own."""
    return Suggestions().closest(name, candidates)


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return `` Did you mean `x`?`` to append to a sentence, or nothing, with a budget of its own."""
    return Suggestions().did_you_mean(name, candidates)
