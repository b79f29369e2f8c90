"""Functions of the program as destinations: called at least once, with the same notification at every attempt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from layover.core.moments import Moment
from layover.model.deliveries import Notification
from layover.redaction import redact
from layover.runtime.deliveries.outcomes import LONGEST_REPLY, SendOutcome, failed
from layover.runtime.deliveries.webhook_wire import point_fields
from layover.runtime.triggers.source_calls import SourceFailed

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.runtime.deliveries.shipments import Shipment
    from layover.runtime.triggers.source_calls import SourceCalls


class FunctionWire:
    """Calls notifiers."""

    def __init__(self, registry: Registry, calls: SourceCalls) -> None:
        self._registry = registry
        self._calls = calls

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Call the function; whatever it raises makes the attempt fail."""
        notifier = self._registry.notifiers.get(shipment.destination.name)
        if notifier is None:  # it is called where it is
            error = f"This instance has no notifier `{shipment.destination.name}`."
            return failed("unknown_destination", error, health="unknown")
        tell = partial(notifier.tell, notification_of(shipment))
        try:
            await self._calls.call(notifier.function, tell, shipment.destination.timeout)
        except SourceFailed as error:
            return failed("notifier_failed", redact(error.message, LONGEST_REPLY))
        return SendOutcome(verdict="sent", health="good")


def notification_of(shipment: Shipment) -> Notification:
    """Return what a function gets."""
    parcel = shipment.parcel
    return Notification(
        id=shipment.id,
        kind=parcel.kind,
        at=Moment.of(parcel.at),
        attempt=shipment.attempt,
        workflow=parcel.workflow or None,
        execution_id=parcel.execution_id,
        point=point_fields(parcel.point) if parcel.point is not None else None,
        people=parcel.people,
        subject=parcel.subject,
        text=parcel.text,
        data=parcel.data,
    )
