"""Executions that need node functions which this instance does not have: they wait, and lose nothing.

A function may be missing because only a newer release of the program, or another instance, has it. A missing function
uses up no attempt. The execution is released together with the names of the missing node types: an instance that has
one of them claims it at once, and other instances skip it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import ExecutionState


def missing_types(state: ExecutionState, can_run: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the missing node types, if every runnable node needs one of them."""
    counts, facts = state.counts.rows, state.facts
    if not counts["queued"] or counts["calls"] or facts.closed or facts.gate != "open" or state.queue.rows:
        return ()
    needed = queued_types(state)
    return () if any(map(can_run, needed)) else needed


def queued_types(state: ExecutionState) -> tuple[str, ...]:
    """Return the node types of the queued calls."""
    found = {state.planned(name).calls for name, node in state.nodes.rows.items() if node.status == "queued"}
    return tuple(sorted(found))
