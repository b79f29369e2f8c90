"""What the door needs of a backend for triggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.model.executions import Why
    from layover.model.shared import Page
    from layover.model.triggers import (
        Backfilled,
        Fired,
        Replayed,
        Trigger,
        TriggerEvent,
        TriggerInput,
        TriggerOccurrences,
    )


class TriggersBackend(Protocol):
    """What starts executions by itself."""

    async def list(self, workflow: str | None, limit: int, cursor: str | None) -> Page[Trigger]:
        """Return a page of triggers by workflow and name."""

    async def get(self, trigger_id: str) -> Trigger:
        """Return a trigger."""

    async def inputs(self, trigger_id: str, state: str | None, limit: int, cursor: str | None) -> Page[TriggerInput]:
        """Return a page of the inputs of a trigger, the newest first."""

    async def history(self, trigger_id: str, limit: int, cursor: str | None) -> Page[TriggerEvent]:
        """Return a page of the log of a trigger, the oldest first."""

    async def next(self, trigger_id: str, count: int) -> TriggerOccurrences:
        """Return the next occurrences of a schedule."""

    async def why(self, trigger_id: str) -> Why:
        """Return why a trigger does not fire, or when it will."""

    async def pause(self, trigger_id: str, reason: str, idempotency_key: str | None) -> Trigger:
        """Let a trigger start nothing."""

    async def resume(self, trigger_id: str, *, catch_up: bool, idempotency_key: str | None) -> Trigger:
        """Let a trigger go on."""

    async def fire(self, trigger_id: str, data: object, input_id: str | None, *, dry_run: bool) -> Fired:
        """Give a trigger an input by hand."""

    async def rewind(self, trigger_id: str, cursor: str | None, idempotency_key: str | None) -> Trigger:
        """Set the cursor of a poll; None is the beginning."""

    async def backfill(
        self, trigger_id: str, begin: str, end: str, *, again: bool, dry_run: bool, idempotency_key: str | None
    ) -> Backfilled:
        """Start the occurrences of a schedule in a range of the past."""

    async def replay(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Try a rejected input once more."""

    async def replay_all(self, trigger_id: str, limit: int, cursor: str | None) -> Replayed:
        """Try rejected inputs once more, the newest first."""

    async def create(
        self, workflow: str, definition: Mapping[str, object], idempotency_key: str | None, *, allow_unknown: bool
    ) -> Trigger:
        """Make a trigger for a workflow."""

    async def update(self, trigger_id: str, definition: Mapping[str, object], *, allow_unknown: bool) -> Trigger:
        """Replace a trigger that belongs to no definition."""

    async def delete(self, trigger_id: str) -> None:
        """Stop a trigger that belongs to no definition."""

    async def rotate_token(self, trigger_id: str, grace: int | None) -> Trigger:
        """Make a new token for the address of a webhook; the tokens before end after `grace`."""

    async def discard(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Have an input never start."""
