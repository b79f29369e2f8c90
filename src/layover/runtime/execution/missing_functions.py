"""Executions that need functions which an instance does not have: they wait, and nothing of them is lost.

A function may be missing because a newer release of a program has it, or because another instance does. No attempt is
spent on finding out. The execution is given back, so that it takes nobody's place, with the names of what it needs:
whoever has one of them takes it up at once, and nobody else is bothered with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import Execution


def missing_types(state: Execution, can_run: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the node types that are needed, if all that is left to do needs functions that are not there."""
    counts, facts = state.counts.rows, state.facts
    if not counts["queued"] or counts["calls"] or facts.closed or facts.gate != "open" or state.queue.rows:
        return ()
    needed = queued_types(state)
    return () if any(map(can_run, needed)) else needed


def queued_types(state: Execution) -> tuple[str, ...]:
    """Return the node types that calls wait for which have not started."""
    found = {state.planned(name).calls for name, node in state.nodes.rows.items() if node.status == "queued"}
    return tuple(sorted(found))
