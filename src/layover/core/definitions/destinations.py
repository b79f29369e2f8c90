"""Destinations, as settings and operators write them: where deliveries go, and how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from layover.core.definitions.durations import parse_duration
from layover.core.definitions.kinds import Data, Duration, SecretName, ShortText
from layover.core.definitions.model import DefinitionPart, HookSecret
from layover.core.definitions.read_part import read_part
from layover.core.secret_names import SECRET_NAME

if TYPE_CHECKING:
    from layover.core.definitions.read import Reading
    from layover.core.definitions.tree import SourcePosition

_RATE: Final = re.compile(r"([1-9][0-9]{0,5})/([0-9]*[a-z]+)")
_SCHEMES: Final = {"mail": ("smtp", "smtps"), "webhook": ("https", "http"), "chat": ("https", "http")}
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_LINE: Final = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]{0,2000}")
_SECRET: Final = re.compile(SECRET_NAME)
_MOST_HEADERS: Final = 50
_LONGEST_TIMEOUT: Final = 300_000
_FROM: Final = re.compile(r"[^@\x00-\x1f\x7f]{1,200}@[^@\s<>\x00-\x1f\x7f]{1,253}>?")


class SecretAddress(DefinitionPart, frozen=True, kw_only=True):
    """An address that is a secret, as that of a chat."""

    noun = "secret address"

    secret: SecretName


class DestinationDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Where deliveries go, and how: by mail, to a webhook, or to the incoming webhook of a chat.

    Secrets sign what goes to a webhook; of a mail server, the first is the password of `user`. A header is a text, or
    `{secret: NAME}`.
    """

    noun = "destination"
    lists = ("secret", "include")

    kind: Literal["mail", "webhook", "chat"]
    address: Annotated[str, Meta(min_length=1, max_length=2_000)] | SecretAddress
    secret: Annotated[tuple[HookSecret, ...], Meta(max_length=10)] = ()
    user: ShortText = ""
    from_: ShortText = msgspec.field(name="from", default="")
    headers: Data = msgspec.field(default_factory=dict)
    rate: ShortText = ""
    ordered: bool = True
    timeout: Duration | None = None
    include: tuple[Literal["shown", "input", "output", "answer"], ...] = ()


def read_destination(data: object) -> DestinationDefinition:
    """Read a destination; InvalidDefinition lists what is wrong with it."""
    return read_part(DestinationDefinition, data, _check)


def interval_of(rate: str) -> int:
    """Return the milliseconds between two deliveries at a rate such as `1/s` or `100/m`; ValueError if it is none."""
    found = _RATE.fullmatch(rate)
    if found is None:
        raise ValueError("it is written like `1/s`, `100/m` or `20/10s`")
    length = parse_duration(found[2] if found[2][0].isdigit() else f"1{found[2]}")
    if not length:
        raise ValueError("in no time there is no rate")
    return max(1, -(-length // int(found[1])))


def _check(found: DestinationDefinition, reading: Reading) -> None:
    site, problems = reading.site(found), reading.problems

    def place(field: str) -> SourcePosition:
        return (site.get(field) or site).place

    schemes = _SCHEMES[found.kind]
    if isinstance(found.address, str):
        scheme, _, host = found.address.partition("://")
        if scheme.lower() not in schemes or not host.strip("/") or not _LINE.fullmatch(found.address):
            message = f"The address of a {found.kind} destination starts with `{schemes[0]}://` and a host."
            problems.add("bad_value", place("address"), message)
    if found.kind == "mail" and not _FROM.fullmatch(found.from_):
        problems.add("bad_value", place("from"), "Mail needs `from`, such as `Layover <no-reply@example.org>`.")
    if found.rate:
        try:
            interval_of(found.rate)
        except ValueError as error:
            problems.add("bad_value", place("rate"), f"`rate` cannot be {found.rate!r:.50}: {error}.")
    if found.timeout is not None and not 0 < found.timeout <= _LONGEST_TIMEOUT:
        problems.add("bad_value", place("timeout"), "`timeout` is above zero and at most `5m`.")
    if len(found.headers) > _MOST_HEADERS:
        problems.add("too_large", place("headers"), f"A destination has at most {_MOST_HEADERS} headers.")
    for name, value in found.headers.items():
        if not _HEADER.fullmatch(name) or not _is_header_value(value):
            message = f"The header {name!r:.100} is not one: a name, and a line of text or `{{secret: NAME}}`."
            problems.add("bad_value", place("headers"), message)


def _is_header_value(value: object) -> bool:
    if isinstance(value, str):
        return _LINE.fullmatch(value) is not None
    match value:
        case {"secret": str() as name} if isinstance(value, dict) and len(value) == 1:
            return _SECRET.fullmatch(name) is not None
    return False
