"""The core in miniature: a log implies a state, and a step boundary turns what is known into new events.

The workflow is `A → P → B → end`: A and B are calls with effects, P is a pause point with a deadline, and B is told
whether P was answered or has expired. Both functions are pure; what they are not told, they cannot know.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from .rules import Rule

if TYPE_CHECKING:
    from .tables import Command, Fate, Wake

Node = Literal["A", "B"]
Events = tuple[str, ...]

STARTED: dict[str, Node] = {"NodeStarted A": "A", "NodeStarted B": "B"}
COMPLETED: dict[str, Node] = {"NodeCompleted A": "A", "NodeCompleted B": "B"}
CLOSING = frozenset({"ExecutionCompleted", "ExecutionCancelled"})


class Execution(NamedTuple):
    """What a log implies."""

    calling: Node | None = None
    done: frozenset[Node] = frozenset()
    point: Literal["planned", "open", "answered", "applied", "expired"] = "planned"
    gate: Literal["open", "pausing", "paused"] = "open"
    closed: bool = False


@cache
def fold(events: Events) -> Execution:
    """Read a log. Cached because many interleavings share one."""
    return evolve(fold(events[:-1]), events[-1]) if events else Execution()


def evolve(execution: Execution, event: str) -> Execution:
    """Apply one event; no rule lives here."""
    if event in STARTED:
        return execution._replace(calling=STARTED[event])
    if event in COMPLETED:
        return execution._replace(calling=None, done=execution.done | {COMPLETED[event]})
    match event.split(maxsplit=1)[0]:
        case "NodeFailed" | "NodeInDoubt":
            return execution._replace(calling=None)
        case "PausePointOpened":
            return execution._replace(point="open")
        case "PausePointAnswered":
            return execution._replace(point="answered")
        case "PausePointApplied":
            return execution._replace(point="applied")
        case "PausePointExpired":
            return execution._replace(point="expired")
        case "ExecutionPausing":
            return execution._replace(gate="pausing")
        case "ExecutionPaused":
            return execution._replace(gate="paused")
        case "ExecutionResumed":
            return execution._replace(gate="open")
        case "ExecutionCompleted" | "ExecutionCancelled":
            return execution._replace(calling=None, closed=True)
        case _:
            return execution


class Decision(NamedTuple):
    """What one step boundary wants to append."""

    events: Events
    results: int  # how many of the events only say how a call went
    settled: tuple[tuple[int, Fate], ...]
    call: Node | None
    rests: bool
    wake: Wake


class Knowledge(NamedTuple):
    """All that a decision may depend on."""

    log: Events
    calling: Node | None  # a call of mine that is out
    outcome: str | None  # the event of a call of mine that has returned
    unread: tuple[Command, ...]
    deadline_passed: bool
    grace_over: bool
    without: Rule | None
    is_older: bool = False  # than whoever sent some of the commands


class _Boundary:
    """One step boundary while it is being decided."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.now = fold(known.log)
        self.events: list[str] = []
        self.settled: list[tuple[int, Fate]] = []
        self.call: Node | None = None

    def say(self, event: str) -> None:
        self.events.append(event)
        self.now = evolve(self.now, event)

    def record_results(self) -> None:
        if self.known.outcome is not None:
            self.say(self.known.outcome)
        elif self.now.calling and not self.known.calling:
            self.say(f"NodeInDoubt {self.now.calling}")  # its instance is gone; recovery calls again

    def move_commands(self) -> None:
        for command in self.known.unread:
            if self.now.closed:
                if self.known.without is not Rule.CLOSING_SETTLES_COMMANDS:
                    self.settled.append((command.n, "too_late"))
            elif command.newer and self.known.is_older:
                self.settled.append((command.n, "moved"))  # what a release does that takes it for done
            elif not self._waits_in_the_queue(command):
                self._move(command)
                self.settled.append((command.n, "moved"))

    def _waits_in_the_queue(self, command: Command) -> bool:
        tempted = self.known.without is Rule.NOTHING_WAITS_IN_THE_QUEUE
        return tempted and command.kind == "answer" and self.now.gate != "open"

    def _move(self, command: Command) -> None:
        match command.kind:
            case "answer":
                self.say("PausePointAnswered")
            case "pause" if self.now.gate == "open":
                self.say("ExecutionPausing")
            case "resume" if self.now.gate != "open":
                self.say("ExecutionResumed")
            case "cancel":
                self.say("ExecutionCancelled")
            case _:
                self.say(f"CommandIgnored {command.kind}")

    def advance(self) -> None:
        """Go on as far as the graph, the gate and the point allow."""
        if self.now.closed or self.now.gate != "open" or self.now.calling:
            return
        if "A" not in self.now.done:
            self._start("A")
            return
        if self.now.point == "planned":
            self.say("PausePointOpened")
        if self.now.point == "answered":
            self.say("PausePointApplied")
        elif self.now.point == "open" and self.known.deadline_passed:
            self.say("PausePointExpired")
        if self.now.point == "open":
            return
        if "B" not in self.now.done:
            self._start("B")
        else:
            self.say("ExecutionCompleted")

    def _start(self, node: Node) -> None:
        self.say(f"NodeStarted {node}")
        self.call = node

    def drain(self) -> None:
        if self.now.closed or self.now.gate != "pausing":
            return
        if self.now.calling and self.known.grace_over:
            self.say(f"NodeInDoubt {self.now.calling}")
        if not self.now.calling or self.known.without is Rule.PAUSED_MEANS_DRAINED:
            self.say("ExecutionPaused")

    def wake_at_rest(self) -> Wake:
        """A pure function of the state."""
        if self.now.closed:
            return None
        if len(self.settled) < len(self.known.unread):
            return "now"
        if self.known.without is Rule.REST_NAMES_THE_NEXT_WAKE:
            return None
        if self.now.gate != "open" and self.known.without is not Rule.NOTHING_IS_DUE_WHILE_PAUSED:
            return None
        return "deadline" if self.now.point == "open" else None


def decide(known: Knowledge) -> Decision:
    """Say what happens at a step boundary: results, then all commands in order, and only then what follows."""
    boundary = _Boundary(known)
    boundary.record_results()
    results = len(boundary.events)
    if known.without is Rule.GATE_CLOSES_WITH_THE_COMMAND:
        boundary.advance()
    boundary.move_commands()
    boundary.advance()
    boundary.drain()
    now = boundary.now
    return Decision(
        events=tuple(boundary.events),
        results=results,
        settled=tuple(boundary.settled),
        call=boundary.call,
        rests=now.closed or now.gate == "paused" or not now.calling,
        wake=boundary.wake_at_rest(),
    )
