"""Short helpers for the tests of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.plan import load
from layover.testing import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.engine.events import AnyEvent
    from layover.testing import Behaviour


def rehearse(nodes: str, behaviours: Mapping[str, Behaviour] | None = None, settings: str = "{}") -> Rehearsal:
    """Return a rehearsal of a workflow, given as the YAML of its nodes."""
    plan = load(f"name: w\nvariables: {{count: 0}}\nsettings: {settings}\nnodes:\n{nodes}", syntax="yaml")
    return Rehearsal(plan, behaviours)


def types(rehearsal: Rehearsal) -> list[str]:
    """Return the kinds of events so far, in order."""
    return [type(event).__name__ for _, event in rehearsal.log]


def only(rehearsal: Rehearsal, kind: type[AnyEvent]) -> list[AnyEvent]:
    """Return the events of one kind."""
    return [event for _, event in rehearsal.log if isinstance(event, kind)]


def fails_times(times: int, then: object = "done", error: type[Exception] = OSError) -> Behaviour:
    """Return a behaviour that fails a number of times and then succeeds."""
    left = times

    def behave(_given: object) -> object:
        nonlocal left
        if left:
            left -= 1
            raise error("not yet")
        return then

    return behave


def failing(_given: object) -> object:
    """Fail, always."""
    raise ValueError("broken")
