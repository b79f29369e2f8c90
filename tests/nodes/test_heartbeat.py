"""Heartbeats: a call that beats often enough goes on, and silence is reported once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.nodes.heartbeat import Heartbeat


class HandWoundLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0
        super().__init__()

    def time(self) -> float:
        return self.now

    def skip(self, seconds: float) -> None:
        """Let time pass, and run everything that has come due by then."""
        self.now += seconds
        for _ in range(3):
            self.call_soon(self.stop)
            self.run_forever()


def beating(loop: HandWoundLoop, silent: list[float]) -> Heartbeat:
    """Return the heartbeat of a call that has begun."""
    heartbeat = Heartbeat(loop, 1_000, lambda: silent.append(loop.now))
    heartbeat.beat()
    return heartbeat


@pytest.fixture
def loop() -> Iterator[HandWoundLoop]:
    loop = HandWoundLoop()
    yield loop
    loop.close()


def test_silence_is_noticed_once(loop: HandWoundLoop) -> None:
    silent = list[float]()
    beating(loop, silent)
    loop.skip(0.75)
    assert silent == []
    loop.skip(0.25)
    loop.skip(5)
    assert silent == [101.0]


def test_a_beat_gives_the_whole_time_again(loop: HandWoundLoop) -> None:
    silent = list[float]()
    heartbeat = beating(loop, silent)
    for _ in range(10):
        loop.skip(0.75)
        heartbeat.beat()
    assert silent == []
    loop.skip(0.75)
    assert silent == []
    loop.skip(0.25)
    assert silent == [108.5]


def test_a_stopped_heartbeat_reports_nothing(loop: HandWoundLoop) -> None:
    silent = list[float]()
    beating(loop, silent).stop()
    loop.skip(5)
    assert silent == []


def test_a_beat_delayed_by_a_blocked_loop_still_counts(loop: HandWoundLoop) -> None:
    silent = list[float]()
    heartbeat = beating(loop, silent)
    loop.call_at(101.5, heartbeat.beat)  # due after the timer, but in the same turn if the loop is blocked
    loop.skip(2)
    assert silent == []
    loop.skip(1)
    assert silent == [103.0]


def test_time_counts_from_the_first_beat_on(loop: HandWoundLoop) -> None:
    silent = list[float]()
    heartbeat = Heartbeat(loop, 1_000, lambda: silent.append(loop.now))
    for _ in range(5):
        loop.skip(1)
    heartbeat.beat()
    loop.skip(0.75)
    assert silent == []
    loop.skip(0.25)
    assert silent == [106.0]
