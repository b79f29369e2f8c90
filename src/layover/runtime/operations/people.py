"""The table of the directory: people, how they can be reached, and when they are away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.calendar import zone_named
from layover.core.definitions.instants import parse_instant
from layover.errors import InvalidInput, NotFound
from layover.model.name_rules import fault_in_name
from layover.ports.delivery_records import PersonRow
from layover.runtime.results.deliveries import AwayRecord, PersonRecord, person_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from layover.model.people import AbsenceBody, Person, PersonBody
    from layover.ports.directory import Directory
    from layover.ports.records import AuditRow
    from layover.runtime.instance import Instance

# One address alone, without a name, and with nothing that would end a header.
_MAIL: Final = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[^\s@<>,;:\"()\[\]\\/\x00-\x1f\x7f]{1,190}")


class PeopleTable:
    """Reads the directory, and keeps its table."""

    def __init__(self, instance: Instance, directory: Directory) -> None:
        self._instance = instance
        self._directory = directory

    async def list(self, after: str, limit: int) -> list[Person]:
        """Return the people in the table by name, beginning after one."""
        return [person_of(row) for row in await self._instance.store.people.list_people(after, limit)]

    async def find(self, user: str) -> Person:
        """Return a person; NotFound if no part of the directory knows them."""
        found = await self._directory.people([user], [])
        for one in found:
            if one.user == user:
                return one
        raise _unknown(user)

    async def save(self, user: str, body: PersonBody, audit: AuditRow | None) -> Person:
        """Create or replace a person in the table."""
        row = self.row(user, body)
        await self._instance.store.people.save_person(row, audit)
        return person_of(row)

    def row(self, user: str, body: PersonBody) -> PersonRow:
        """Return a person as the table keeps them; what is not as it should be is refused."""
        return PersonRow(
            user=_checked_name("user", user),
            roles=tuple(dict.fromkeys(_checked_name("roles", role) for role in body.roles)),
            body=msgspec.json.encode(_record(body)),
            changed_at=self._instance.clock.now(),
        )

    async def delete(self, user: str, audit: AuditRow | None) -> None:
        """Delete a person from the table."""
        if not await self._instance.store.people.delete_person(user, audit):
            raise _unknown(user)


def _record(body: PersonBody) -> PersonRecord:
    for kind, address in body.addresses.items():
        _checked_name("addresses", kind)
        if kind == "mail" and not _MAIL.fullmatch(address):
            raise _invalid("addresses.mail", "it is one address, such as `ada@example.com`")
        if not address or not address.isprintable():
            raise _invalid("addresses", f"`{kind}` is a text without control characters")
    zone = _zone(body.zone)
    return PersonRecord(
        addresses=body.addresses,
        language=_checked_name("language", body.language) if body.language else "",
        zone=body.zone,
        away=_away(body.away, zone) if body.away is not None else None,
        mute=tuple(dict.fromkeys(body.mute)),
    )


def _zone(name: str) -> tzinfo:
    try:
        return zone_named(name or "UTC")
    except ValueError as error:
        raise _invalid("zone", "it is a time zone such as `Europe/Berlin`") from error


def _away(body: AbsenceBody, zone: tzinfo) -> AwayRecord:
    try:
        until = parse_instant(body.until, zone)
    except ValueError as error:
        raise _invalid("away.until", "it is a date or a time such as `2027-01-31T08:00`") from error
    substitute = _checked_name("away.substitute", body.substitute) if body.substitute is not None else None
    return AwayRecord(until=until, substitute=substitute)


def _checked_name(path: str, name: str) -> str:
    fault = fault_in_name(name) if name else "it is empty"
    if fault is not None:
        raise _invalid(path, fault)
    return name


def _invalid(path: str, fault: str) -> InvalidInput:
    return InvalidInput(f"`{path}`: {fault}.", ((path, fault),), code="invalid_body")


def _unknown(user: str) -> NotFound:
    return NotFound(f"The directory has no `{user[:100]}`.", code="unknown_person")
