"""What the door needs of a backend for workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.core.definitions.problems import Problem
    from layover.interface.requests import (
        ResumeTime,
    )
    from layover.model.deploy_plans import DeployPlan
    from layover.model.executions import (
        Graph,
    )
    from layover.model.shared import Page
    from layover.model.workflows import (
        Bundle,
        Differences,
        DryRun,
        NodeType,
        Resting,
        WorkflowChange,
        WorkflowSource,
        WorkflowVersion,
    )


class WorkflowsBackend(Protocol):
    """Workflows: definitions, versions, and whether they may be started."""

    async def register(self, definition: str | Mapping[str, object], *, allow_unknown: bool) -> WorkflowVersion:
        """Store a definition as the newest version of its workflow, unless it is that already."""

    async def check(self, definition: str | Mapping[str, object], *, allow_unknown: bool) -> tuple[Problem, ...]:
        """Return everything that is wrong with a definition."""

    async def node_types(self) -> tuple[NodeType, ...]:
        """Return the types that a node may have."""

    async def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of definitions."""

    async def get(self, name: str, version: int | None) -> WorkflowVersion:
        """Return a version of a workflow with its definition."""

    async def source(self, name: str, version: int | None) -> WorkflowSource:
        """Return the text of a version, as it was written."""

    async def list(self, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of workflows by name, each with its newest version."""

    async def versions(self, name: str, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of the versions of a workflow, the newest first."""

    async def graph(self, name: str, version: int | None) -> Graph:
        """Return the graph of a version."""

    async def diff(self, name: str, before: int | None, after: int | None) -> Differences:
        """Return what is different between two versions."""

    async def compare(self, name: str, definition: str | Mapping[str, object]) -> Differences:
        """Return how a definition differs from the newest version."""

    async def resting(self, name: str) -> Resting:
        """Return where the executions of a workflow rest that have not ended."""

    async def dry_run_of(
        self,
        definition: str | Mapping[str, object],
        input: object,  # noqa: A002 - as everywhere
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a definition that is stored nowhere."""

    async def plan(
        self, definition: str | Mapping[str, object], map_: Mapping[str, str], *, allow_unknown: bool
    ) -> DeployPlan:
        """Return what a definition would mean to the open executions of its workflow; nothing is changed."""

    async def dry_run(
        self,
        name: str,
        version: int | None,
        input: object,  # noqa: A002 - as everywhere
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a workflow in which nothing is called."""

    async def export(self, names: Sequence[str]) -> Bundle:
        """Return the newest definitions of some workflows, or of all."""

    async def import_(self, bundle: Bundle, *, allow_unknown: bool) -> tuple[WorkflowVersion, ...]:
        """Store all definitions of a bundle, or none."""

    async def pause(self, name: str, reason: str, *, running: bool, until: ResumeTime | None = None) -> WorkflowChange:
        """Hold what starts from now on; with `running`, what has begun, too; perhaps until a time or a signal."""

    async def set_breakpoint(self, name: str, node: str, reason: str) -> WorkflowChange:
        """Pause each execution of a workflow before a node, whenever it comes there."""

    async def clear_breakpoint(self, name: str, node: str | None) -> WorkflowChange:
        """Let executions of a workflow no longer pause before a node, or before any."""

    async def schedule_resume(self, name: str, when: ResumeTime | None) -> WorkflowChange:
        """Set when a paused workflow goes on by itself; None: it no longer does."""

    async def resume(self, name: str) -> WorkflowChange:
        """Let a workflow go on, and what was held with it."""

    async def activate(self, name: str) -> WorkflowChange:
        """Let a workflow be started again."""

    async def deactivate(self, name: str, reason: str) -> WorkflowChange:
        """Refuse to start a workflow from now on."""

    async def delete(self, name: str) -> None:
        """Delete a workflow; its open executions go on."""
