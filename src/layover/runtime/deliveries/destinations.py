"""Finds destinations by name: functions of the program, those of the settings, and those that operators made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from layover.core.definitions.problems import InvalidDefinition
from layover.runtime.deliveries.destination_config import (
    TIMEOUTS,
    KnownDestination,
    inline_destination,
    known_destination,
    stored_destination,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.definitions.destinations import DestinationDefinition
    from layover.nodes.registry import Registry
    from layover.ports.families.deliveries import DeliveryStore
    from layover.runtime.deliveries.parcels import Parcel


class Destinations:
    """The destinations that this instance can send to."""

    def __init__(self, store: DeliveryStore, registry: Registry, settings: Mapping[str, DestinationDefinition]) -> None:
        self._store = store
        self._registry = registry
        self._written = settings
        self._known = {name: known_destination(name, written) for name, written in settings.items()}

    async def find(self, name: str) -> KnownDestination | None:
        """Return a destination; None if there is none of that name, or this release cannot read it."""
        if name in self._registry.notifiers:
            return KnownDestination(name=name, kind="function", timeout=TIMEOUTS["function"])
        if name in self._known:
            return self._known[name]
        row = await self._store.find_destination(name)
        if row is None or not row.config:
            return None
        try:
            return stored_destination(name, row.config)
        except (InvalidDefinition, msgspec.DecodeError, ValueError):
            return None

    async def of(self, name: str, parcel: Parcel) -> KnownDestination | None:
        """Return the destination of a delivery, which may have it in place."""
        if parcel.via is None:
            return await self.find(name)
        try:
            return inline_destination(parcel.via)
        except InvalidDefinition:
            return None

    def managed(self) -> dict[str, dict[str, Any]]:
        """Return the destinations of the settings and the functions of the program, each with its `kind`."""
        found: dict[str, dict[str, Any]] = {
            name: msgspec.to_builtins(written) for name, written in self._written.items()
        }
        return found | {name: {"kind": "function"} for name in self._registry.notifiers}
