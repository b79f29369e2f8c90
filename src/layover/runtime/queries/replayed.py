"""A past execution step by step: its state after each of its events, folded from the log again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.payloads import copy_plain
from layover.model.executions import ReplayStep
from layover.runtime.execution.replay import first_version, know_versions, moves_in, slices_of
from layover.runtime.queries.history import HistoryEntry
from layover.runtime.queries.views import MOST_LISTED, next_nodes, waiting_on
from layover.runtime.results.executions import event_of

if TYPE_CHECKING:
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.replay import Versions

_MOST_NODES: Final = 50_000  # that the steps of one page list together; each page has one step at least


async def replayed(store: Store, row: ExecutionRow, plans: Versions, since: int, limit: int) -> list[ReplayStep]:
    """Return the steps of an execution from an event on."""
    state = ExecutionState(await plans.of(await first_version(store, row)))
    variables = _Variables()
    steps: list[ReplayStep] = []
    listed = 0
    async for events, _ in slices_of(store, row):
        await know_versions(state, moves_in([event for _, _, event in events]), plans)
        fold(state, [(at, event) for seq, at, event in events if seq < since])
        for seq, at, event in events:
            if seq < since:
                continue
            fold(state, [(at, event)])
            nodes: dict[str, str] = {
                name: node.status for name, node in state.nodes.rows.items() if node.status != "idle"
            }
            steps.append(
                ReplayStep(
                    event=event_of(HistoryEntry(seq=seq, at=at, event=event)),
                    status=state.status,
                    nodes=nodes,
                    variables=variables.of(state),
                    next_nodes=next_nodes(state)[:MOST_LISTED],
                    waiting_on=waiting_on(state)[:MOST_LISTED],
                )
            )
            listed += len(nodes)
            if len(steps) >= limit or listed >= _MOST_NODES:
                return steps
    return steps


class _Variables:
    """Copies the variables when they have changed: steps between two changes share them."""

    def __init__(self) -> None:
        self._of: object = None
        self._copy: dict[str, Any] = {}

    def of(self, state: ExecutionState) -> dict[str, Any]:
        root = state.scopes.rows.get("")
        found = root.variables if root is not None else None
        if found is not self._of:
            self._of, self._copy = found, copy_plain(found or {})  # type: ignore[assignment]  # a copy is a map, too
        return self._copy
