"""The graph of a definition that is in no database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.runtime.queries.graphs import drawn

if TYPE_CHECKING:
    from layover.core.plan import Plan
    from layover.model.executions import Graph


def graph_of(plan: Plan) -> Graph:
    """Return the graph of a plan as it is over HTTP, before anything has run."""
    return drawn(plan)
