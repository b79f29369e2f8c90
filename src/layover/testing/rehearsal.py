"""A whole execution played against a table of behaviours, without any runtime.

Calls are made in the order in which they were started, time moves only when told to, and a crash drops whatever was
not committed. What happens is what the engine decides; the rehearsal only stands in for the world outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import play
from layover.core.engine.in_doubt import purpose_of
from layover.core.engine.state import ExecutionState
from layover.core.engine.timing import wake_at

if TYPE_CHECKING:
    from layover.core.engine.free_slots import FreeSlots
    from layover.core.engine.state import Point
    from layover.core.plan import Plan

Behaviour = Callable[[object], object]  # returns the output of a node for its input, or raises
Probe = Callable[[object], bool | None]


class Rehearsal:
    """One execution, its log, and a clock; `behaviours` say what a function returns (or raises) for an input.

    `slots` say for how many calls there is a place; one for which there is none is started by `cmd.StartQueued`.
    `probes` say whether a call that was lost had its effect, for functions whose `on_crash` is `probe`;
    `undos` take back what it may have done.
    """

    def __init__(
        self,
        plan: Plan,
        behaviours: Mapping[str, Behaviour] | None = None,
        now: int = 1_000,
        slots: FreeSlots | None = None,
        probes: Mapping[str, Probe] | None = None,
        undos: Mapping[str, Behaviour] | None = None,
    ) -> None:
        self.plan = plan
        self.slots = slots
        self.probes = dict(probes or {})
        self.undos = dict(undos or {})
        self.behaviours = dict(behaviours or {})
        self.now = now
        self.state = ExecutionState(plan)
        self.state.undos = self.undos
        self.log: list[tuple[int, ev.AnyEvent]] = []

    def send(self, command: cmd.AnyCommand) -> list[ev.AnyEvent]:
        """Decide a command and commit what it leads to."""
        events = play(self.state, command, self.now, self.slots)
        self.state.undo_log.keep()
        self.log.extend((self.now, event) for event in events)
        return events

    def start(self, input: object = None, user: str | None = None) -> Rehearsal:  # noqa: A002 - as everywhere
        """Begin and go on until the execution rests."""
        self.send(cmd.Create(id="execution", input=input, user=user))
        return self.run()

    def run(self) -> Rehearsal:
        """Make the calls that are out until there are none."""
        while (name := self._next_call()) is not None:
            self.call(name)
        return self

    def call(self, name: str) -> None:
        """Make one call that is out and report how it went."""
        node, function = self.state.node(name), self.state.planned(name).calls
        purpose = purpose_of(self.state, name)
        if purpose == "probe":
            happened = self.probes.get(function, _nobody_knows)(node.input)
            self.send(cmd.Probed(node=name, attempt=node.attempt, happened=happened))
            return
        behaviours = self.undos if purpose == "undo" else self.behaviours
        try:
            output = behaviours.get(function, _echo)(node.input)
        except Exception as error:  # noqa: BLE001 - whatever a node raises fails that node
            bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
            told = ev.Error(code="failed", type=type(error).__name__, message=str(error))
            self.send(cmd.Fail(node=name, attempt=node.attempt, error=told, bases=bases))
        else:
            if purpose == "undo":
                self.send(cmd.Undone(node=name, attempt=node.attempt))
                return
            self.send(cmd.Complete(node=name, attempt=node.attempt, output=output))

    def skip(self, milliseconds: int) -> Rehearsal:
        """Let time pass: everything that comes due acts at its own moment, in order."""
        until = self.now + milliseconds
        while (due := wake_at(self.state)) is not None and due <= until:
            self.now = max(self.now, due)
            self.send(cmd.Wake())
            self.run()
        self.now = until
        return self

    def answer(
        self,
        node: str,
        data: object = None,
        *,
        approved: bool | None = None,
        by: str = "ann",
        roles: tuple[str, ...] = (),
        comment: str = "",
    ) -> Rehearsal:
        """Answer the open point of a node and go on."""
        point = self.point(node).id
        self.send(cmd.Answer(point=point, data=data, approved=approved, by=by, roles=roles, comment=comment))
        return self.run()

    def point(self, node: str) -> Point:
        """Return the point that a node waits at."""
        return next(point for point in self.state.points.rows.values() if point.node == node)

    @property
    def waiting(self) -> list[str]:
        """The nodes that wait at a point, by context id."""
        return sorted(point.node for point in self.state.points.rows.values())

    @property
    def status(self) -> str:
        """The status of the execution."""
        return self.state.status

    @property
    def error(self) -> str:
        """The code of the error that the execution failed with, or nothing."""
        return self.state.facts.error.code if self.state.facts.error is not None else ""

    @property
    def output(self) -> object:
        """What the execution gave."""
        return self.state.facts.output

    def _next_call(self) -> str | None:
        if self.state.facts.closed:
            return None
        running = [name for name, node in self.state.nodes.rows.items() if node.status == "running"]
        return min(running, key=lambda name: (self.state.node(name).started_at, name), default=None)


def _echo(given: object) -> object:
    return given


def _nobody_knows(_given: object) -> None:
    return None
