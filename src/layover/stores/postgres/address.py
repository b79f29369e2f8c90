"""The address of a database: where it is, and how it is used.

It may have all options of the driver (`sslmode`, `sslrootcert`, several hosts …). Our own are `schema`, `connections`,
`statement_timeout` (in milliseconds), and `pooler=transaction` for a pooler that gives each transaction another
connection.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from layover.errors import LayoverError

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
_DIGITS = re.compile(r"[0-9]{1,7}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\[\]:@]*)(:[0-9]{0,5})?")
_MOST = 1_000_000
_UNREADABLE = (
    "The address of the database cannot be read; it is like `postgresql://user:password@host:5432/name`, and in a "
    "password `@`, `/`, `#`, `?`, `[` and `%` are written as %40, %2F, %23, %3F, %5B and %25."
)
SCHEMES = ("postgresql", "postgres")
_OURS = ("schema", "connections", "statement_timeout", "pooler")


class MalformedAddress(LayoverError):  # noqa: N818 - it says what the address is
    """An address that does not say how to reach a database."""

    code = "malformed_address"


class Address(NamedTuple):
    """Where a database is, and how it is used."""

    dsn: str
    shown: str  # without the password: this is what errors and logs say
    schema: str = "layover"
    connections: int = 8
    statement_timeout: int = 30_000
    pooled: bool = False


def read_address(text: str) -> Address:
    """Parse an address."""
    parts = _parts(text)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    ours = {name: options.pop(name) for name in _OURS if name in options}
    schema, pooler = ours.get("schema", "layover"), ours.get("pooler", "")
    shown = _without_password(parts)
    if not _NAME.fullmatch(schema) or schema.startswith("pg_") or schema == "information_schema":
        text = "a schema is named by small letters, digits and `_`, and not as those of the server"
        raise MalformedAddress(f"{shown}: {text}: not `{schema}`.")
    if pooler not in ("", "transaction"):
        raise MalformedAddress(f"{shown}: `pooler` can only be `transaction`.")
    return Address(
        dsn=_joined(parts, parts.netloc, urlencode(options, quote_via=quote)),
        shown=shown,
        schema=schema,
        connections=_number(shown, ours, "connections", 8, least=3),
        statement_timeout=_number(shown, ours, "statement_timeout", 30_000, least=100),
        pooled=pooler == "transaction",
    )


def _parts(text: str) -> SplitResult:
    """Split an address. If it cannot be told where a password ends, the error shows none of it."""
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise MalformedAddress(_UNREADABLE) from error
    user, _, hosts = parts.netloc.rpartition("@")
    if parts.scheme not in SCHEMES or parts.fragment or "@" in user or not all(map(_HOST.fullmatch, hosts.split(","))):
        raise MalformedAddress(_UNREADABLE)
    return parts


def _number(shown: str, options: dict[str, str], name: str, default: int, *, least: int) -> int:
    text = options.get(name, str(default))
    if not _DIGITS.fullmatch(text) or not least <= int(text) <= _MOST:
        raise MalformedAddress(f"{shown}: `{name}` has to be a number from {least} to {_MOST}, not `{text}`.")
    return int(text)


def _without_password(parts: SplitResult) -> str:
    user, separator, hosts = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return _joined(parts, f"{name}{separator}{hosts}")


def _joined(parts: SplitResult, netloc: str, query: str = "") -> str:
    # The slashes stay also without a host, where the library would drop them.
    return f"{parts.scheme}://{netloc}{parts.path}{'?' if query else ''}{query}"
