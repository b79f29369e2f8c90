"""The outbox: messages between executions, written with their logs and kept until they are delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Message, Outbox


class OutboxStore(Protocol):
    """The messages that have not been delivered."""

    async def read_due(self, now: int, most: int) -> Outbox:
        """Read messages that are due; those of one sender to one destination come in the order of their numbers."""

    async def delete_delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""

    async def postpone(self, message: Message, due_at: int) -> None:
        """Make a message due later."""

    async def list_undelivered(self, sender: str) -> list[Message]:
        """Read the messages of one execution that were not delivered."""
