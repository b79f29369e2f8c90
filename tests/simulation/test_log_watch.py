"""Errors that are logged break a law, unless they were caused from outside."""

from __future__ import annotations

import logging

import pytest

from layover.testing.simulation.log_watch import LogWatch
from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.wire import REFUSAL
from layover.testing.simulation.world import World
from tests.simulation.flows import EVERYTHING

_TEXT = "child_refused parent=%s workflow=%s error=%s"


@pytest.mark.parametrize(
    ("refused", "error", "is_broken"),
    [("a-child", REFUSAL, False), ("a-child", "There is no such workflow.", True), ("", REFUSAL, True)],
)
def test_a_child_that_the_database_refuses_is_caused_from_outside(refused: str, error: str, *, is_broken: bool) -> None:
    world = World(1, drawn(1), EVERYTHING)
    world.refused.update({refused: None} if refused else {})
    args = ("a-parent", "limited", error)
    LogWatch(world).emit(logging.LogRecord("layover", logging.ERROR, "", 0, _TEXT, args, None))
    world.loop.close()
    assert ("NO_INTERNAL_ERROR" in world.oracle.broken) is is_broken
