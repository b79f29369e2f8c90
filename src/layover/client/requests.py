"""What is asked of a server, as it is written on the wire."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import msgspec

from layover.core.payloads import PayloadNotJson, check_finite
from layover.errors import InvalidInput, error_of
from layover.model.shared import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.model.shared import Body

_NOT_JSON = (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError)


_UNNAMEABLE = ("", ".", "..")
# What a name that no path can hold is, as an engine says it.
_UNKNOWN = {
    "executions": ("malformed_id", "`{}` is not an execution id; those are UUIDs."),
    "batches": ("malformed_id", "`{}` is not a batch id; those are UUIDs."),
    "deliveries": ("malformed_id", "`{}` is not a delivery id; those are UUIDs."),
    "triggers": ("malformed_id", "`{}` is not a trigger id; those are UUIDs."),
    "workflows": ("unknown_workflow", "There is no workflow `{}`; register it first."),
    "pause-points": ("unknown_point", "There is no pause point {}."),
    "approvals": ("unknown_point", "There is no pause point {}."),
    "sessions": ("unknown_session", "There is no such session, or it has ended."),
    "keys": ("unknown_key", "There is no such key, or it has ended."),
    "callbacks": ("unknown_token", "This callback token is unknown."),
    "destinations": ("unknown_destination", "There is no destination `{}`."),
    "views": ("unknown_view", "You have no view `{}`."),
    "people": ("unknown_person", "The directory has no `{}`."),
}


class ClientRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. What is `repeatable` may be sent again though it is unknown whether it was done."""

    method: str
    path: str
    body: bytes | None = None
    media_type: str = "application/json"
    key: str | None = None
    if_match: str | None = None
    repeatable: bool = True
    with_credentials: bool = True
    longer: float = 0.0  # seconds that the server may take beside the usual

    @property
    def headers(self) -> dict[str, str]:
        """What is said about the request, without who asks."""
        found = {"Accept": "application/json"}
        if self.body is not None:
            found["Content-Type"] = self.media_type
        if self.key is not None:
            found["Idempotency-Key"] = self.key
        if self.if_match is not None:
            found["If-Match"] = f'"{self.if_match}"'
        return found


def path_of(*parts: str, **query: object) -> str:
    """Return a path of names, each as it is, and a query of what is given."""
    family, *names = parts
    for name in names[:1]:
        if name in _UNNAMEABLE or "/" in name:  # on its way it would become another path
            code, message = _UNKNOWN[family]
            raise error_of(code, message.format(name[:100]))
    return f"/api/v1/{'/'.join(map(_part, parts))}{_query(query)}"


def get(path: str, *, longer: float = 0.0) -> ClientRequest:
    """Return a request that reads."""
    return ClientRequest(method="GET", path=path, longer=longer)


def post(path: str, body: Body | Mapping[str, object], key: str | None = None, *, longer: float = 0.0) -> ClientRequest:
    """Return a request that changes something, with the key by which the server knows it when it comes again."""
    return ClientRequest(method="POST", path=path, body=json_of(body), key=key or new_key(), longer=longer)


def ask_plan(path: str, body: Body) -> ClientRequest:
    """Return a request that asks what an act would do: it changes nothing, and needs no key."""
    return ClientRequest(method="POST", path=path, body=json_of(body))


def put(path: str, body: Body | Mapping[str, object]) -> ClientRequest:
    """Return a request that replaces something, with the same result if it comes again."""
    return ClientRequest(method="PUT", path=path, body=json_of(body))


def delete(path: str) -> ClientRequest:
    """Return a request that ends something."""
    return ClientRequest(method="DELETE", path=path)


def json_of(body: object) -> bytes:
    """Return a body as JSON; fields that are as by default are left out, so that an older server understands it."""
    given = _changed_fields(body) if isinstance(body, msgspec.Struct) else body
    try:
        encoded = encode(given)
        check_finite(given, encoded)
    except _NOT_JSON as error:
        raise PayloadNotJson(f"What is sent cannot be written as JSON: {error}.") from error
    return encoded


def new_key() -> str:
    """Return an idempotency key for a request that is given none."""
    return secrets.token_hex(16)


def _changed_fields(body: msgspec.Struct) -> dict[str, object]:
    found = {}
    for field in msgspec.structs.fields(body):
        value = getattr(body, field.name)
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if field.required or (value is not default and value != default):
            found[field.encode_name] = value
    return found


def _part(text: str) -> str:
    try:
        return quote(text, safe=":")
    except UnicodeEncodeError as error:
        raise InvalidInput("A name cannot be written as UTF-8.", code="malformed_id") from error


def _query(given: Mapping[str, object]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in given.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name.rstrip("_"), _text(one)) for one in values if one is not None]
    return f"?{urlencode(pairs, errors='replace')}" if pairs else ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
