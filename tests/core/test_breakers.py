"""The laws of a breaker, whatever succeeds and fails, and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layover.core.breakers import (
    DISABLED_AFTER,
    FIRST_OPEN,
    LONGEST_OPEN,
    OPENS_AFTER,
    OVER,
    Breaker,
)

_WAITS = st.one_of(
    st.integers(0, 1_000), st.sampled_from([OVER // OPENS_AFTER, FIRST_OPEN, LONGEST_OPEN, DISABLED_AFTER // 40])
)
_ATTEMPTS = st.lists(st.tuples(_WAITS, st.integers(0, 9)), max_size=60)


@given(_ATTEMPTS)
def test_it_opens_by_the_rules(attempts: list[tuple[int, int]]) -> None:
    """Nothing is sent while it is open: then the next attempt is the trial."""
    breaker, now, row = Breaker(), 0, list[int]()
    for wait, chance in attempts:
        now = max(now + wait, breaker.open_until or 0)
        before = breaker
        if chance == 0:
            breaker, row = breaker.succeeded(), []
            assert breaker == Breaker(disabled=before.disabled)
            continue
        row.append(now)
        breaker = breaker.failed(now)
        assert (breaker.failures, breaker.failing_since) == (len(row), row[0])
        assert breaker.disabled == (before.disabled or now - row[0] >= DISABLED_AFTER)
        is_open = breaker.open_until is not None and breaker.open_until > now
        if now - row[0] < DISABLED_AFTER:
            assert is_open == (len(row) >= OPENS_AFTER and now - row[0] >= OVER)
        if is_open and breaker.open_until is not None:
            assert breaker.opened == before.opened + 1
            assert breaker.open_until - now == min(FIRST_OPEN * 2**before.opened, LONGEST_OPEN)


@given(st.lists(st.integers(0, 10_000), max_size=30))
def test_only_the_trial_opens_it_for_longer(late: list[int]) -> None:
    """What was sent before it opened may fail afterwards; that counts, and changes nothing else."""
    breaker = Breaker()
    for n in range(OPENS_AFTER):
        breaker = breaker.failed(n * OVER)
    until = breaker.open_until
    assert until is not None
    now = until - FIRST_OPEN
    for wait in late:
        now = min(now + wait, until - 1)
        breaker = breaker.failed(now)
        assert (breaker.open_until, breaker.opened) == (until, 1)
    assert breaker.failures == OPENS_AFTER + len(late)
    assert breaker.failed(now, is_trial=True).open_until == now + 2 * FIRST_OPEN


def test_days_of_failures_disable_it_and_it_is_tried_once_an_hour_before() -> None:
    breaker, now, trials = Breaker(), 0, 0
    while not breaker.disabled:
        breaker = breaker.failed(now)
        trials += breaker.open_until is not None
        now = max(now + 10_000, breaker.open_until or 0)
    assert DISABLED_AFTER <= now <= DISABLED_AFTER + LONGEST_OPEN + 10_000
    assert trials < 5 * 24 + 10
