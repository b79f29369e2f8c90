"""What a destination has to be, beyond the types of its fields: addresses, secrets, rates, headers.

A destination that is saved can be sent to, as far as that can be known before it is tried. Whether its address is a
public one is asked when a connection is made: names resolve differently then.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from layover.core.definitions.durations import parse_duration
from layover.core.definitions.instants import is_instant
from layover.core.secret_names import is_secret_name
from layover.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.model.deliveries import DestinationBody

LONGEST_TIMEOUT: Final = 60_000  # milliseconds
MOST_HEADERS: Final = 20
MOST_SECRETS: Final = 10

_RATE: Final = re.compile(r"[1-9][0-9]{0,5}/(s|m|h)")
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_MAIL: Final = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[A-Za-z0-9._-]{1,180}")
# What a sender writes by itself, or what says how long a message is.
_TAKEN_HEADERS: Final = frozenset(
    {"connection", "content-length", "content-type", "host", "idempotency-key", "layover-attempt", "transfer-encoding"}
)
_ONLY_OF: Final = {"from": "mail", "user": "mail", "headers": "webhook", "include": "webhook"}
_Fault = tuple[str, str]


def check_destination(body: DestinationBody, *, plain_http: bool) -> None:
    """Refuse a destination that cannot be used; `plain_http` allows addresses without TLS."""
    faults = [*_faults(body, plain_http=plain_http)]
    if faults:
        (path, fault), *_ = faults
        raise InvalidInput(f"`{path}`: {fault}.", tuple(faults), code="invalid_body")


def definition_of(body: DestinationBody) -> dict[str, Any]:
    """Return a destination as it is stored and shown: without what is as by default."""
    written: dict[str, Any] = msgspec.to_builtins(body)
    default = {one.encode_name: one.default for one in msgspec.structs.fields(body)}
    return {
        name: value for name, value in written.items() if name in ("name", "kind") or value not in _empty(default, name)
    }


def is_mail_address(text: str) -> bool:
    """Return whether mail can be sent to an address: one alone, without a name, and nothing that a header could hold."""
    return _MAIL.fullmatch(text) is not None


def _empty(default: Mapping[str, Any], name: str) -> tuple[object, ...]:
    return (default[name], None, {}, [], "")


def _faults(body: DestinationBody, *, plain_http: bool) -> Iterator[_Fault]:
    given = definition_of(body)
    for field, kind in _ONLY_OF.items():
        if field in given and body.kind != kind:
            yield field, f"a destination of the kind {body.kind} has none"
    yield from _of_address(body, plain_http=plain_http)
    yield from _of_secret(body)
    if body.kind == "mail" and not is_mail_address(body.from_):
        yield "from", "mail needs the address of its sender, such as `layover@example.com`"
    if any(ord(one) < ord(" ") for one in body.user):
        yield "user", "it has a control character"
    yield from _of_headers(body.headers)
    if body.rate and not _RATE.fullmatch(body.rate):
        yield "rate", "it is a number in a time, such as `1/s`, `100/m` or `1000/h`"
    if body.timeout is not None:
        yield from _of_timeout(body.timeout)


def _of_address(body: DestinationBody, *, plain_http: bool) -> Iterator[_Fault]:
    address = body.address
    if isinstance(address, dict):
        if [*address] != ["secret"] or not is_secret_name(address["secret"]):
            yield "address", 'it is a text, or the name of a secret such as `{"secret": "OPS_CHAT"}`'
        return
    parts = _split(address)
    allowed = ("smtp", "smtps") if body.kind == "mail" else ("https", "http") if plain_http else ("https",)
    if parts is None or parts.scheme not in allowed or not parts.hostname:
        yield "address", f"it begins with {' or '.join(f'`{one}://`' for one in allowed)} and has a host"
    elif parts.username is not None or parts.password is not None:
        yield "address", "it has credentials: give them as `user` and `secret`, or the address as a secret"
    elif body.kind == "mail" and (parts.path.strip("/") or parts.query or parts.fragment):
        yield "address", "that of a mail server is `smtp://HOST:PORT`"


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address that has a form; blanks and control characters have none."""
    if not address.isprintable() or any(one.isspace() for one in address):
        return None
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - it raises if it is no number
    except ValueError:
        return None
    return parts


def _of_secret(body: DestinationBody) -> Iterator[_Fault]:
    if body.secret is None:
        return
    if body.kind == "chat":
        yield "secret", "that of a chat is its address"
        return
    listed = body.secret if isinstance(body.secret, list | tuple) else [body.secret]
    if not 0 < len(listed) <= (1 if body.kind == "mail" else MOST_SECRETS):
        yield "secret", f"there are {len(listed)}: too many or none"
    for one in listed:
        if not _is_secret(one):
            yield "secret", 'it is a name, or a list of names and `{"name": NAME, "until": MOMENT}`'
            return


def _is_secret(given: object) -> bool:
    if isinstance(given, str):
        return is_secret_name(given)
    if not isinstance(given, dict) or not {"name"} <= given.keys() <= {"name", "until"}:
        return False
    name, until = given["name"], given.get("until")
    return isinstance(name, str) and is_secret_name(name) and (until is None or _is_moment(until))


def _is_moment(given: object) -> bool:
    return isinstance(given, str) and is_instant(given)


def _of_headers(headers: Mapping[str, object]) -> Iterator[_Fault]:
    if len(headers) > MOST_HEADERS:
        yield "headers", f"there are {len(headers)}: at most {MOST_HEADERS} are allowed"
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or name.lower() in _TAKEN_HEADERS or name.lower().startswith("webhook-"):
            yield "headers", f"`{name[:100]}` is not the name of a header, or it is written by the sender itself"
        elif not _is_header_value(value):
            yield "headers", f'`{name}` is a text without control characters, or `{{"secret": NAME}}`'


def _is_header_value(value: object) -> bool:
    if isinstance(value, dict):
        return [*value] == ["secret"] and isinstance(value["secret"], str) and is_secret_name(value["secret"])
    return isinstance(value, str) and len(value) <= 2_000 and value.isascii() and (value.isprintable() or not value)  # noqa: PLR2004


def _of_timeout(timeout: str) -> Iterator[_Fault]:
    try:
        length = parse_duration(timeout)
    except ValueError:
        length = 0
    if not 0 < length <= LONGEST_TIMEOUT:
        yield "timeout", "it is a length of time up to a minute, such as `15s`"
