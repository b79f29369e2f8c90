"""Who shows which credentials: the admin key of the server, a key that was made here, or a JWT."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from layover.api.access.keys import hash_of
from layover.api.permissions import Caller, permissions_of
from layover.api.problems import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.runtime.engine import Engine

_LONGEST = 10_000


class KeyGuard:
    """Knows callers by their keys."""

    def __init__(self, engine: Engine, admin_key: str | None = None) -> None:
        self._engine = engine
        self._admin_hash = hash_of(admin_key) if admin_key else None

    async def caller_of(self, headers: Mapping[str, str]) -> Caller | None:
        """Return who shows these credentials."""
        given = _credentials(headers)
        if given is None:
            return None
        found = hash_of(given)
        if self._admin_hash is not None and hmac.compare_digest(found, self._admin_hash):
            return Caller(
                user="admin", roles=("admin",), permissions=permissions_of(("admin",)), credential="admin key"
            )
        instance = self._engine.instance
        key = await instance.store.key(found)
        now = instance.clock.now()
        if key is None or _is_over(key.ended_at, now) or _is_over(key.expires_at, now):
            raise _not_valid()
        permissions = permissions_of(key.roles, key.scopes)
        return Caller(user=key.user, roles=key.roles, permissions=permissions, credential=f"key {key.id}")


def _credentials(headers: Mapping[str, str]) -> str | None:
    """Return what a caller shows; two different things at once are none."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    key = headers.get("x-api-key", "")
    if not scheme and not key:
        return None
    if (scheme and scheme.lower() != "bearer") or (bearer and key) or len(bearer or key) > _LONGEST:
        raise _not_valid()
    return bearer.strip() or key


def _is_over(moment: int | None, now: int) -> bool:
    return moment is not None and moment <= now


def _not_valid() -> Refusal:
    headers = {"www-authenticate": 'Bearer error="invalid_token"'}
    return Refusal("unauthenticated", "These credentials are not valid.", headers=headers)
