"""Which known name did the author mean?

The work is bounded whatever the input: names far apart in length are passed over, a comparison gives up as soon as the
distance exceeds two, and only so many candidates are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_DISTANCE = 2
_MAX_LENGTH = 64
_MAX_CANDIDATES = 1000


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that a misspelt name most likely stands for."""
    if not name or len(name) > _MAX_LENGTH:
        return None
    folded = name.casefold()
    allowed = 1 if len(name) <= 4 else _MAX_DISTANCE
    best: str | None = None
    best_distance = allowed + 1
    for looked_at, candidate in enumerate(candidates):
        if looked_at == _MAX_CANDIDATES:
            break
        if candidate == name or abs(len(candidate) - len(name)) >= best_distance:
            continue
        distance = _distance(folded, candidate.casefold(), best_distance - 1)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return `` Did you mean `x`?`` to append to a sentence, or nothing."""
    guess = closest(name, candidates)
    return f" Did you mean `{guess}`?" if guess is not None else ""


def _distance(left: str, right: str, limit: int) -> int:
    """Return the number of edits (insert, delete, replace, swap neighbours), or limit + 1 when there are more."""
    two_above: list[int] = []
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        row = [i]
        for j, b in enumerate(right, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, two_above[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        two_above, above = above, row
    return above[-1]
