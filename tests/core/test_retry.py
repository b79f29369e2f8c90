from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.definitions import RetryDefinition
from layover.core.retry import FailedAttempt, delay_before, is_exhausted, is_retryable

DAY = 86_400_000
CENTURY = 36_600 * DAY
RETRIES = st.builds(
    RetryDefinition,
    delay=st.integers(0, CENTURY),
    multiplier=st.floats(1, 1_000) | st.integers(1, 1_000),
    max_delay=st.integers(0, CENTURY),
    jitter=st.floats(0, 1),
)
FAILURES = st.integers(1, 200) | st.integers(1, 10**400)
JITTERS = st.floats(-1, 1)
ENTRIES = st.lists(st.sampled_from(["500", "503", "429", "5xx", "4xx", "TimeoutError", "OSError", "x.Refused"])).map(
    tuple
)
FAILED = st.builds(
    FailedAttempt,
    code=st.just("node_failed"),
    type=st.sampled_from(["TimeoutError", "Refused", "HttpError"]),
    message=st.just("no"),
    bases=st.lists(st.sampled_from(["OSError", "Exception"]), unique=True).map(tuple),
    status=st.none() | st.sampled_from([200, 404, 429, 500, 503]),
)


def failed(type_: str = "HttpError", *bases: str, status: int | None = None, retryable: bool = True) -> FailedAttempt:
    return FailedAttempt("node_failed", type_, "It failed.", retryable=retryable, bases=bases, status=status)


@pytest.mark.parametrize(
    ("failures", "expected"),
    [(1, 1_000), (2, 2_000), (3, 4_000), (7, 60_000), (8, 60_000), (1_000_000, 60_000)],
)
def test_the_delay_grows_by_the_multiplier_up_to_its_cap(failures: int, expected: int) -> None:
    retry = RetryDefinition(delay=1_000, multiplier=2.0, max_delay=60_000, jitter=0.1)
    assert delay_before(retry, failures, 0.0) == expected


@pytest.mark.parametrize(
    ("retry", "failures", "expected"),
    [
        (RetryDefinition(delay=0, multiplier=1_000, jitter=0), 10**6, 0),
        (RetryDefinition(delay=5_000, multiplier=1, jitter=0), 10**400, 5_000),
        (RetryDefinition(delay=5_000, multiplier=1.5, jitter=0), 2, 7_500),
        (RetryDefinition(delay=5_000, max_delay=1_000, jitter=0), 1, 1_000),
        (RetryDefinition(delay=5_000, max_delay=0, jitter=0), 3, 0),
        (RetryDefinition(delay=30 * DAY, max_delay=CENTURY, multiplier=1, jitter=0), 4, 30 * DAY),
        (RetryDefinition(delay=1, multiplier=1_000, max_delay=CENTURY, jitter=0), 10**400, CENTURY),
        (RetryDefinition(delay=7, jitter=0), 0, 7),
    ],
)
def test_the_corners_of_the_delay(retry: RetryDefinition, failures: int, expected: int) -> None:
    assert delay_before(retry, failures, 0.0) == expected


@pytest.mark.parametrize(
    ("jitter", "expected"), [(-1.0, 750), (-0.5, 875), (0.0, 1_000), (0.5, 1_125), (1.0, 1_250), (9.0, 1_250)]
)
def test_jitter_stretches_or_shrinks_by_the_share_of_the_policy(jitter: float, expected: int) -> None:
    assert delay_before(RetryDefinition(delay=1_000, jitter=0.25), 1, jitter) == expected


@given(RETRIES, FAILURES, JITTERS)
def test_a_delay_is_never_negative_and_never_beyond_the_stretched_cap(
    retry: RetryDefinition, failures: int, jitter: float
) -> None:
    assert 0 <= delay_before(retry, failures, jitter) <= retry.max_delay * (1 + retry.jitter)


@given(RETRIES, FAILURES, FAILURES, JITTERS)
def test_more_failures_never_shorten_the_delay(retry: RetryDefinition, one: int, other: int, jitter: float) -> None:
    fewer, more = sorted((one, other))
    assert delay_before(retry, fewer, jitter) <= delay_before(retry, more, jitter)


@given(RETRIES, FAILURES, JITTERS, JITTERS)
def test_more_jitter_never_shortens_the_delay(retry: RetryDefinition, failures: int, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert delay_before(retry, failures, less) <= delay_before(retry, failures, more)


@given(RETRIES, FAILURES, JITTERS)
def test_without_a_share_jitter_changes_nothing(retry: RetryDefinition, failures: int, jitter: float) -> None:
    steady = msgspec.structs.replace(retry, jitter=0)
    assert delay_before(steady, failures, jitter) == delay_before(steady, failures, 0.0)


@pytest.mark.parametrize(
    ("retry_on", "ignore", "failure", "expected"),
    [
        # an empty policy retries every failure that is retryable
        ((), (), failed(), True),
        ((), (), failed(status=404), True),
        ((), (), failed(retryable=False), False),
        (("HttpError",), (), failed(retryable=False), False),
        # exceptions by their name, a base's name, or the last part of a dotted one
        (("TimeoutError",), (), failed("TimeoutError"), True),
        (("TimeoutError",), (), failed("ValueError"), False),
        (("OSError",), (), failed("ConnectionResetError", "ConnectionError", "OSError"), True),
        (("httpx.ReadTimeout",), (), failed("ReadTimeout"), True),
        (("ReadTimeout",), (), failed("httpx.ReadTimeout"), True),
        (("httpx.TransportError",), (), failed("ReadTimeout", "httpx._exceptions.TransportError"), True),
        (("Timeout",), (), failed("ReadTimeout"), False),
        (("timeouterror",), (), failed("TimeoutError"), False),
        # among exceptions, ignore beats retry
        ((), ("CardRefused",), failed("CardRefused"), False),
        ((), ("CardRefused",), failed("OSError"), True),
        (("CardRefused",), ("CardRefused",), failed("CardRefused"), False),
        (("OSError",), ("ConnectionError",), failed("ConnectionResetError", "ConnectionError", "OSError"), False),
        (("ConnectionResetError",), ("OSError",), failed("ConnectionResetError", "OSError"), False),
        # statuses, exactly or by class
        (("5xx", "429"), (), failed(status=503), True),
        (("5xx", "429"), (), failed(status=429), True),
        (("5xx", "429"), (), failed(status=404), False),
        (("5xx", "429"), (), failed("OSError"), False),
        (("5XX",), (), failed(status=500), True),
        ((), ("4xx",), failed(status=404), False),
        ((), ("4xx",), failed(status=500), True),
        ((), ("4xx",), failed("OSError"), True),
        # an exact status beats a class, whichever list it is in
        (("5xx", "408", "429"), ("4xx",), failed(status=408), True),
        (("5xx", "408", "429"), ("4xx",), failed(status=404), False),
        (("5xx", "408", "429"), ("4xx",), failed(status=500), True),
        (("408",), ("4xx",), failed(status=500), False),
        (("5xx",), ("501",), failed(status=501), False),
        (("5xx",), ("501",), failed(status=502), True),
        (("5xx",), ("5xx",), failed(status=500), False),
        (("500",), ("500",), failed(status=500), False),
        # entries for the exception and for the status: ignore beats retry
        (("5xx", "429"), ("CardRefused",), failed("CardRefused", status=500), False),
        (("429",), ("HttpError",), failed("HttpError", status=429), False),
        (("HttpError",), ("4xx",), failed("HttpError", status=404), False),
        (("HttpError",), ("4xx",), failed("HttpError", status=503), True),
        (("HttpError", "5xx"), (), failed("HttpError", status=404), True),
    ],
)
def test_whether_a_failure_is_worth_another_attempt(
    retry_on: tuple[str, ...], ignore: tuple[str, ...], failure: FailedAttempt, expected: bool
) -> None:
    assert is_retryable(RetryDefinition(retry_on=retry_on, ignore=ignore), failure) is expected


@given(ENTRIES, ENTRIES, FAILED)
def test_a_failure_that_is_not_retryable_is_never_retried(
    retry_on: tuple[str, ...], ignore: tuple[str, ...], failure: FailedAttempt
) -> None:
    final = msgspec.structs.replace(failure, retryable=False)
    assert not is_retryable(RetryDefinition(retry_on=retry_on, ignore=ignore), final)


@given(ENTRIES, ENTRIES, FAILED)
def test_the_order_of_the_entries_means_nothing(
    retry_on: tuple[str, ...], ignore: tuple[str, ...], failure: FailedAttempt
) -> None:
    backwards = RetryDefinition(retry_on=retry_on[::-1], ignore=ignore[::-1])
    assert is_retryable(backwards, failure) == is_retryable(RetryDefinition(retry_on=retry_on, ignore=ignore), failure)


@pytest.mark.parametrize(
    ("retry", "failures", "expected"),
    [
        (None, 0, False),
        (None, 1, True),
        (RetryDefinition(max_attempts=1), 1, True),
        (RetryDefinition(), 2, False),
        (RetryDefinition(), 3, True),
        (RetryDefinition(), 4, True),
        (RetryDefinition(max_attempts="forever"), 10**9, False),
    ],
)
def test_attempts_run_out_after_as_many_failures(retry: RetryDefinition | None, failures: int, expected: bool) -> None:
    assert is_exhausted(retry, failures) is expected


def test_a_failure_reads_back_as_it_was_written() -> None:
    failure = FailedAttempt(
        "node_failed", "HttpError", "503", bases=("OSError",), status=503, details={"body": [1, None]}
    )
    assert msgspec.json.decode(msgspec.json.encode(failure), type=FailedAttempt) == failure
