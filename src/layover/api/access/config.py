"""Who may get in: the key of the admin, and how tokens are known."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from layover.api.access.listen_address import is_loopback
from layover.api.access.strength import is_guessable
from layover.errors import InvalidInput

_SHORTEST_ADMIN_KEY: Final = 16  # characters
_SHORTEST_SECRET: Final = 32  # bytes: as long as the hash that is made with it
_RANDOM: Final = "Take a random one, such as `openssl rand -base64 32` prints."
_KEY: Final = re.compile(r"[!-~]+")


class InvalidSetting(InvalidInput):
    """Settings that cannot be used; `errors` are where each was given. A value that may be a secret is not told."""

    code = "invalid_setting"


class JwtSettings(msgspec.Struct, frozen=True, kw_only=True):
    """By what tokens are known: a secret that is shared, or public keys at an address; whose they are, and for whom.

    The address is `https:`, or a file; plain `http:` only on the machine itself, since an attacker in between could
    put in keys of their own.
    """

    secret: str | None = None
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None

    def __post_init__(self) -> None:
        """Refuse settings that would let in too many callers, or none."""
        if self.secret is None and self.jwks_url is None:
            raise _refused("jwt_issuer" if self.issuer else "jwt_audience", "It needs jwt_secret or jwt_jwks_url.")
        if self.secret is not None and self.jwks_url is not None:
            message = "Only this or jwt_jwks_url: tokens are signed in one way, and no other is accepted."
            raise _refused("jwt_secret", message)
        if self.secret is not None and len(self.secret.encode(errors="replace")) < _SHORTEST_SECRET:
            raise _refused("jwt_secret", f"It needs at least {_SHORTEST_SECRET} bytes.")
        if self.secret is not None and is_guessable(self.secret):
            raise _refused("jwt_secret", f"It is too easy to guess. {_RANDOM}")
        if self.jwks_url is not None:
            _check_address(self.jwks_url)

    def __repr__(self) -> str:
        """Say nothing that may be a secret."""
        return f"JwtSettings(by={'secret' if self.secret is not None else 'jwks'})"


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The key of the user `admin`, and how tokens are known."""

    admin_key: str | None = None
    jwt: JwtSettings | None = None

    def __post_init__(self) -> None:
        """Refuse a key that could be guessed, or that a header cannot hold."""
        key = self.admin_key
        if key is not None and (len(key) < _SHORTEST_ADMIN_KEY or not _KEY.fullmatch(key)):
            wanted = f"at least {_SHORTEST_ADMIN_KEY} printable ASCII characters, and no spaces"
            raise _refused("admin_key", f"It needs {wanted}.")
        if key is not None and is_guessable(key):
            raise _refused("admin_key", f"It is too easy to guess. {_RANDOM}")

    def __repr__(self) -> str:
        """Say nothing that may be a secret."""
        return f"AccessSettings(admin_key={self.admin_key is not None}, jwt={self.jwt!r})"


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.username or parts.password:
        raise _refused("jwt_jwks_url", "It holds no credentials, since addresses are written to logs.")
    is_file = parts.scheme == "file" and not host and parts.path != ""
    if not is_file and not (parts.scheme == "https" and host) and not (parts.scheme == "http" and is_loopback(host)):
        message = "It is an `https:` address, `http:` on this machine itself, or `file:///path`."
        raise _refused("jwt_jwks_url", message)


def _refused(setting: str, what: str) -> InvalidSetting:
    return InvalidSetting(f"{setting}: {what}", ((setting, what),))
