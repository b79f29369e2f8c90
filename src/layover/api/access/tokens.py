"""Tokens (JWT) of an issuer elsewhere: the identity of a caller, signed in the one way that was set.

The way of signing is never taken from the token itself: what is signed with a shared secret is no token where public
keys are expected, and the other way round. A token says when it ends, and who it is about (`sub`); its `roles` are the
caller's. Clocks may differ by a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import jwt
import msgspec
from msgspec import Meta

from layover.api.access.identity import Identity
from layover.api.access.jwks import SigningKeys
from layover.model.name_rules import fault_in_name
from layover.service.permissions import caller_of

if TYPE_CHECKING:
    from layover.api.access.config import JwtSettings
    from layover.api.access.jwks import PublicKey
    from layover.model.access import Caller

_SKEW: Final = 60_000  # milliseconds
_DOTS: Final = 2

# Times are compared with the clock that all instances go by, not with the one of this machine.
_CHECKED_HERE: Final[Any] = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["exp", "sub"]}

# A signature may be right while what is signed is odd: a header that nests for ever, a number that is none.
_NO_TOKEN: Final = (jwt.PyJWTError, msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


_Moment = Annotated[float, Meta(ge=0, le=253_402_300_799)]  # seconds; none is after the year 9999


class _Times(msgspec.Struct, frozen=True):
    """Since when, and until when a token is valid."""

    exp: _Moment
    nbf: _Moment | None = None
    iat: _Moment | None = None


class _Claims(msgspec.Struct, frozen=True):
    """What a token says; what else it says does not matter."""

    sub: Annotated[str, Meta(min_length=1, max_length=255)]
    exp: _Moment
    roles: tuple[Annotated[str, Meta(min_length=1, max_length=255)], ...] = ()


def has_form_of_token(given: str) -> bool:
    """Return whether something looks like a token."""
    return given.count(".") == _DOTS and given.isascii()


class Tokens:
    """Knows callers by their tokens."""

    def __init__(self, settings: JwtSettings, keys: SigningKeys | None = None) -> None:
        self._secret = settings.secret
        self._issuer = settings.issuer
        self._audience = settings.audience
        self._keys = keys or (SigningKeys(settings.jwks_url) if settings.jwks_url else None)

    async def caller_of(self, token: str, now: int) -> Caller | None:
        """Return who a token is about; None if it is not valid."""
        identity = await self.identify(token, now)
        return identity.caller if identity is not None else None

    async def identify(self, token: str, now: int) -> Identity | None:
        """Return who a token is about, and until when; None if it is not valid."""
        said = await self.verify(token, now)
        if said is None:
            return None
        try:
            claims = msgspec.convert(said, _Claims)
        except _NO_TOKEN:
            return None
        if any(fault_in_name(name) for name in (claims.sub, *claims.roles)):
            return None
        return Identity(caller=caller_of(claims.sub, claims.roles, "jwt"), expires_at=int(claims.exp * 1000) + _SKEW)

    async def verify(self, token: str, now: int) -> dict[str, Any] | None:
        """Return what a token says; None if it is not signed as it should be, or not of this time, or for others."""
        try:
            found = await self._key(token)
            if found is None:
                return None
            key, algorithm = found
            # A token that names an audience is for them alone: without one of our own it is not for us.
            said = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                options=_CHECKED_HERE,
                issuer=self._issuer,
                audience=self._audience,
            )
            times = msgspec.convert(said, _Times)
        except _NO_TOKEN:
            return None
        return said if _is_now(times, now) else None

    async def _key(self, token: str) -> tuple[str | PublicKey, str] | None:
        """Return what a token has to be signed with, and how."""
        if self._secret is not None:
            return self._secret, "HS256"
        key_id = jwt.get_unverified_header(token).get("kid")
        found = await self._keys.find(key_id) if self._keys is not None else None
        return (found.public, found.algorithm) if found is not None else None


def _is_now(claims: _Times, now: int) -> bool:
    """Return whether a token is of this time; what is no number is never."""
    since = [moment for moment in (claims.nbf, claims.iat) if moment is not None]
    return now < claims.exp * 1000 + _SKEW and all(moment * 1000 <= now + _SKEW for moment in since)
