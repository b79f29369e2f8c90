"""Nodes found across executions."""

from __future__ import annotations

from layover.core.engine.state import ExecutionStatus
from layover.model.executions import NodeExecution
from layover.model.shared import ExecutionId, Resource


class FoundNode(Resource, frozen=True, kw_only=True):
    """What became of a node, and in which execution."""

    execution_id: ExecutionId
    workflow: str
    version: int | None = None
    execution_status: ExecutionStatus
    node: NodeExecution
