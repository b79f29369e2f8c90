"""The queries of the engine for synchronous programs: each method has the engine's signature, and blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from layover.core.plan import Plan
    from layover.ports.access import Standing
    from layover.ports.records import ExecutionRow, PointRow
    from layover.runtime.engine import Engine
    from layover.runtime.operations.executions import HistoryEntry, Until
    from layover.runtime.queries.graphs import Graph
    from layover.runtime.queries.legs import Leg
    from layover.runtime.queries.node_executions import NodeExecution
    from layover.runtime.queries.search import SearchPage
    from layover.runtime.queries.views import Execution
    from layover.runtime.queries.why import Why

T = TypeVar("T")


class SyncQueries:
    """What can be asked without changing anything."""

    _engine: Engine

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done on the engine's event loop, and wait for it here."""
        raise NotImplementedError

    # Workflows

    def accepted(self, plan: Plan) -> Plan:
        """Return a plan as it is registered: containers over data that give no `max_iterations` get the default."""
        return self._wait(self._engine.accepted(plan))

    def plan_of(self, workflow: str) -> Plan:
        """Return the plan of the newest version of a workflow."""
        return self._wait(self._engine.plan_of(workflow))

    def standing(self, workflow: str) -> Standing:
        """Return how a workflow stands."""
        return self._wait(self._engine.standing(workflow))

    # Executions

    def wait(self, execution_id: str, until: Until = "end") -> Execution:
        """Return an execution once it has come to rest, needs somebody, or has come to its end."""
        return self._wait(self._engine.wait(execution_id, until))

    def result(self, execution_id: str) -> object:
        """Return what an execution gives, once it has; raise what it failed with."""
        return self._wait(self._engine.result(execution_id))

    def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""
        return self._wait(self._engine.get(execution_id))

    def row(self, execution_id: str) -> ExecutionRow:
        """Return an execution as a list has it, without what its log tells."""
        return self._wait(self._engine.row(execution_id))

    def paused(
        self, workflow: str | None = None, after: tuple[int, str] | None = None, limit: int = 50
    ) -> Sequence[Execution]:
        """Return executions that are paused, for an operator or for a person, the one paused longest first."""
        return self._wait(self._engine.paused(workflow, after, limit))

    def list(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; `after` goes on behind one that was seen: its `created_at` and id."""
        return self._wait(
            self._engine.list(
                workflow=workflow,
                status=status,
                tag=tag,
                where=where,
                conditions=conditions,
                after=after,
                limit=limit,
            )
        )

    def find(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        parent_id: str | None = None,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> SearchPage:
        """Return executions as `list` does, but look only for so long: there may be fewer of them, or none."""
        return self._wait(
            self._engine.find(
                workflow=workflow,
                status=status,
                tag=tag,
                parent_id=parent_id,
                where=where,
                conditions=conditions,
                after=after,
                limit=limit,
            )
        )

    def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""
        return self._wait(self._engine.history(execution_id, since, limit))

    def nodes(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached, in that order, from a position on; the first has 0."""
        return self._wait(self._engine.nodes(execution_id, since, limit))

    def legs(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[Leg]:
        """Return the stretches of work between two rests, in their order, from a position on; the first has 0."""
        return self._wait(self._engine.legs(execution_id, since, limit))

    def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with what became of its nodes."""
        return self._wait(self._engine.graph(execution_id))

    def counts(self) -> dict[str, int]:
        """Return how many executions there are, by status."""
        return self._wait(self._engine.counts())

    def why(self, execution_id: str) -> Why:
        """Return what an execution waits for, and what those wait for that it waits for."""
        return self._wait(self._engine.why(execution_id))

    # Pause points

    def points(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return pause points, the oldest first; with `children`, also those of the executions that one waits for."""
        return self._wait(self._engine.points(execution_id, status=status, children=children))

    def find_point(self, execution_id: str, context_id: str) -> PointRow | None:
        """Return the newest pause point of a place in an execution; None if it was never waited there."""
        return self._wait(self._engine.find_point(execution_id, context_id))

    def queue(self, execution_id: str) -> dict[str, int]:
        """Return the places of points whose answers wait for their turn, counted from 1, by the ids of the points."""
        return self._wait(self._engine.queue(execution_id))
