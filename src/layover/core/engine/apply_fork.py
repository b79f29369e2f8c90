"""Forking: an execution starts with results of another one, as if its own nodes had given them.

A result is taken over only when its node is reached: so all that comes before it in the graph was taken over as well,
or is skipped. What is then ready and has no result is where the execution goes on. This holds for any graph, also for
that of another version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.node_transitions import move, settle
from layover.core.engine.state import ExecutionState, NodeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.engine import events as ev


def forked(state: ExecutionState, event: ev.ExecutionForked, _at: int) -> None:
    """Note the results that it starts with."""
    state.change(forked_from=event.origin, forked_at=event.at, carried=event.nodes, carried_sets=event.sets)


def take_over(state: ExecutionState, results: Mapping[str, ev.CarriedNode]) -> None:
    """Give the nodes that are reached the results of another execution, as far as there are any."""
    order = {name: index - len(results) for index, name in enumerate(results)}
    while ready := [name for name in state.queue.rows.values() if name in results]:
        for name in ready:
            node, result = state.node(name), results[name]
            done = NodeState(
                status=result.status,
                settled=node.settled,
                taken=node.taken,
                output=result.output,
                port=result.port,
                closed_seq=order[name],  # before all that follows here
                error=result.error,
            )
            move(state, name, node, done)
            settle(state, name, result.port)
