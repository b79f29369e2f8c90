"""Who shows which credentials: the admin key of the server, a key that was made here, or a JWT."""

from __future__ import annotations

import hmac
from time import monotonic
from typing import TYPE_CHECKING, Final

from layover.api.access.config import AccessSettings
from layover.api.access.recent import RecentKeys
from layover.api.problems import Refusal
from layover.service.api_keys import has_form_of_key, hash_of, key_credential
from layover.service.permissions import caller_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.api.access.config import JwtSettings
    from layover.api.access.tokens import Tokens
    from layover.model.access import Caller
    from layover.ports.access import Key
    from layover.runtime.runtime import Runtime

_LONGEST: Final = 10_000
_ADMIN: Final = caller_of("admin", ("admin",), "admin key")


class KeysAndTokens:
    """Knows callers by keys and by tokens, which are told apart by their form."""

    def __init__(
        self, runtime: Runtime, access: AccessSettings | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        access = access or AccessSettings()
        self._runtime = runtime
        self._admin_hash = hash_of(access.admin_key) if access.admin_key else None
        self._tokens = _tokens(access.jwt)
        self._recent = RecentKeys(self._read, clock)

    async def caller_of(self, headers: Mapping[str, str]) -> Caller | None:
        """Return who shows these credentials."""
        given = _credentials(headers)
        if given is None:
            return None
        caller = await self._caller_of(given)
        if caller is None:
            raise _not_valid()
        return caller

    def forget(self, key_id: str) -> None:
        """Let a key that was ended in no more."""
        self._recent.forget(key_id)

    async def _read(self, hash_: bytes) -> Key | None:
        return await self._runtime.instance.store.api_keys.find_by_hash(hash_)

    async def _caller_of(self, given: str) -> Caller | None:
        found = hash_of(given)
        if self._admin_hash is not None and hmac.compare_digest(found, self._admin_hash):
            return _ADMIN
        now = self._runtime.instance.clock.now()
        if has_form_of_key(given):
            key = await self._recent.key(found)
            if key is None or _is_over(key.ended_at, now) or _is_over(key.expires_at, now):
                return None
            return caller_of(key.user, key.roles, key_credential(key.id), key.scopes)
        return await self._tokens.caller_of(given, now) if self._tokens is not None else None


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


def _is_over(moment: int | None, now: int) -> bool:
    return moment is not None and moment <= now


def _not_valid() -> Refusal:
    headers = {"www-authenticate": 'Bearer error="invalid_token"'}
    return Refusal("unauthenticated", "These credentials are not valid.", headers=headers)
