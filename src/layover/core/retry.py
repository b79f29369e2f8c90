"""Retries: whether a failure is worth another attempt, and how long to wait before it.

A policy answers three questions, each a pure function of the policy and the failures:

`is_exhausted`   are there attempts left? Failures are counted, starts are not: recovering after a crash costs none.
`is_retryable`   is this failure of a kind that may pass? See the order of the rules there.
`delay_before`   how many milliseconds until the next attempt? Chance arrives as an argument, so replay gives the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.definitions import RetryDefinition

# Beyond this a float cannot count; any multiplier above 1 has long reached any cap.
_MAX_EXPONENT = 2**53


class FailedAttempt(msgspec.Struct, frozen=True):
    """The failure of an attempt: a stable code, the names of the exception's class and bases, a sentence for people.

    `status` is the HTTP status of the response, if there was one. A failure that is not `retryable` is final under any
    policy.
    """

    code: str
    type: str
    message: str
    retryable: bool = True
    bases: tuple[str, ...] = ()
    status: int | None = None
    details: object = None


def is_exhausted(retry: RetryDefinition | None, failures: int) -> bool:
    """Return whether no attempt is left after so many failures; without a policy there is one attempt."""
    if retry is None:
        return failures >= 1
    return retry.max_attempts != "forever" and failures >= retry.max_attempts


def is_retryable(retry: RetryDefinition, failure: FailedAttempt) -> bool:
    """Return whether a policy wants another attempt after a failure.

    The entries of `retry_on` and `ignore` name HTTP statuses or exceptions. Of those for the status, an exact code
    (`429`) comes before a class (`4xx`), whichever list it is in; otherwise `ignore` beats `retry_on`. A failure that
    no entry names is retried only if `retry_on` is empty.
    """
    if not failure.retryable:
        return False
    verdicts = {_on_status(retry, failure.status), _on_exception(retry, failure)}
    if False in verdicts:
        return False
    return True in verdicts or not retry.retry_on


def delay_before(retry: RetryDefinition, failures: int, jitter: float) -> int:
    """Return the milliseconds to wait after the given number of failures (from 1), with `jitter` between -1 and 1.

    The delay grows by the multiplier up to `max_delay`; then the jitter stretches or shrinks it by at most the policy's
    share, so that many executions that failed together do not retry together.
    """
    share = retry.jitter * max(-1.0, min(1.0, jitter))
    return max(0, int(_backoff(retry, failures) * (1 + share)))


def _backoff(retry: RetryDefinition, failures: int) -> float:
    exponent = min(max(failures - 1, 0), _MAX_EXPONENT)
    try:
        # As floats, because an integer would grow to a billion digits before it is capped.
        return min(retry.delay * float(retry.multiplier) ** exponent, retry.max_delay)
    except OverflowError:
        return retry.max_delay if retry.delay else 0


def _on_status(retry: RetryDefinition, status: int | None) -> bool | None:
    """Return what the policy says about an HTTP status: to retry, to give up, or nothing."""
    if status is None:
        return None
    for entry in (str(status), f"{status // 100}xx"):
        if _names(entry, retry.ignore):
            return False
        if _names(entry, retry.retry_on):
            return True
    return None


def _names(entry: str, entries: Iterable[str]) -> bool:
    return any(entry == other.lower() for other in entries)


def _on_exception(retry: RetryDefinition, failure: FailedAttempt) -> bool | None:
    """Return what the policy says about an exception: to retry, to give up, or nothing."""
    raised = {_last_part(name) for name in (failure.type, *failure.bases)}
    if any(_last_part(entry) in raised for entry in retry.ignore):
        return False
    if any(_last_part(entry) in raised for entry in retry.retry_on):
        return True
    return None


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
