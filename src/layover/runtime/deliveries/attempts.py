"""When a delivery is tried again: eight attempts within about a day, the later ones far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random  # noqa: TID251 - what the machine gives is one

_SECOND: Final = 1_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE

# Between two attempts, in milliseconds; the first attempt is made at once.
PAUSES: Final = (5 * _SECOND, 5 * _MINUTE, 30 * _MINUTE, 2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 10 * _HOUR)
MOST_ATTEMPTS: Final = len(PAUSES) + 1
LONGEST_RETRY_AFTER: Final = 24 * _HOUR
_SPREAD: Final = 0.2


def next_attempt(attempts: int, now: int, chance: Random, retry_after: int | None = None) -> int | None:
    """Return when to try again after so many attempts; None if there is no further one.

    `retry_after` is how many milliseconds the receiver asks for. It only ever makes the pause longer.
    """
    if attempts >= MOST_ATTEMPTS:
        return None
    # The pauses are spread, so that what failed together does not come back together.
    pause = round(PAUSES[max(attempts, 1) - 1] * chance.uniform(1 - _SPREAD, 1 + _SPREAD))
    return now + max(pause, min(retry_after or 0, LONGEST_RETRY_AFTER))
