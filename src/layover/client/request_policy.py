"""How long a client waits, and how often it tries again."""

from __future__ import annotations

import random

import msgspec


class RequestPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How much a client puts up with before it gives up; all lengths are in seconds.

    `total` bounds a call with all its tries; what the server is asked to wait for comes on top of it.
    """

    total: float = 30.0
    connect: float = 5.0
    tries: int = 5
    first_wait: float = 0.1
    longest_wait: float = 5.0
    silence: float = 60.0  # of a stream, which gives signs of life far more often

    def wait_after(self, tried: int, asked: float | None) -> float:
        """Return how long to wait after some tries: as long as the server asks for, or longer each time."""
        if asked is not None:
            return asked + random.uniform(0, self.first_wait)  # noqa: S311 - it spreads tries, it keeps no secret
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(tried - 1, 30))
        return longest * random.uniform(0.5, 1)  # noqa: S311 - as above
