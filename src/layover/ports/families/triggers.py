"""Triggers: what starts executions by itself, and the inputs that become executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.trigger_records import (
        DueTriggers,
        InputChange,
        InputFilter,
        InputRow,
        NewToken,
        Overlapping,
        Received,
        Reception,
        RenewedPoll,
        TriggerEventRow,
        TriggerMove,
        TriggerRow,
        TriggerSave,
        TriggerSaved,
    )


class TriggerStore(Protocol):
    """Rows that any instance serves. Saving a version of a workflow writes them; see `DefinitionStore.save`."""

    async def read_due(self, now: int, most: int) -> DueTriggers:
        """Read what is due, oldest first, and when something will be due next."""

    async def find(self, trigger_id: str) -> TriggerRow | None:
        """Find a trigger."""

    async def list_triggers(
        self, workflow: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> list[TriggerRow]:
        """List triggers by workflow and name, beginning after one."""

    async def list_by_topic(self, topic: str) -> list[TriggerRow]:
        """List the triggers that a signal of this name fires, unless they are stopped."""

    async def save(self, save: TriggerSave) -> TriggerSaved:
        """Create, replace or delete a trigger that belongs to no definition; a deleted one has no tokens."""

    async def add_token(self, new: NewToken) -> bool:
        """Store a token, unless it is for a trigger without one, and that has one."""

    async def find_by_token(self, hash_: str, now: int) -> TriggerRow | None:
        """Find the trigger that a token is for, if the token is valid."""

    async def move(self, move: TriggerMove) -> bool:
        """Change a trigger, with its inputs and events, if it is as the writer has read it."""

    async def renew_poll(self, lease: RenewedPoll) -> bool:
        """Have the lease of a poll last longer, if it is still held under the same epoch."""

    async def receive(self, reception: Reception) -> Received:
        """Keep an input that has arrived, unless its id is known or too many are pending."""

    async def change_input(self, change: InputChange) -> bool:
        """Change an input, if it is in the state that the writer expects."""

    async def read_overlapping(self, trigger_id: str) -> Overlapping:
        """Read what a trigger has started that is not closed."""

    async def count_pending(self, trigger_id: str, most: int) -> int:
        """Return how many inputs of a trigger are pending, at most so many."""

    async def find_known(self, trigger_id: str, input_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some ids that are inputs of a trigger."""

    async def find_input(self, trigger_id: str, input_id: str) -> InputRow | None:
        """Find an input."""

    async def list_inputs(self, wanted: InputFilter) -> list[InputRow]:
        """List inputs of a trigger, newest first."""

    async def list_events(self, trigger_id: str, after: int = 0, limit: int = 100) -> list[TriggerEventRow]:
        """List the events of a trigger that come after one, oldest first."""

    async def delete_old(self, now: int, before: int, most: int) -> int:
        """Forget inputs whose time has come, and events from before a moment; inputs that are pending stay."""
