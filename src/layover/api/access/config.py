"""Who may get in: the key of the admin, and how tokens are known."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from layover.api.access.listen_address import is_loopback
from layover.api.access.strength import is_guessable
from layover.errors import InvalidInput
from layover.model.name_rules import fault_in_name

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


class OidcSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The provider that signs people in (OpenID Connect), and which roles they get by a claim of its token.

    `roles` are by value of the claim, `*` for everybody; who gets none is not let in. Without `client_secret`, the
    secret `OIDC_CLIENT_SECRET` is used if there is one.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    roles_claim: str = "roles"
    roles: dict[str, tuple[str, ...]] = {}
    user_claim: str = "sub"
    scopes: str = "openid profile email"

    def __post_init__(self) -> None:
        """Refuse settings that would let in too many people, or none."""
        if not is_safe_address(self.issuer) or urlsplit(self.issuer).scheme == "file":
            raise _refused("oidc_issuer", "It is an `https:` address, or `http:` on this machine itself.")
        if not self.client_id:
            raise _refused("oidc_client_id", "The provider gives one to each application that it knows.")
        if not self.roles:
            message = 'Say which roles people get, such as {"staff": ["viewer"]}; "*" stands for everybody.'
            raise _refused("oidc_role_map", message)
        if "openid" not in self.scopes.split():
            raise _refused("oidc_scopes", "`openid` is one of them: without it there is no token that says who it is.")

    def __repr__(self) -> str:
        """Say nothing that may be a secret."""
        return f"OidcSettings(issuer={self.issuer!r})"


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The key of the user `admin`, how tokens are known, and who signs people in."""

    admin_key: str | None = None
    jwt: JwtSettings | None = None
    oidc: OidcSettings | None = None

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


def parse_role_map(text: str | None) -> dict[str, tuple[str, ...]]:
    """Return roles by value of a claim, from JSON."""
    try:
        found = msgspec.json.decode(text or "{}", type=dict[str, tuple[str, ...]])
    except msgspec.MsgspecError as error:
        wanted = 'a JSON object with lists of roles, such as {"staff": ["viewer"]}'
        raise _refused("oidc_role_map", f"It is {wanted}.") from error
    fault = next((fault for roles in found.values() for role in roles if (fault := fault_in_name(role))), None)
    if fault is not None or any(not role or len(role) > 255 for roles in found.values() for role in roles):
        raise _refused("oidc_role_map", f"A role has 1 to 255 characters{f', and {fault}' if fault else ''}.")
    return found


def is_safe_address(address: str) -> bool:
    """Return whether what comes from an address can be trusted: `https:`, a file, or this machine itself."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.username or parts.password:
        return False
    is_file = parts.scheme == "file" and not host and parts.path != ""
    return is_file or (parts.scheme == "https" and host != "") or (parts.scheme == "http" and is_loopback(host))


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        has_credentials = bool(parts.username or parts.password)
    except ValueError:
        has_credentials = False
    if has_credentials:
        raise _refused("jwt_jwks_url", "It holds no credentials, since addresses are written to logs.")
    if not is_safe_address(address):
        message = "It is an `https:` address, `http:` on this machine itself, or `file:///path`."
        raise _refused("jwt_jwks_url", message)


def _refused(setting: str, what: str) -> InvalidSetting:
    return InvalidSetting(f"{setting}: {what}", ((setting, what),))
