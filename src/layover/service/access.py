"""Who acts, what was done, and API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from layover.core.moments import Moment
from layover.core.secret_names import is_secret_name
from layover.errors import InvalidInput, NotAllowed, NotFound
from layover.model.access import Caller, NewApiKey
from layover.model.name_rules import fault_in_name
from layover.model.shared import Page
from layover.ports.access import AuditFilter as StoredFilter
from layover.runtime.ids import checked_id
from layover.runtime.queries.secrets import declared_secrets, secret_status
from layover.runtime.results.access import audit_entry_of, key_of
from layover.service.api_keys import made_in_place_of, made_key
from layover.service.cursors import cursor_of, malformed_cursor, parsed_uuid
from layover.service.pages import MOST
from layover.service.permissions import PERMISSIONS, permissions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.interface.backend import AuditSearch
    from layover.model.access import ApiKey, AuditEntry, SecretStatus
    from layover.ports.access import Key
    from layover.service.actor import Actor


_LONGEST_NAME: Final = 255


class AccessService:
    """Users, audit and API keys; `forget` is told of each key that has ended, and whether at once."""

    __slots__ = ("_actor", "_forget")

    def __init__(self, actor: Actor, forget: Callable[[str, bool], None] | None = None) -> None:
        self._actor = actor
        self._forget = forget

    async def me(self) -> Caller:
        """Return the user who acts."""
        return self._actor.caller

    async def audit(self, wanted: AuditSearch, limit: int, cursor: str | None) -> Page[AuditEntry]:
        """Return a page of what was done, the newest first."""
        self._actor.require("audit:read")
        most = min(limit, MOST)
        stored = StoredFilter(
            user=wanted.user,
            act=wanted.act,
            target=wanted.target,
            execution_id=checked_id(wanted.execution_id) if wanted.execution_id is not None else None,
            after=parsed_uuid(cursor) if cursor is not None else None,
            limit=most + 1,
        )
        rows = await self._actor.runtime.instance.store.audit.list_entries(stored)
        following = cursor_of(rows[most - 1].at, rows[most - 1].id) if len(rows) > most else None
        return Page(items=tuple(audit_entry_of(row) for row in rows[:most]), next=following)

    async def api_keys(self, limit: int, cursor: str | None) -> Page[ApiKey]:
        """Return a page of API keys, the oldest first, also those that have ended; never the keys themselves."""
        self._actor.require("admin")
        most = min(limit, MOST)
        after = parsed_uuid(cursor)[1] if cursor is not None else ""
        rows = await self._actor.runtime.instance.store.api_keys.list_keys(after, most + 1)
        following = cursor_of(rows[most - 1].created_at, rows[most - 1].id) if len(rows) > most else None
        return Page(items=tuple(key_of(row) for row in rows[:most]), next=following)

    async def create_api_key(
        self, name: str, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> NewApiKey:
        """Create an API key, which is shown this once."""
        actor = self._actor
        actor.require("admin")
        _check_names(name, user, roles)
        _check_scopes(scopes)
        _check_length("expires_in", expires_in, 1)
        row, shown = made_key(
            actor.runtime.instance.clock.now(),
            name=name,
            user=user,
            roles=tuple(roles),
            by=actor.caller.user,
            scopes=None if scopes is None else tuple(sorted(set(scopes))),
            lasts=expires_in,
        )
        self._check_gift(row)
        entry = actor.entry_of_any(
            "key.add", row.id, user=row.user, roles=row.roles, scopes=row.scopes, expires_at=row.expires_at
        )
        await actor.runtime.instance.store.api_keys.add(row, entry)
        return _new_key_of(row, shown)

    async def rotate_api_key(self, key_id: str, grace: int | None) -> NewApiKey:
        """Create an API key for the same user in the place of another, which ends after `grace`."""
        actor = self._actor
        actor.require("admin")
        now, left = actor.runtime.instance.clock.now(), grace or 0
        old = await self._find_key(key_id)
        made = made_in_place_of(old, now, actor.caller.user)
        if made is None:
            raise _gone()
        row, shown = made
        self._check_gift(row)
        entry = actor.entry_of_any("key.rotate", old.id, by=row.id, user=row.user, ends_at=now + left)
        is_replaced = await actor.runtime.instance.store.api_keys.replace(old.id, row, now + left, entry)
        self._end(old.id, at_once=not left)
        if not is_replaced:
            raise _gone()
        return _new_key_of(row, shown)

    async def delete_api_key(self, key_id: str) -> None:
        """End an API key at once."""
        actor = self._actor
        actor.require("admin")
        row = await self._find_key(key_id)
        entry = actor.entry_of_any("key.end", row.id, user=row.user)
        is_ended = await actor.runtime.instance.store.api_keys.end(row.id, actor.runtime.instance.clock.now(), entry)
        self._end(row.id, at_once=True)
        if not is_ended:
            raise _gone()

    async def secrets(self, limit: int, cursor: str | None) -> Page[SecretStatus]:
        """Return a page of the secrets that workflows declare, by name; never values."""
        self._actor.require("admin")
        if cursor is not None and not is_secret_name(cursor):
            raise malformed_cursor()
        instance, most = self._actor.runtime.instance, min(limit, MOST)
        declared = await declared_secrets(instance)
        names = [name for name in declared if cursor is None or name > cursor]
        items = tuple([await secret_status(instance, name, declared[name]) for name in names[:most]])
        return Page(items=items, next=items[-1].name if len(names) > most else None)

    def _end(self, key_id: str, *, at_once: bool) -> None:
        if self._forget is not None:
            self._forget(key_id, at_once)

    def _check_gift(self, row: Key) -> None:
        """Refuse a key that permits more than its maker may."""
        more = permissions_of(row.roles, row.scopes) - set(self._actor.caller.permissions)
        if more:
            raise NotAllowed(f"A key cannot permit more than its maker may: {', '.join(sorted(more))}.")

    async def _find_key(self, key_id: str) -> Key:
        """Return the key with an id: the first one after the id before it."""
        try:
            id_ = checked_id(key_id)
        except InvalidInput as error:
            raise _gone() from error
        before = str(UUID(int=max(UUID(id_).int - 1, 0)))
        rows = await self._actor.runtime.instance.store.api_keys.list_keys(before, 1)
        if not rows or rows[0].id != id_:
            raise _gone()
        return rows[0]


def _gone() -> NotFound:
    return NotFound("There is no such key, or it has ended.", code="unknown_key")


def _check_names(name: str, user: str, roles: Sequence[str]) -> None:
    for what, names in (("name", (name,)), ("user", (user,)), ("roles", roles)):
        for one in names:
            fault = fault_in_name(one) if 0 < len(one) <= _LONGEST_NAME else f"it has 1 to {_LONGEST_NAME} characters"
            if fault is not None:
                raise InvalidInput(f"`{what}`: {fault}.", ((what, fault),), code="invalid_body")


def _check_scopes(scopes: Sequence[str] | None) -> None:
    allowed = ", ".join(sorted(PERMISSIONS))
    errors = tuple(
        (f"scopes[{n}]", f"`{name[:100]}` is not a permission; those are {allowed}")
        for n, name in enumerate(scopes or ())
        if name not in PERMISSIONS
    )
    if errors:
        raise InvalidInput(f"`{errors[0][0]}`: {errors[0][1]}.", errors, code="invalid_body")


def _check_length(name: str, length: int | None, least: int) -> None:
    if length is not None and length < least:
        fault = "it has to be longer than nothing"
        raise InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_body")


def _new_key_of(row: Key, key: str) -> NewApiKey:
    return NewApiKey(id=row.id, key=key, prefix=row.prefix, expires_at=Moment.maybe(row.expires_at))
