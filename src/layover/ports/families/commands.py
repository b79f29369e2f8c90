"""Commands to executions, in a queue for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Enqueue, Enqueued, QueuedCommand, Refusal


class CommandStore(Protocol):
    """The queues of commands."""

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, status: WorkflowStatus | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands to executions that are not closed; those that no instance drives are due at once.

        With a status, they are enqueued only while the workflow has that status: an instance that sets another one
        afterwards finds them in the queues; if it did so before, they are refused as `superseded`.
        """

    async def list_after(self, execution_id: str, after: int) -> list[QueuedCommand]:
        """Read the commands of an execution after one of them."""

    async def is_enqueued(self, execution_id: str, source: str) -> bool:
        """Return whether an execution has a command from a source."""

    async def find_unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have commands beyond the number that their driver has seen."""
