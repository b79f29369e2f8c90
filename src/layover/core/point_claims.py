"""Claims: one person says "I am at it", so that two do not work on the same question at once.

A claim belongs to one open point and to one person, and runs out by itself: nothing has to happen for that, since each
answer and each claim is compared with the moment at which it was given. It stops others from answering and claiming;
it gives its owner no right that they did not have. Another person who may answer can take it over.
"""

from __future__ import annotations

from typing import Final

import msgspec

CLAIMED_FOR: Final = 15 * 60_000  # milliseconds


class PointClaim(msgspec.Struct, frozen=True, gc=False):
    """Who is at a point, and until when."""

    by: str
    until: int


def standing_claim(claim: PointClaim | None, at: int | None) -> PointClaim | None:
    """Return a claim if it has not run out at a moment."""
    return claim if claim is not None and (at is None or at < claim.until) else None


def claim_of_another(claim: PointClaim | None, user: str, at: int | None) -> PointClaim | None:
    """Return the claim that stops a user at a moment, if one does."""
    standing = standing_claim(claim, at)
    return standing if standing is not None and standing.by != user else None
