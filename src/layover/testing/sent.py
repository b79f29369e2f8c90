"""What a test sends to people and systems: nothing leaves the machine, and destinations fail as the test says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from layover.core.moments import Moment
from layover.runtime.deliveries.function_wire import notification_of
from layover.runtime.deliveries.outcomes import SendOutcome, failed, hopeless

if TYPE_CHECKING:
    from layover.runtime.deliveries.shipments import DeliveryWire, Shipment


class SentMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a receiver got; `times` says how often it came under its id, as after a crash."""

    id: str
    destination: str
    kind: str
    at: Moment  # when it was sent, in the time of the test
    attempt: int
    times: int = 1
    to: str = ""  # the address of mail
    user: str = ""  # the addressee, if a person is
    workflow: str | None = None
    execution_id: str | None = None
    point: dict[str, Any] | None = None
    people: tuple[str, ...] = ()
    subject: str = ""
    text: str = ""
    data: dict[str, Any] = {}


class Receivers:
    """All receivers of a test: what they got, and which of them refuse."""

    def __init__(self) -> None:
        self._sent: dict[str, SentMessage] = {}
        self._refusing: dict[str, int | None] = {}  # how often more; None for always

    @property
    def sent(self) -> list[SentMessage]:
        """What they got, in the order in which it came first."""
        return [*self._sent.values()]

    def refuse(self, destination: str, times: int | None) -> None:
        """Have a destination refuse what comes next, so often or from now on."""
        self._refusing[destination] = times

    def refuses(self, destination: str) -> bool:
        """Return whether a destination refuses what comes now, and count it."""
        left = self._refusing.get(destination, 0)
        if left is None or left <= 0:
            return left is None
        self._refusing[destination] = left - 1
        return True

    def take(self, message: SentMessage) -> None:
        """Take a message; under a known id it is the same one again."""
        known = self._sent.get(message.id)
        self._sent[message.id] = message if known is None else replace(known, times=known.times + 1)


class ReceivedWire:
    """The wire of an engine in a test: functions of the program are called, all else is only taken."""

    def __init__(self, receivers: Receivers) -> None:
        self._receivers = receivers
        self.functions: DeliveryWire | None = None  # that of the engine, once it is open

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Give a shipment to its receiver, or have it refused."""
        if shipment.destination.kind == "mail" and not shipment.address:
            return hopeless("no_address", "The directory has no mail address of the addressee.")
        if self._receivers.refuses(shipment.destination.name):
            return failed("refused", "The test refuses it.")
        outcome = SendOutcome(verdict="sent", health="good")
        if shipment.destination.kind == "function" and self.functions is not None:
            outcome = await self.functions.send(shipment)
        if outcome.verdict == "sent":
            self._receivers.take(_message_of(shipment))
        return outcome


def _message_of(shipment: Shipment) -> SentMessage:
    told = notification_of(shipment)
    return SentMessage(
        id=told.id,
        destination=shipment.destination.name,
        kind=told.kind,
        at=Moment.of(shipment.at),
        attempt=told.attempt,
        to=shipment.address,
        user=shipment.user,
        workflow=told.workflow,
        execution_id=told.execution_id,
        point=told.point,
        people=told.people,
        subject=told.subject,
        text=told.text,
        data=told.data,
    )
