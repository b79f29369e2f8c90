"""The first model: one execution, two instances, a person, an operator, time, and mishaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .driving import steps_of_instances
from .promises import broken_promise, is_end
from .state import Budget, Instance, State
from .tables import Tables
from .world import steps_of_the_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rules import Invariant, Rule
    from .search import Step


class OneExecution:
    """The protocol, or the protocol without one of its rules."""

    def __init__(self, budget: Budget, without: Rule | None = None) -> None:
        self._budget = budget
        self._without = without

    def initial(self) -> State:
        """Begin with an execution that has been created and is due."""
        return State(Tables(), Instance(), Instance(), self._budget, mixed=self._budget.newer_cancels > 0)

    def steps(self, state: State) -> Iterator[Step[State]]:
        """Yield all that anybody can do now."""
        yield from steps_of_instances(state, self._without)
        yield from steps_of_the_world(state, self._without)

    def broken(self, state: State) -> Invariant | None:
        """Return what is wrong with a state."""
        return state.breach or broken_promise(state.tables)

    def is_end(self, state: State) -> bool:
        """Say whether the execution may stay like this for ever."""
        return is_end(state.tables)
