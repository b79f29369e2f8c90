"""The laws of the engine, under random play."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

from layover.core.engine.commands import AnyCommand, Move
from layover.core.engine.events import AnyEvent, ExecutionMoved
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from tests.conftest import FACTOR
from tests.core.definitions.dice import Dice, SeededDice, dice

from .laws import tables
from .random_play import Player, begin

# A move needs another version: test_moves.py plays with those.
_COMMANDS = set(get_args(AnyCommand)) - {Move}
_EVENTS = set(get_args(AnyEvent)) - {ExecutionMoved}
_STEPS = 40
_BLOCKS = range(4 * FACTOR)
_PLAYS_PER_BLOCK = 300


def _examples(count: int) -> settings:
    return settings(
        max_examples=count * FACTOR,
        deadline=None,
        derandomize=FACTOR == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def _play(dice: Dice) -> Player:
    player = begin(dice)
    for _ in range(dice.integer(1, _STEPS)):
        player.step()
    return player


@_examples(150)
@given(dice())
def test_no_order_of_commands_breaks_a_law(dice: Dice) -> None:
    _play(dice).crash()


@_examples(150)
@given(dice())
def test_an_execution_can_always_end_after_any_commands(dice: Dice) -> None:
    _play(dice).finish()


@pytest.mark.parametrize("block", _BLOCKS)
def test_many_a_long_play_breaks_no_law_and_ends(block: int) -> None:
    """Hypothesis likes small plays, which can be shrunk; these are large, and found by their seed."""
    for seed in range(block * _PLAYS_PER_BLOCK, (block + 1) * _PLAYS_PER_BLOCK):
        try:
            player = _play(SeededDice(seed))
            player.crash()
            player.finish()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@_examples(50)
@given(dice())
def test_the_log_cut_anywhere_folds_to_the_same_state(dice: Dice) -> None:
    player = begin(dice)
    for _ in range(10):
        player.go_on()
    cut = dice.integer(0, len(player.log))
    parts = fold(fold(ExecutionState(player.plan), player.log[:cut]), player.log[cut:])
    assert tables(parts) == tables(player.state)


# Later seeds in which something was first played; after a change of the game, the others are gone through as well.
_RARE = (85, 89, 99, 192, 228, 348, 369, 467, 649, 818, 827, 3156)


def test_random_play_covers_every_command_and_event() -> None:
    """A command or an event that is never played would keep every law."""
    said: set[type] = set()
    seen: set[type] = set()
    for seed in (*range(80), *_RARE, *range(80, 6_000)):
        player = _play(SeededDice(seed))
        said.update(map(type, player.sent))
        seen.update(type(event) for _, event in player.log)
        if len(said) == len(_COMMANDS) and len(seen) == len(_EVENTS):
            break
    assert said == _COMMANDS
    assert seen == _EVENTS
