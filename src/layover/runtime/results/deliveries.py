"""Deliveries, destinations and people as results.

What a delivery says, and where it goes, are not told: only that it went, or why not. What the other side replied may
quote both, so it is for those who may debug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from layover.core.moments import Moment
from layover.masking import MASK
from layover.model.deliveries import Delivery, DeliveryAttempt, Destination
from layover.model.people import Absence, Person
from layover.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.ports.delivery_records import DeliveryRow, DestinationRow, PersonRow

LONGEST_REPLY: Final = 1_000  # characters
_INLINE: Final = "webhook:"  # how the name of one begins that definitions have in place


class _Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as the history of a delivery has it."""

    at: int
    ms: int = 0
    status: int | None = None
    reply: str = ""
    error: str = ""


class AwayRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An absence as the row of a person has it."""

    until: int
    substitute: str | None = None


class PersonRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the row of a person has beside the name and the roles."""

    addresses: dict[str, str] = {}
    language: str = ""
    zone: str = ""
    away: AwayRecord | None = None
    mute: tuple[str, ...] = ()


def delivery_of(row: DeliveryRow, *, replies: bool = False) -> Delivery:
    """Return a delivery; with `replies`, also what the other side said to its attempts."""
    attempts = msgspec.json.decode(row.history, type=tuple[_Attempt, ...])
    is_pending = row.state == "pending"
    return Delivery(
        id=row.id,
        destination=row.destination,
        kind=row.kind,
        state=row.state,
        reason=row.reason,
        execution_id=row.execution_id,
        workflow=row.workflow or None,
        point_id=row.point or None,
        user=row.user or None,
        created_at=Moment.of(row.created_at),
        due_at=Moment.of(row.due_at) if is_pending else None,
        settled_at=Moment.maybe(row.settled_at),
        attempts=tuple(_attempt_of(one, replies=replies) for one in attempts),
    )


def _attempt_of(attempt: _Attempt, *, replies: bool) -> DeliveryAttempt:
    return DeliveryAttempt(
        at=Moment.of(attempt.at),
        ms=attempt.ms,
        status=attempt.status,
        reply=attempt.reply[:LONGEST_REPLY] if replies else "",
        error=attempt.error,
    )


def destination_of(name: str, row: DestinationRow | None, managed: Mapping[str, Any] | None) -> Destination:
    """Return a destination: one of the settings or a program has its definition there, others in their row."""
    config: Mapping[str, Any] | None = managed
    if config is None and row is not None and row.config:
        config = msgspec.json.decode(row.config)
    found = Destination(
        name=name,
        kind=config["kind"] if config is not None else "webhook" if name.startswith(_INLINE) else None,
        managed=managed is not None or row is None or not row.config,
        definition=shown_definition(config) if config is not None else {},
    )
    if row is None:
        return found
    return replace(
        found,
        state=row.state,
        reason=row.reason,
        failures=row.failures,
        open_until=Moment.maybe(row.open_until),
    )


def shown_definition(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a destination as it is shown: without the address of a chat, the query of others, and header values."""
    shown = dict(config)
    address = shown.get("address")
    if isinstance(address, str):
        shown["address"] = MASK if shown.get("kind") == "chat" else _shown_address(address)
    if isinstance(shown.get("headers"), dict):
        shown["headers"] = {name: MASK if isinstance(one, str) else one for name, one in shown["headers"].items()}
    return shown


def _shown_address(address: str) -> str:
    parts = urlsplit(address)
    return redact(parts._replace(query=MASK if parts.query else "", fragment="").geturl())


def person_of(row: PersonRow) -> Person:
    """Return a person."""
    record = msgspec.json.decode(row.body, type=PersonRecord)
    away = record.away
    return Person(
        user=row.user,
        roles=row.roles,
        addresses=record.addresses,
        language=record.language,
        zone=record.zone,
        away=Absence(until=Moment.of(away.until), substitute=away.substitute) if away is not None else None,
        mute=record.mute,
    )
