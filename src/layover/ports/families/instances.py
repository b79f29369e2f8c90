"""Instances: the engines that have a database open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.records import Liveness


class InstanceStore(Protocol):
    """What is known of other instances."""

    async def check_liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive."""

    async def list_others(self) -> list[str]:
        """Return the other instances that are alive, as far as a store can tell, and drive executions."""
