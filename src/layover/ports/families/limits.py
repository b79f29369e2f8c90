"""Limits: which executions may start when only so many may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.limit_records import Admission, AdmissionRequest


class LimitStore(Protocol):
    """Slots and rates, and the queues for them."""

    async def admit(self, request: AdmissionRequest, now: int) -> Admission:
        """Admit an execution if its limits allow it, or give it a place in the queue; asked again, return its place.

        An execution that is admitted gets the command `Admit`. With `cancel_running` those that hold or await slots of
        the same name get `Cancel`. One that is rejected or closed gets no place.
        """

    async def release_slot(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue; return those that are admitted instead.

        An execution that gets the slot need not wait to ask again: its messages to itself are due when it may start.
        """

    async def delete_unused_rates(self, now: int) -> int:
        """Delete the rows of rates that are not used any more; return how many."""

    async def find_admission(self, execution_id: str) -> Admission | None:
        """Return the admission of an execution that has a slot or waits for one."""
