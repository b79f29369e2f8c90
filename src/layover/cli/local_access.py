"""Keys and the audit log of a database. Whoever can write into the database may give any key out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from layover.api.access.keys import made_in_place_of, made_key
from layover.api.cursors import cursor_of, parsed_uuid
from layover.api.permissions import PERMISSIONS
from layover.api.resources.access import NewKey
from layover.api.resources.shared import Page
from layover.api.serializers.access import audit_entry_of, key_of
from layover.bootstrap import inspectable_store
from layover.cli.exits import UNKNOWN, Stop
from layover.cli.local import CREDENTIAL
from layover.cli.passive_engine import PassiveEngine
from layover.core.definitions.durations import parse_duration
from layover.core.moments import moment
from layover.ports.access import AuditFilter
from layover.ports.access import Key as KeyRow
from layover.ports.records import AuditEntry as Entry
from layover.runtime.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from layover.api.resources.access import AuditEntry, Key, KeyBody
    from layover.cli.access import Sought
    from layover.cli.options import Who

_PAGE = 1_000


class LocalAccess:
    """Those of a database, open from `async with` to its end."""

    def __init__(self, db: str, who: Who, *, acts: bool) -> None:
        self._store = inspectable_store(db)
        self._engine = PassiveEngine(self._store, acts=acts)
        self._who = who

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._engine.__aexit__(kind, error, trace)

    async def add(self, body: KeyBody) -> NewKey:
        """Make a key."""
        unknown = [scope for scope in body.scopes or () if scope not in PERMISSIONS]
        if unknown:
            raise Stop(f"--scope: `{unknown[0]}` is no permission; those are {', '.join(sorted(PERMISSIONS))}.")
        lasts = _length(body.expires_in, "--expires-in", least=1) if body.expires_in is not None else None
        scopes = tuple(sorted(set(body.scopes))) if body.scopes is not None else None
        row, shown = made_key(
            self._engine.instance.clock.now(),
            name=body.name,
            user=body.user,
            roles=tuple(body.roles),
            by=self._who.by,
            scopes=scopes,
            lasts=lasts,
        )
        entry = self._entry("key.add", row.id, user=row.user, roles=row.roles, scopes=scopes, expires_at=row.expires_at)
        await self._store.add_key(row, entry)
        return NewKey(id=row.id, key=shown, prefix=row.prefix, expires_at=moment(row.expires_at))

    async def keys(self) -> Sequence[Key]:
        """Return all keys, the oldest first, without the keys themselves."""
        return [key_of(row) for row in await self._rows()]

    async def rotate(self, key_id: str, grace: str | None) -> NewKey:
        """Make a key in the place of another, for the same user and as long as that one."""
        left = _length(grace, "--grace", least=0) if grace is not None else 0
        now = await self._store.now()
        old = next((row for row in await self._rows() if row.id == key_id), None)
        made = made_in_place_of(old, now, self._who.by) if old is not None else None
        if old is None or made is None:
            raise _gone()
        row, shown = made
        entry = self._entry("key.rotate", old.id, by=row.id, user=row.user, ends_at=now + left)
        if not await self._store.replace_key(old.id, row, now + left, entry):
            raise _gone()
        return NewKey(id=row.id, key=shown, prefix=row.prefix, expires_at=moment(row.expires_at))

    async def end(self, key_id: str) -> None:
        """End a key."""
        now = await self._store.now()
        if not await self._store.end_key(key_id, now, self._entry("key.end", key_id)):
            raise _gone()

    async def audit(self, sought: Sought) -> Page[AuditEntry]:
        """Return what was done, newest first."""
        wanted = AuditFilter(
            user=sought.user,
            act=sought.act,
            target=sought.target,
            execution_id=sought.execution_id,
            after=parsed_uuid(sought.cursor) if sought.cursor is not None else None,
            limit=sought.limit + 1,
        )
        rows = await self._store.audit(wanted)
        last = rows[sought.limit - 1] if len(rows) > sought.limit else None
        following = cursor_of(last.at, last.id) if last is not None else None
        return Page(items=[audit_entry_of(row) for row in rows[: sought.limit]], next=following)

    async def _rows(self) -> list[KeyRow]:
        found: list[KeyRow] = []
        page = await self._store.keys("", _PAGE)
        while page:
            found += page
            page = await self._store.keys(page[-1].id, _PAGE)
        return found

    def _entry(self, act: str, target: str, **details: object) -> Entry:
        now = self._engine.instance.clock.now()
        told = {name: value for name, value in details.items() if value is not None}
        return Entry(
            id=new_id(now),
            at=now,
            user=self._who.by,
            act=act,
            target=target,
            credential=CREDENTIAL,
            details=msgspec.json.encode(told),
        )


def _length(text: str, option: str, *, least: int) -> int:
    try:
        length = parse_duration(text)
    except ValueError as error:
        raise Stop(f"{option}: {error}.") from error
    if length < least:
        raise Stop(f"{option}: it has to be longer than nothing.")
    return length


def _gone() -> Stop:
    return Stop("There is no such key, or it has ended.", UNKNOWN, hint="`layover keys ls` lists those that there are.")
