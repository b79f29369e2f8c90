"""Try everything: breadth first over all interleavings of a small model.

A model says where it begins, which steps can be taken from a state, and what is wrong with a state. A step is atomic;
whatever a real system can interleave must therefore be two steps. Breadth first, so that the first violation found has
a shortest trace.

Some steps are *obliged*: instances that are up go on, time passes. The others are choices and mishaps, which may never
come: a person, an operator, a crash. An execution must therefore get on by obliged steps alone; that is how liveness
is checked. In every state, an end must be in reach by obliged steps.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from .rules import Invariant

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

S = TypeVar("S", bound="Hashable")


class Step(NamedTuple, Generic[S]):
    """One atomic act of somebody."""

    kind: str
    line: str
    state: S
    obliged: bool = True


class Model(Protocol[S]):
    """Something to be searched."""

    def initial(self) -> S: ...
    def steps(self, state: S) -> Iterable[Step[S]]: ...
    def broken(self, state: S) -> Invariant | None: ...
    def is_end(self, state: S) -> bool: ...


class Violation(NamedTuple):
    """A promise that was broken, and the shortest way to it."""

    invariant: Invariant
    trace: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{number:3}. {line}" for number, line in enumerate(self.trace, 1)]
        return "\n".join([f"broken: {self.invariant.value}", *lines])


class Report(NamedTuple):
    """What a search has seen."""

    states: int
    kinds: frozenset[str]
    violation: Violation | None


class TooManyStatesError(Exception):
    """The model is larger than the search was prepared for."""


class _Graph(Generic[S]):
    """The states in the order they were found, how each was reached, and who leads to whom by obliged steps."""

    def __init__(self, start: S) -> None:
        self.states = [start]
        self.number = {start: 0}
        self.reached: list[tuple[int, str]] = [(-1, "")]
        self.obliged_before: list[list[int]] = [[]]

    def add(self, origin: int, step: Step[S]) -> None:
        target = self.number.setdefault(step.state, len(self.states))
        if target == len(self.states):
            self.states.append(step.state)
            self.reached.append((origin, step.line))
            self.obliged_before.append([])
        if step.obliged and target != origin:
            self.obliged_before[target].append(origin)

    def trace(self, at: int) -> tuple[str, ...]:
        lines = []
        while at:
            at, line = self.reached[at]
            lines.append(line)
        return tuple(reversed(lines))

    def first_trapped(self, ends: list[int]) -> int | None:
        """Walk back from the ends; the earliest state that is not met has no way out."""
        free = [False] * len(self.states)
        for end in ends:
            free[end] = True
        unexplored = list(ends)
        while unexplored:
            for before in self.obliged_before[unexplored.pop()]:
                if not free[before]:
                    free[before] = True
                    unexplored.append(before)
        return None if all(free) else free.index(False)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Nothing becomes garbage in a search; looking for it would take half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def explore(model: Model[S], most: int = 1_000_000) -> Report:
    """Visit every state that can be reached, or stop at the first that breaks a promise."""
    with _no_collector():
        return _explore(model, most)


def _explore(model: Model[S], most: int) -> Report:
    graph = _Graph(model.initial())
    kinds: set[str] = set()
    ends: list[int] = []

    def report(violation: tuple[Invariant, int] | None) -> Report:
        found = Violation(violation[0], graph.trace(violation[1])) if violation else None
        return Report(len(graph.states), frozenset(kinds), found)

    at = 0
    while at < len(graph.states):
        state = graph.states[at]
        if (invariant := model.broken(state)) is not None:
            return report((invariant, at))
        is_end = model.is_end(state)
        if is_end:
            ends.append(at)
        goes_on = False
        for step in model.steps(state):
            graph.add(at, step)
            kinds.add(step.kind)
            goes_on = goes_on or step.obliged
        if not goes_on and not is_end:
            return report((Invariant.NO_STILLNESS, at))
        if len(graph.states) > most:
            raise TooManyStatesError(f"more than {most:,} states")
        at += 1
    trapped = graph.first_trapped(ends)
    return report(None if trapped is None else (Invariant.NO_TRAP, trapped))
