"""The status of workflows, which says whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import AuditRow


class WorkflowStatusStore(Protocol):
    """The status of workflows; one without a row is active."""

    async def set_status(
        self, status: WorkflowStatus, audit: AuditRow | None = None, expected: WorkflowStatus | None = None
    ) -> bool:
        """Set the status of a workflow, if it is as expected, or whatever it is; return whether it was set.

        Its breakpoints stay as they are.
        """

    async def list_statuses(self, workflows: Sequence[str] | None = None) -> list[WorkflowStatus]:
        """Read the status of workflows that have a row, in the order of their names."""

    async def set_breakpoint(
        self, workflow: str, node: str, reason: str | None, now: int, audit: AuditRow | None = None
    ) -> None:
        """Set a breakpoint of a workflow, or (without a reason) clear it."""

    async def read_breakpoints(self) -> dict[str, dict[str, str]]:
        """Read the breakpoints of all workflows that have any."""
