"""People: the table of the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.ports.delivery_records import PersonRow
from layover.stores.checks import at_most, check_texts
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import AuditRow
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession

_ROLES = msgspec.json.Decoder(tuple[str, ...])


class SqlitePeople:
    """People of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def find_people(self, users: Sequence[str], roles: Sequence[str]) -> list[PersonRow]:
        """Find people by name or role."""
        return await self._session.read(lambda db: find_people(db, users, roles))

    async def list_people(self, after: str = "", limit: int = 100) -> list[PersonRow]:
        """List people by name."""
        values = {"after": after, "limit": at_most(limit)}
        return await self._session.read(lambda db: [person_of(row) for row in db.execute(SQL["list_people"], values)])

    async def save_person(self, row: PersonRow, audit: AuditRow | None = None) -> None:
        """Create or replace a person."""
        check_texts(row.user, *row.roles)

        def save(db: apsw.Connection) -> None:
            write_person(db, row)
            write_audit(db, audit)

        await self._session.write(save)

    async def delete_person(self, user: str, audit: AuditRow | None = None) -> bool:
        """Delete a person."""

        def delete(db: apsw.Connection) -> bool:
            db.execute(SQL["delete_person"], {"user": user})
            if db.changes() != 1:
                return False
            db.execute(SQL["delete_roles_of_person"], {"user": user})
            write_audit(db, audit)
            return True

        return await self._session.write(delete)


def find_people(db: apsw.Connection, users: Sequence[str], roles: Sequence[str]) -> list[PersonRow]:
    """Find people by name or role; each once, by name."""
    names = set(users)
    for role in roles:
        names.update(user for (user,) in db.execute(SQL["people_of_role"], {"role": role}))
    found = [person_of(row) for row in db.execute(SQL["people_by_name"], {"users": _encoded(sorted(names))})]
    return sorted(found, key=lambda row: row.user)


def write_person(db: apsw.Connection, row: PersonRow) -> None:
    """Create or replace a person, with the roles by which they are found."""
    values = {"user": row.user, "roles": _encoded(row.roles), "body": row.body, "changed_at": row.changed_at}
    db.execute(SQL["save_people"], values)
    db.execute(SQL["delete_roles_of_person"], {"user": row.user})
    db.executemany(SQL["insert_roles_of_people"], [{"role": role, "user": row.user} for role in row.roles])


def person_of(row: Row) -> PersonRow:
    """Return a person."""
    user, roles, body, changed_at = row
    return PersonRow(user=user, roles=_ROLES.decode(roles), body=body, changed_at=changed_at)


def _encoded(texts: Sequence[str]) -> str:
    return msgspec.json.encode(list(texts)).decode()
