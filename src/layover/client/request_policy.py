"""How long a client waits, and how often it tries again."""

from __future__ import annotations

import random

import msgspec

from layover.errors import InvalidInput
from layover.interface.durations import Duration, milliseconds_of

_LENGTHS = ("total", "connect", "first_wait", "longest_wait", "silence")


class RequestPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How much a client puts up with before it gives up.

    `total` bounds a request with all its tries; what the server is asked to wait for comes on top of it.
    """

    total: Duration = "30s"
    connect: Duration = "5s"
    tries: int = 5
    first_wait: Duration = "100ms"  # before the second try; doubled for each one more
    longest_wait: Duration = "5s"
    silence: Duration = "60s"  # of a stream, which gives signs of life far more often

    def __post_init__(self) -> None:
        """Refuse what is not a length of time, or no try at all."""
        for name in _LENGTHS:
            milliseconds_of(name, getattr(self, name))
        if self.tries < 1:
            fault = f"{self.tries} is less than one"
            raise InvalidInput(f"`tries`: {fault}.", (("tries", fault),), code="invalid_parameter")


class RetryLimits:
    """A policy in seconds, as it is kept to."""

    __slots__ = ("connect", "first_wait", "longest_wait", "silence", "total", "tries")

    def __init__(self, policy: RequestPolicy) -> None:
        self.total = _seconds(policy.total)
        self.connect = _seconds(policy.connect)
        self.tries = policy.tries
        self.first_wait = _seconds(policy.first_wait)
        self.longest_wait = _seconds(policy.longest_wait)
        self.silence = _seconds(policy.silence)

    def wait_after(self, tried: int, asked: float | None) -> float:
        """Return how long to wait after some tries: as long as the server asks for, or longer each time."""
        if asked is not None:
            return asked + random.uniform(0, self.first_wait)  # noqa: S311 - it spreads tries, it keeps no secret
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(tried - 1, 30))
        return longest * random.uniform(0.5, 1)  # noqa: S311 - as above


def _seconds(length: Duration) -> float:
    return milliseconds_of("policy", length) / 1000
