"""Who may get in, as it is set: by a program, or by the environment (`LAYOVER_ADMIN_KEY`, `LAYOVER_JWT_SECRET` …)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from layover.api.access.listen_address import is_loopback
from layover.api.access.strength import is_guessable
from layover.api.settings import ApiSettings
from layover.api.trusted_proxies import TrustedProxies
from layover.core.definitions.durations import parse_duration
from layover.core.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORTEST_ADMIN_KEY: Final = 16  # characters
_SHORTEST_SECRET: Final = 32  # bytes: as long as the hash that is made with it
_RANDOM: Final = "Take a random one, such as `openssl rand -base64 32` prints."
_KEY: Final = re.compile(r"[!-~]+")
_RATE: Final = re.compile(r"([1-9][0-9]{0,5})/([0-9]*[a-z]+)")
_COUNT: Final = re.compile(r"[1-9][0-9]{0,6}")
_HOST: Final = re.compile(r"\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
_SIZE: Final = re.compile(r"([1-9][0-9]{0,11}) ?(B|kB|MB|kiB|KiB|MiB)?")
_UNITS: Final = {"": 1, "B": 1, "kB": 1_000, "MB": 1_000_000, "kiB": 1024, "KiB": 1024, "MiB": 1024**2}
_LARGEST_BODY: Final = 1_000_000_000
_JWT: Final = ("JWT_SECRET", "JWT_JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE")
_LIMITS: Final = ("RATE_LIMIT", "GUESS_LIMIT", "BODY_LIMIT", "CONNECTIONS")
_NAMES: Final = ("ADMIN_KEY", *_LIMITS, "TRUSTED_PROXIES", "HOSTS", *_JWT)
_USUAL: Final = ApiSettings()


class InvalidSetting(LayoverError):  # noqa: N818 - it says what the setting is
    """A setting that cannot be used; what it was set to is not told, since it may be a secret."""

    code = "invalid_setting"


class JwtSettings(msgspec.Struct, frozen=True, kw_only=True):
    """By what tokens are known: a secret that is shared, or public keys at an address; whose they are, and for whom.

    The address is `https:`, or a file; plain `http:` only on the machine itself, since whoever stands between could
    put in keys of their own.
    """

    secret: str | None = None
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None

    def __post_init__(self) -> None:
        """Refuse what would let in too many, or nobody."""
        if self.secret is None and self.jwks_url is None:
            message = "they say nothing without LAYOVER_JWT_SECRET or LAYOVER_JWT_JWKS_URL."
            raise InvalidSetting(f"LAYOVER_JWT_ISSUER, LAYOVER_JWT_AUDIENCE: {message}")
        if self.secret is not None and self.jwks_url is not None:
            message = "only one of them: tokens are signed in one way, and no other is accepted."
            raise InvalidSetting(f"LAYOVER_JWT_SECRET, LAYOVER_JWT_JWKS_URL: {message}")
        if self.secret is not None and len(self.secret.encode(errors="replace")) < _SHORTEST_SECRET:
            raise InvalidSetting(f"LAYOVER_JWT_SECRET: it needs at least {_SHORTEST_SECRET} bytes.")
        if self.secret is not None and is_guessable(self.secret):
            raise InvalidSetting(f"LAYOVER_JWT_SECRET: it is too easy to guess. {_RANDOM}")
        if self.jwks_url is not None:
            _check_address(self.jwks_url)

    def __repr__(self) -> str:
        """Say nothing that may be a secret."""
        return f"JwtSettings(by={'secret' if self.secret is not None else 'jwks'})"


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The key of the admin, how tokens are known, and how much is taken from callers."""

    admin_key: str | None = None
    jwt: JwtSettings | None = None
    rate_limit: tuple[int, float] | None = _USUAL.rate_limit
    guess_limit: tuple[int, float] | None = _USUAL.guess_limit
    body_limit: int = _USUAL.body_limit
    connections: int | None = None
    trusted_proxies: tuple[str, ...] = ()
    hosts: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a key that could be guessed, or that a header cannot hold."""
        key = self.admin_key
        if key is not None and (len(key) < _SHORTEST_ADMIN_KEY or not _KEY.fullmatch(key)):
            wanted = f"at least {_SHORTEST_ADMIN_KEY} printable ASCII characters, and no spaces"
            raise InvalidSetting(f"LAYOVER_ADMIN_KEY: it needs {wanted}.")
        if key is not None and is_guessable(key):
            raise InvalidSetting(f"LAYOVER_ADMIN_KEY: it is too easy to guess. {_RANDOM}")

    def api_settings(self) -> ApiSettings:
        """Return the settings of the HTTP surface, as far as the environment can set them."""
        return ApiSettings(
            rate_limit=self.rate_limit,
            guess_limit=self.guess_limit,
            body_limit=self.body_limit,
            connections=self.connections,
            trusted_proxies=self.trusted_proxies,
            hosts=self.hosts,
        )

    def __repr__(self) -> str:
        """Say nothing that may be a secret."""
        return f"AccessSettings(admin_key={self.admin_key is not None}, jwt={self.jwt!r})"


def access_settings(environment: Mapping[str, str]) -> AccessSettings:
    """Return what the environment sets; an empty text sets nothing."""
    given = {name: environment.get(f"LAYOVER_{name}") or None for name in _NAMES}
    jwt = {name: given[f"JWT_{name.upper()}"] for name in JwtSettings.__struct_fields__}
    rate, guesses, size, connections = (given[name] for name in _LIMITS)
    return AccessSettings(
        admin_key=given["ADMIN_KEY"],
        jwt=JwtSettings(**jwt) if any(jwt.values()) else None,
        rate_limit=parse_rate(rate) if rate else _USUAL.rate_limit,
        guess_limit=parse_rate(guesses, "GUESS_LIMIT") if guesses else _USUAL.guess_limit,
        body_limit=parse_size(size) if size else _USUAL.body_limit,
        connections=parse_connections(connections) if connections else None,
        trusted_proxies=parse_proxies(given["TRUSTED_PROXIES"] or ""),
        hosts=parse_hosts(given["HOSTS"]) if given["HOSTS"] else None,
    )


def parse_rate(text: str, name: str = "RATE_LIMIT") -> tuple[int, float] | None:
    """Return how many in how many seconds: `100/m`, `20/10s`; None for `off`."""
    if text == "off":
        return None
    found = _RATE.fullmatch(text)
    try:
        milliseconds = parse_duration(found[2] if found[2][0].isdigit() else f"1{found[2]}") if found else 0
    except ValueError:
        milliseconds = 0
    if found is None or not milliseconds:
        raise InvalidSetting(f"LAYOVER_{name}: it is written like `100/m`, `20/10s`, or `off`.")
    return int(found[1]), milliseconds / 1000


def parse_size(text: str) -> int:
    """Return a number of bytes: `2000000`, `500kB`, `2MiB`."""
    found = _SIZE.fullmatch(text)
    size = int(found[1]) * _UNITS[found[2] or ""] if found else 0
    if not 0 < size <= _LARGEST_BODY:
        raise InvalidSetting("LAYOVER_BODY_LIMIT: it is a number of bytes, written like `2000000`, `500kB` or `2MiB`.")
    return size


def parse_connections(text: str) -> int:
    """Return how many connections may be open."""
    if not _COUNT.fullmatch(text):
        raise InvalidSetting("LAYOVER_CONNECTIONS: it is a number of connections, such as `500`.")
    return int(text)


def parse_proxies(text: str) -> tuple[str, ...]:
    """Return addresses and networks: `10.0.0.7, 192.168.0.0/24`."""
    proxies = tuple(one.strip() for one in text.split(",") if one.strip())
    try:
        TrustedProxies(proxies)
    except ValueError as error:
        message = "they are addresses and networks, such as `10.0.0.7, 192.168.0.0/24`."
        raise InvalidSetting(f"LAYOVER_TRUSTED_PROXIES: {message}") from error
    return proxies


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return names of hosts: `api.example.org, *.example.net`, or `*` for any."""
    hosts = tuple(one.strip() for one in text.split(",") if one.strip())
    if not hosts or not all(_HOST.fullmatch(one) for one in hosts):
        raise InvalidSetting("LAYOVER_HOSTS: they are names such as `api.example.org, *.example.net`, or `*` for any.")
    return hosts


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.username or parts.password:
        raise InvalidSetting("LAYOVER_JWT_JWKS_URL: it holds no credentials, since addresses are written to logs.")
    is_file = parts.scheme == "file" and not host and parts.path != ""
    if not is_file and not (parts.scheme == "https" and host) and not (parts.scheme == "http" and is_loopback(host)):
        message = "it is an `https:` address, `http:` on this machine itself, or `file:///path`."
        raise InvalidSetting(f"LAYOVER_JWT_JWKS_URL: {message}")
