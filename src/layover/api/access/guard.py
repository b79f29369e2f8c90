"""Who shows which credentials: the admin key of the server, a key that was made here, or a JWT.

The cookie of a session is another credential (`sessions.py`), which these open.
"""

from __future__ import annotations

import hmac
from time import monotonic
from typing import TYPE_CHECKING, Final

from layover.api.access.config import AccessSettings
from layover.api.access.identity import Identity
from layover.api.access.recent import RecentlyUsed
from layover.api.problems import Refusal
from layover.service.api_keys import ADMIN_KEY, has_form_of_key, hash_of, key_credential
from layover.service.permissions import caller_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.api.access.config import JwtSettings
    from layover.api.access.tokens import Tokens
    from layover.model.access import Caller
    from layover.ports.access import Key
    from layover.runtime.runtime import Runtime

_LONGEST: Final = 10_000
_ADMIN: Final = Identity(caller=caller_of("admin", ("admin",), ADMIN_KEY))


class KeysAndTokens:
    """Knows callers by keys and by tokens, which are told apart by their form."""

    def __init__(
        self, runtime: Runtime, access: AccessSettings | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        access = access or AccessSettings()
        self._runtime = runtime
        self._admin_hash = hash_of(access.admin_key) if access.admin_key else None
        self._tokens = _tokens(access.jwt)
        self._recent = RecentlyUsed[Identity](self._read, clock)

    async def caller_of(self, headers: Mapping[str, str]) -> Caller | None:
        """Return who shows these credentials."""
        given = _credentials(headers)
        if given is None:
            return None
        identity = await self.identify(given)
        if identity is None:
            raise _not_valid()
        return identity.caller

    def forget(self, key_id: str) -> None:
        """Let a key that was ended in no more."""
        self._recent.forget(lambda identity: identity.key_id == key_id)

    async def _read(self, hash_: bytes) -> Identity | None:
        key = await self._runtime.instance.store.api_keys.find_by_hash(hash_)
        if key is None:
            return None
        caller = caller_of(key.user, key.roles, key_credential(key.id), key.scopes)
        return Identity(caller=caller, scopes=key.scopes, key_id=key.id, expires_at=_first(key))

    async def identify(self, given: str) -> Identity | None:
        """Return whose credential this is, and how long it lasts; None if it is not valid."""
        if len(given) > _LONGEST:
            return None
        found = hash_of(given)
        if self._admin_hash is not None and hmac.compare_digest(found, self._admin_hash):
            return _ADMIN
        now = self._runtime.instance.clock.now()
        if has_form_of_key(given):
            identity = await self._recent.find(found)
            is_over = identity is None or (identity.expires_at is not None and identity.expires_at <= now)
            return None if is_over else identity
        return await self._tokens.identify(given, now) if self._tokens is not None else None


def _tokens(settings: JwtSettings | None) -> Tokens | None:
    """Return the verifier of tokens; a server that takes none needs no library for them."""
    if settings is None:
        return None
    from layover.api.access.tokens import Tokens  # noqa: PLC0415 - only who takes tokens loads it

    return Tokens(settings)


def _credentials(headers: Mapping[str, str]) -> str | None:
    """Return what a caller shows; two different things at once are none."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    key = headers.get("x-api-key", "")
    if not scheme and not key:
        return None
    if (scheme and scheme.lower() != "bearer") or (scheme and key) or len(bearer or key) > _LONGEST:
        raise _not_valid()
    return bearer.strip() or key


def _first(key: Key) -> int | None:
    """Return when a key ends, if it does."""
    return min((end for end in (key.expires_at, key.ended_at) if end is not None), default=None)


def _not_valid() -> Refusal:
    headers = {"www-authenticate": 'Bearer error="invalid_token"'}
    return Refusal("unauthenticated", "These credentials are not valid.", headers=headers)
