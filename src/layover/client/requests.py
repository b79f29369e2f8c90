"""What is asked of a server, as it is written on the wire."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import msgspec

from layover.client.errors import ApiError
from layover.core.payloads import PayloadNotJson, check_finite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.resources.shared import Body

_LONGEST_KEY = 255
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError)


class ClientRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. What is `repeatable` may be sent again though nobody knows whether it was done."""

    method: str
    path: str
    body: bytes | None = None
    media_type: str = "application/json"
    key: str | None = None
    repeatable: bool = True
    known: bool = True  # it shows the credentials of the client
    longer: float = 0.0  # seconds that the server may take beside the usual

    @property
    def headers(self) -> dict[str, str]:
        """What is said about the request, without who asks."""
        found = {"Accept": "application/json"}
        if self.body is not None:
            found["Content-Type"] = self.media_type
        if self.key is not None:
            found["Idempotency-Key"] = self.key
        return found


def path_of(*parts: str, root: str = "/api/v1", **query: object) -> str:
    """Return a path of names, each as it is, and a query of what is given."""
    return f"{root}/{'/'.join(map(_part, parts))}{_query(query)}"


def post(path: str, body: Body, key: str | None, *, longer: float = 0.0) -> ClientRequest:
    """Return a request that changes something, with the key by which the server knows it when it comes again."""
    return ClientRequest(method="POST", path=path, body=written(body), key=checked_key(key), longer=longer)


def written(body: Body | Mapping[str, object] | object) -> bytes:
    """Return a body as JSON; fields that say nothing are left out, so that an older server understands it."""
    said = _said(body) if isinstance(body, msgspec.Struct) else body
    try:
        encoded = msgspec.json.encode(said)
        check_finite(said, encoded)
    except PayloadNotJson as error:
        raise ApiError(error.message, code=error.code) from error
    except _NO_JSON as error:
        raise ApiError(f"What is sent cannot be written as JSON: {error}.", code="payload_not_json") from error
    return encoded


def checked_key(key: str | None) -> str:
    """Return the idempotency key of a request, made for it unless there is one."""
    if key is None:
        return secrets.token_hex(16)
    if not 0 < len(key) <= _LONGEST_KEY or not key.isascii() or not key.isprintable():
        message = f"An idempotency key has from 1 to {_LONGEST_KEY} printable ASCII characters."
        raise ApiError(message, code="invalid_parameter")
    return key


def _said(body: msgspec.Struct) -> dict[str, object]:
    found = {}
    for field in msgspec.structs.fields(body):
        value = getattr(body, field.name)
        unsaid = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if field.required or (value is not unsaid and value != unsaid):
            found[field.encode_name] = value
    return found


def _part(text: str) -> str:
    if text in ("", ".", ".."):  # on its way it would become another path
        raise ApiError(f"`{text}` names nothing.", code="malformed_id")
    try:
        return quote(text, safe=":")
    except UnicodeEncodeError as error:
        raise ApiError("A name cannot be written as UTF-8.", code="malformed_id") from error


def _query(given: Mapping[str, object]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in given.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name.rstrip("_"), _text(one)) for one in values if one is not None]
    return f"?{urlencode(pairs, errors='replace')}" if pairs else ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
