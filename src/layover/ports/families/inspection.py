"""Inspection: what is wrong with a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.view_records import Fault


class InspectionStore(Protocol):
    """Looks for faults."""

    async def list_faults(self) -> list[Fault]:
        """Return what is wrong and cannot be seen through any other family."""
