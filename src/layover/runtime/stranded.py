"""Executions that need functions which an instance does not have: they wait, and nothing of them is lost.

A function may be missing because a newer release of a program has it, or because another instance does. No attempt is
spent on finding out. The execution is given back, so that it takes nobody's place, and looked at again after a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.timing import wake_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import Execution

_LOOK_AGAIN = 60_000


def is_stranded(state: Execution, can_run: Callable[[str], bool]) -> bool:
    """Return whether all that is left to do now needs functions that are not there."""
    counts, facts = state.counts.rows, state.facts
    if not counts["queued"] or counts["calls"] or facts.closed or facts.gate != "open":
        return False
    queued = (name for name, node in state.nodes.rows.items() if node.status == "queued")
    return not any(can_run(state.planned(name).node.type) for name in queued)


def look_again_at(state: Execution, now: int) -> int:
    """Return when to look whether the functions are there, or when time has something else to do before."""
    due = wake_at(state)
    return now + _LOOK_AGAIN if due is None else min(due, now + _LOOK_AGAIN)
