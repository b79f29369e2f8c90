"""Copying a whole database into another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.moving import CopiedBatch, CopiedEvent, CopiedItem, KeptSignal, Size, StoredExecution, UsedRate
    from layover.ports.records import Message
    from layover.ports.trigger_records import InputRow, TriggerToken


class DatabaseCopyStore(Protocol):
    """Reads everything from one database and writes it into another; nothing else uses either of them meanwhile."""

    async def read_sizes(self, after: str, most: int) -> list[Size]:
        """Read how large executions are, in the order of their ids, beginning after one; all come after ``""``."""

    async def read_executions(self, execution_ids: Sequence[str]) -> list[StoredExecution]:
        """Read executions with everything that belongs to them, in the order of their ids; unknown ids are ignored."""

    async def read_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read signals in the order of their ids, beginning after one."""

    async def read_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used, in the order of their names, beginning after one."""

    async def read_trigger_inputs(self, after: tuple[str, str] | None, most: int) -> list[InputRow]:
        """Read inputs in the order of their triggers and ids, beginning after one."""

    async def read_trigger_tokens(self, after: str, most: int) -> list[TriggerToken]:
        """Read the hashes of the tokens of webhooks in their order, beginning after one."""

    async def read_trigger_events(self, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
        """Read the logs of triggers in the order of their triggers and numbers, beginning after one event."""

    async def read_deliveries(self, after: str, most: int) -> list[DeliveryRow]:
        """Read deliveries in the order of their ids, beginning after one; all come after ``""``."""

    async def read_batch_items(self, after: tuple[str, int] | None, most: int) -> list[CopiedItem]:
        """Read items in the order of their batches and numbers, beginning after one."""

    async def read_other_messages(self, after: tuple[str, str, int] | None, most: int) -> list[Message]:
        """Read messages whose sender is no execution, in the order of sender, destination and number, after one."""

    async def write_batch(self, batch: CopiedBatch) -> None:
        """Write a batch as it is; if a row of it exists already, nothing is written.

        The versions that executions were started with have to exist, or be part of the batch.
        """
