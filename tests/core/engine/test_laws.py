"""The laws of the engine, under random play: all that can be asked is asked, at any moment, possible or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from hypothesis import HealthCheck, given, settings

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import decide, play
from layover.core.engine.evolve import fold
from layover.core.engine.state import Execution
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from tests.conftest import FACTOR
from tests.core.definitions.dice import Dice, dice

from .graphs import INPUTS, behave, reply, workflow
from .laws import Ledger, check_state, tables

if TYPE_CHECKING:
    from layover.core.plan import Plan

_STEPS = 40
_ERROR = ev.Error(code="failed", type="OSError", message="lost")
_DECODER = msgspec.json.Decoder(tuple[int, ev.AnyEvent])
# These say something new each time they are said: a node has come further, an instance is lost, time has passed.
_NEW_EACH_TIME = (cmd.Checkpoint, cmd.Recover, cmd.Wake)

thorough = settings(
    max_examples=250 * FACTOR,
    deadline=None,
    derandomize=FACTOR == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Player:
    """An execution under random play, with everything that the laws compare it with."""

    def __init__(self, plan: Plan, dice: Dice) -> None:
        self.plan = plan
        self.dice = dice
        self.now = 1_000
        self.state = Execution(plan)
        self.shadow = Execution(plan)
        self.log: list[tuple[int, ev.AnyEvent]] = []
        self.sent: list[cmd.AnyCommand] = []
        self.ledger = Ledger()

    def send(self, command: cmd.AnyCommand) -> list[ev.AnyEvent]:
        """Ask something, and look whether all laws hold."""
        before, closed = tables(self.state), self.state.facts.closed
        events = decide(self.state, command, self.now)
        assert tables(self.state) == before, "deciding left a trace"
        assert decide(self.state, command, self.now) == events, "deciding again gave something else"
        if self.dice.chance(8):
            play(self.state, command, self.now)
            self.state.journal.revert()
            assert tables(self.state) == before, "going back left a trace"
        assert play(self.state, command, self.now) == events
        self.state.journal.keep()
        if closed:
            assert events == [], "a closed execution accepted something"
        self._commit(events)
        self.sent.append(command)
        if not isinstance(command, _NEW_EACH_TIME):
            assert decide(self.state, command, self.now) == [], "a repeated command did something"
        return events

    def _commit(self, events: list[ev.AnyEvent]) -> None:
        entries = [(self.now, event) for event in events]
        self.log += entries
        fold(self.shadow, entries)
        assert tables(self.shadow) == tables(self.state), "folding in parts gave another state"
        self.ledger.read(events)
        check_state(self.state, self.ledger, len(self.log))

    def crash(self) -> None:
        """Lose everything but the log."""
        stored = [msgspec.json.encode(entry) for entry in self.log]
        self.state = fold(Execution(self.plan), map(_DECODER.decode, stored))
        assert tables(self.state) == tables(self.shadow), "replay gave another state"

    # What can be asked

    def step(self) -> None:
        """Do something: mostly what is to be expected, often enough what is not."""
        choice = self.dice.integer(0, 19)
        if choice < 9:
            self._go_on()
        elif choice < 11:
            self.send(self._report())
        elif choice < 13:
            self.send(self._answer())
        elif choice < 15:
            self.now += self.dice.pick((1, 1_000, 60_000, 3_600_000, 86_400_000))
            self.send(cmd.Wake())
        elif choice == 15:
            self.send(self.dice.pick(self.sent))
        elif choice == 16:
            self.send(cmd.Pause(reason="hold", by="op"))
        elif choice == 17:
            self.send(cmd.Resume(by="op", data=self.dice.pick(({}, {"v": 2}))))
        elif choice == 18:
            self.crash()
        else:
            self.send(
                self.dice.pick((cmd.Recover(), cmd.Recover(), cmd.Wake(), cmd.Create(id="x"), cmd.Cancel(by="op")))
            )

    def _go_on(self) -> None:
        """Do the first thing that the execution waits for."""
        running = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "running")
        points = sorted(point.node for point in self.state.points.rows.values() if point.status == "open")
        if self.state.facts.gate != "open" and not self.dice.chance(3):
            self.send(cmd.Resume(by="op"))
        elif running and (not points or self.dice.chance()):
            self.send(self._outcome(self.dice.pick(running)))
        elif points and self.dice.chance():
            self._answer_as_expected(self.dice.pick(points))
        elif (due := wake_at(self.state)) is not None:
            self.now = max(self.now, due)
            self.send(cmd.Wake())
        else:
            self.send(cmd.Resume(by="op"))

    def _outcome(self, name: str) -> cmd.AnyCommand:
        node = self.state.node(name)
        try:
            output = behave(self.state.planned(name).node.type, node.failures, node.input)
        except Exception as error:  # noqa: BLE001 - whatever a function raises
            told = ev.Error(code="failed", type=type(error).__name__, message=str(error))
            bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
            return cmd.Fail(node=name, attempt=node.attempt, error=told, bases=bases)
        return cmd.Complete(node=name, attempt=node.attempt, output=output)

    def _answer_as_expected(self, name: str) -> None:
        point = next(point for point in self.state.points.rows.values() if point.node == name)
        given = reply(name, may_be_late=False)
        assert given is not None
        self.send(cmd.Answer(point=point.id, data=given.data, approved=given.approved, by="ann"))

    def _report(self) -> cmd.AnyCommand:
        """Return a report of any node, of any attempt: duplicated, late, or never asked for."""
        dice = self.dice
        names = sorted(self.state.nodes.rows) or ["n1"]
        name = dice.pick(names) if dice.chance(4) else dice.pick(sorted({*names[:1], *self.ledger.attempts}))
        attempt = max(0, self.state.node(name).attempt + dice.pick((0, 0, -1, 1)))
        return dice.pick(
            (
                cmd.Complete(node=name, attempt=attempt, output=7),
                cmd.Fail(node=name, attempt=attempt, error=_ERROR, jitter=0.5),
                cmd.Fail(node=name, attempt=attempt, error=msgspec.structs.replace(_ERROR, retryable=False)),
                cmd.Checkpoint(node=name, attempt=attempt, data=attempt),
                cmd.Record(node=name, attempt=attempt, key="k", value=1),
            )
        )

    def _answer(self) -> cmd.AnyCommand:
        """Return an answer to any point, open or not, fitting or not."""
        dice = self.dice
        opened = [event.point for _, event in self.log if isinstance(event, ev.PausePointOpened)]
        return cmd.Answer(
            point=dice.pick(opened) if opened else "nowhere",
            data=dice.pick((None, {"n": 1, "stop": True})),
            approved=dice.pick((True, False, None)),
            by=dice.pick(("ann", "bob")),
        )


def _start(dice: Dice) -> Player:
    player = Player(load(workflow(dice, settled=False)), dice)
    if dice.chance(10):
        player.send(cmd.Wake())
    player.send(cmd.Create(id="execution", input=dice.pick(INPUTS), user="ann"))
    return player


@thorough
@given(dice())
def test_no_order_of_commands_breaks_a_law(dice: Dice) -> None:
    player = _start(dice)
    for _ in range(dice.integer(1, _STEPS)):
        player.step()
    player.crash()


@thorough
@given(dice())
def test_the_log_cut_anywhere_folds_to_the_same_state(dice: Dice) -> None:
    player = _start(dice)
    for _ in range(10):
        player._go_on()  # noqa: SLF001 - the player of this very file
    cut = dice.integer(0, len(player.log))
    parts = fold(fold(Execution(player.plan), player.log[:cut]), player.log[cut:])
    assert tables(parts) == tables(player.state)
