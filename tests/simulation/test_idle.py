"""Polls that find nothing cost nothing, and whatever there is to find is found in time."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim, Head, Message
from layover.stores.memory.database import MemoryDatabase
from layover.testing.simulation.idle import finds_nothing, until_due
from layover.testing.simulation.loop import Endless, SimulatedLoop
from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.put_off import PutOff
from layover.testing.simulation.trace import Trace
from layover.testing.simulation.world import World
from tests.simulation.flows import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_000
CLAIM = Claim(instance="i", now=NOW, lease_until=NOW + 10, most=5)


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    made = SimulatedLoop(Random(1), Trace(), most_steps=1_000)  # noqa: S311 - chance, not secrets
    yield made
    made.close()


def head(**fields: object) -> Head:
    usual = {"workflow": "w", "status": "running", "last_seq": 0, "last_epoch": 1, "epoch": 1, "owner": None}
    return Head(execution_id="x", **{**usual, "wake_at": NOW, **fields})  # type: ignore[arg-type]  # as it comes


def test_rounds_of_an_idle_service_are_passed_over_and_the_first_with_work_comes_in_time(loop: SimulatedLoop) -> None:
    idle = [True]
    loop.call_later(2.5, idle.clear)
    loop.run_until_complete(loop.sleep_while(lambda: bool(idle), 1.0, 9))
    assert loop.time() == pytest.approx(3, abs=0.01)


def test_an_idle_service_makes_a_round_after_as_many_as_may_be_passed_over(loop: SimulatedLoop) -> None:
    loop.run_until_complete(loop.sleep_while(lambda: True, 1.0, 4))
    assert loop.time() == pytest.approx(5, abs=0.01)
    assert loop.steps < 10


def test_a_loop_with_too_many_steps_raises_with_the_name_of_the_callback(loop: SimulatedLoop) -> None:
    def again() -> None:
        loop.call_soon(again)

    loop.call_soon(again)
    with pytest.raises(Endless, match="again"):
        loop.run_forever()


@pytest.mark.parametrize(
    ("wake_at", "missing", "owner", "nothing"),
    [
        (NOW + 1, (), None, True),
        (None, (), None, True),
        (NOW, (), None, False),
        (NOW, (), "other", False),
        (NOW + 1, ("work",), None, False),
        (NOW + 1, ("work",), "other", True),
    ],
)
def test_a_claim_that_would_take_something_travels(
    wake_at: int | None, missing: tuple[str, ...], owner: str | None, *, nothing: bool
) -> None:
    database = MemoryDatabase(heads={"x": head(wake_at=wake_at, missing=missing, owner=owner)})
    assert finds_nothing(database, "claims.claim", (CLAIM,)) is nothing


def test_a_look_at_what_is_there_travels() -> None:
    database = MemoryDatabase(heads={"x": head(commands_seq=2)})
    assert finds_nothing(database, "commands.find_unread", ([("x", 2)],))
    assert not finds_nothing(database, "commands.find_unread", ([("x", 1)],))
    assert finds_nothing(database, "outbox.read_due", (NOW, 10))
    database.outbox["x", 1, "y"] = Message(sender="x", n=1, destination="y", kind="Report", body=b"{}", due_at=NOW)
    assert not finds_nothing(database, "outbox.read_due", (NOW, 10))
    assert not finds_nothing(database, "appends.commit", ([],))


@pytest.mark.parametrize(
    ("fields", "wait"),
    [
        ({"wake_at": None}, 500),
        ({"wake_at": NOW + 900}, 500),
        ({"wake_at": NOW + 200, "owner": "other"}, 200),
        ({"wake_at": NOW}, 0),
        ({"wake_at": None, "missing": ("work",)}, 0),
        ({"wake_at": NOW + 300, "missing": ("work",), "owner": "other"}, 300),
    ],
)
def test_no_instance_polls_before_something_is_due(fields: dict[str, object], wait: int) -> None:
    assert until_due(MemoryDatabase(heads={"x": head(**fields)}, clock=lambda: NOW), 500) == wait


def test_messages_and_signals_that_are_left_are_looked_for_at_once() -> None:
    assert until_due(MemoryDatabase(clock=lambda: NOW), 500) == 500
    assert until_due(MemoryDatabase(undispatched={"s"}, clock=lambda: NOW), 500) == 0


@pytest.mark.parametrize(
    ("fields", "is_put_off"),
    [
        ({"wake_at": 10**15}, True),
        ({"wake_at": None}, True),
        ({"wake_at": 10**15, "status": "waiting"}, False),
        ({"wake_at": 10**15, "status": "waiting", "commands_seq": 1}, True),
        ({"wake_at": 10**15, "owner": "i"}, False),
        ({"wake_at": 10**15, "takeovers": 2}, False),
        ({"wake_at": NOW}, False),
    ],
)
def test_what_has_something_to_do_is_not_put_off_for_long(fields: dict[str, object], *, is_put_off: bool) -> None:
    world = World(1, drawn(1, refused=0.0), EVERYTHING)
    world.database.heads["x"] = head(**fields)
    PutOff(world).look()
    world.loop.close()
    assert ("PROMPT" in world.oracle.broken) is is_put_off


def test_a_sleeper_that_is_cancelled_when_its_time_comes_is_no_error(loop: SimulatedLoop) -> None:
    errors: list[object] = []
    loop.set_exception_handler(lambda _, context: errors.append(context))

    async def sleep() -> None:
        task = asyncio.current_task()
        assert task is not None
        loop.call_at(loop.time() + 1.0, task.cancel)
        await loop.sleep_while(lambda: False, 1.0, 10)

    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(sleep())
    assert errors == []
