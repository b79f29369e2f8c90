"""Who acts, what was done, and API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from layover.core.moments import Moment
from layover.core.secret_names import is_secret_name
from layover.errors import InvalidInput, NotAllowed, NotFound
from layover.model.access import Caller, NewApiKey, SignInLink
from layover.model.name_rules import fault_in_name
from layover.model.shared import Page
from layover.ports.access import AuditFilter as StoredFilter
from layover.ports.access import Key
from layover.runtime.ids import checked_id
from layover.runtime.queries.secrets import declared_secrets, secret_status
from layover.runtime.results.access import audit_entry_of, key_of, session_of
from layover.service.api_keys import made_in_place_of, made_key
from layover.service.cursors import cursor_of, malformed_cursor, parsed_uuid
from layover.service.pages import MOST
from layover.service.permissions import PERMISSIONS, permissions_of
from layover.service.proofs import audit_keys
from layover.service.sessions import LONGEST_LINK, MOST_LINKS, link_address, made_link

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.interface.requests import AuditSearch
    from layover.model.access import ApiKey, AuditEntry, OpenSession, SecretStatus
    from layover.model.proofs import AuditKeySet
    from layover.ports.access import SessionRow
    from layover.service.actor import Actor


_LONGEST_NAME: Final = 255


class AccessService:
    """Users, audit, API keys and sessions.

    `forget` gets each key that has ended, and whether at once; `forget_session` gets each session that has ended.
    """

    __slots__ = ("_actor", "_forget", "_forget_session")

    def __init__(
        self,
        actor: Actor,
        forget: Callable[[str, bool], None] | None = None,
        forget_session: Callable[[str], None] | None = None,
    ) -> None:
        self._actor = actor
        self._forget = forget
        self._forget_session = forget_session

    async def me(self) -> Caller:
        """Return the user who acts."""
        return self._actor.caller

    async def audit_keys(self) -> AuditKeySet:
        """Return the public keys of seals and receipts: everyone may have them."""
        return await audit_keys(self._actor)

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

    async def create_sign_in_link(
        self, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> SignInLink:
        """Create a link that signs one browser in, once; it is shown this once."""
        actor = self._actor
        actor.require("admin")
        _check_names("link", user, roles)
        _check_scopes(scopes)
        _check_length("expires_in", expires_in, 1)
        if expires_in is not None and expires_in > LONGEST_LINK:
            fault = "a sign-in link works for a day at most"
            raise InvalidInput(f"`expires_in`: {fault}.", (("expires_in", fault),), code="invalid_body")
        instance = actor.runtime.instance
        row, token = made_link(
            instance.clock.now(),
            user=user,
            roles=tuple(roles),
            scopes=None if scopes is None else tuple(sorted(set(scopes))),
            lasts=expires_in,
        )
        self._check_gift(row)
        entry = actor.entry_of_any(
            "session.link", row.id, user=row.user, roles=row.roles, scopes=row.scopes, expires_at=row.expires_at
        )
        await instance.store.sessions.open_session(row, MOST_LINKS, entry)
        url = link_address(instance.settings.public_url, token)
        return SignInLink(id=row.id, url=url, user=row.user, expires_at=Moment.of(row.expires_at))

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

    async def sessions(self, user: str | None, limit: int, cursor: str | None) -> Page[OpenSession]:
        """Return a page of the sessions that have not ended, the oldest first: all, or those of one user.

        A caller without the permission `admin` gets their own.
        """
        actor = self._actor
        whose = self._whose_sessions(user)
        most = min(limit, MOST)
        after = parsed_uuid(cursor)[1] if cursor is not None else ""
        rows = await self._open_sessions(whose, after, most + 1)
        following = cursor_of(rows[most - 1].created_at, rows[most - 1].id) if len(rows) > most else None
        return Page(items=tuple(session_of(row, actor.caller) for row in rows[:most]), next=following)

    async def end_session(self, session_id: str) -> None:
        """End a session at once: one of one's own, or with the permission `admin` any."""
        actor = self._actor
        try:
            id_ = checked_id(session_id)
        except InvalidInput as error:
            raise _no_session() from error
        just_before = str(
            UUID(int=max(UUID(id_).int - 1, 0))
        )  # they are listed by id: the next one is this one, or it has ended
        rows = await self._open_sessions(self._whose_sessions(None), just_before, 1)
        if not rows or rows[0].id != id_:
            raise _no_session()
        entry = actor.entry_of_any("session.end", id_, user=rows[0].user)
        is_ended = await actor.runtime.instance.store.sessions.end_session(rows[0].hash, entry)
        if self._forget_session is not None:
            self._forget_session(id_)
        if not is_ended:
            raise _no_session()

    def _whose_sessions(self, user: str | None) -> str | None:
        """Return whose sessions a caller gets, None for everybody's; refuse those of others without `admin`."""
        caller = self._actor.caller
        if caller.may(("admin",)):
            return user
        if user is not None and user != caller.user:
            self._actor.require("admin")
        if not caller.user:
            raise NotAllowed("Only a user has sessions.")
        return caller.user

    async def _open_sessions(self, user: str | None, after: str, limit: int) -> list[SessionRow]:
        instance = self._actor.runtime.instance
        now = instance.clock.now()
        if user is None:
            return await instance.store.sessions.list_open_sessions(now, after, limit)
        return await instance.store.sessions.list_sessions_of_user(user, now, after, limit)

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

    def _check_gift(self, row: Key | SessionRow) -> None:
        """Refuse a key, or a link, that permits more than its maker may."""
        more = permissions_of(row.roles, row.scopes) - set(self._actor.caller.permissions)
        if more:
            what = "A key" if isinstance(row, Key) else "A sign-in link"
            raise NotAllowed(f"{what} cannot permit more than its maker may: {', '.join(sorted(more))}.")

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


def _no_session() -> NotFound:
    return NotFound("There is no such session, or it has ended.", code="unknown_session")


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
