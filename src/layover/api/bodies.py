"""Reading what was sent: bounded in size, in nesting and in time."""

from __future__ import annotations

import asyncio
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.requests import ClientDisconnect

from layover.api.problems import Refusal
from layover.interface.misfits import misfit_of
from layover.model.problems import FieldError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive

    from layover.api.routing import Route
    from layover.api.settings import ApiSettings

_NUMBER = re.compile(r"[0-9]+")
_DIGITS = 15  # no number with more is a size of anything
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_BRACES_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_STRING = re.compile(rb'"[^"]*"')
_STEPS = tuple({ord("["): 1, ord("]"): -1}.get(byte, 0) for byte in range(256))


async def read_body(
    receive: Receive, headers: Mapping[str, str], settings: ApiSettings, most: int | None = None
) -> bytes:
    """Return the whole body, or refuse it: too large for the server or for this route, or too slow in coming."""
    limit = settings.body_limit if most is None else min(most, settings.body_limit)
    announced = headers.get("content-length", "").lstrip("0")
    if _NUMBER.fullmatch(announced) and (len(announced) > _DIGITS or int(announced) > limit):
        raise _too_large(limit)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(settings.body_timeout):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                piece = message.get("body", b"")
                size += len(piece)
                if size > limit:
                    raise _too_large(limit)
                pieces.append(piece)
                if not message.get("more_body", False):
                    return b"".join(pieces)
    except TimeoutError as error:
        closing = {"connection": "close"}
        raise Refusal("request_timeout", "The body took too long to come.", headers=closing) from error


def check_media_type(headers: Mapping[str, str], route: Route) -> None:
    """Refuse a body of a kind that the route does not take; one that says nothing is taken for JSON."""
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("unsupported_media_type", "Send the body as it is, not compressed.")
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given and given not in route.media_types:
        raise Refusal("unsupported_media_type", f"Send {' or '.join(route.media_types)}, not {given[:100]}.")


def decoded(raw: bytes, wanted: type[Any], settings: ApiSettings) -> Any:
    """Return a body as what was declared."""
    check_nesting(raw, settings)
    try:
        body = msgspec.json.decode(raw or b"{}", type=wanted)
    except msgspec.ValidationError as error:
        found = misfit_of(str(error), wanted)
        hint = getattr(wanted, "elsewhere", {}).get(found.path) if found.unknown is not None else None
        place = FieldError(
            path=found.path, message=found.message if hint is None else f"there is no such field. {hint}"
        )
        raise Refusal("invalid_body", "The request body is invalid.", errors=[place]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("malformed", f"The body is not valid JSON: {str(error)[:200]}.") from error
    if wanted is not object and b"\\u0000" in raw:
        path = place_of_nul(body)
        if path is not None:
            errors = [FieldError(path=path, message="The character U+0000 is not taken here")]
            raise Refusal("invalid_body", "The request body is invalid.", errors=errors)
    return body


def place_of_nul(value: object, path: str = "") -> str | None:
    """Return where a text has the character U+0000, which no database can look for; in data it may be."""
    if isinstance(value, str):
        return path if "\0" in value else None
    parts: list[tuple[str, object]] = []
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        parts = [(f".{one.encode_name}", getattr(value, one.name)) for one in fields if "Any" not in str(one.type)]
    elif isinstance(value, list | tuple):
        parts = [(f"[{n}]", part) for n, part in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f".{name}", part) for pair in value.items() for name, part in ((pair[0], pair[0]), pair)]
    found = (place_of_nul(part, path + name) for name, part in parts)
    return next((place.removeprefix(".") for place in found if place is not None), None)


def queried(pairs: list[tuple[str, str]], wanted: type[Any]) -> Any:
    """Return the parameters as what was declared; those that may come more than once are lists."""
    declared = _declared(wanted)
    found: dict[str, Any] = {}
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise Refusal("invalid_parameter", "The character U+0000 is not taken in parameters.")
        if name in declared and declared[name].is_list:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise Refusal("invalid_parameter", f"`{name[:100]}` is given twice.")
        else:
            found[name] = value
    try:
        query = msgspec.convert(found, wanted, strict=False)
    except msgspec.ValidationError as error:
        misfit = misfit_of(str(error), wanted)
        message = misfit.message.replace("no such field", "no such parameter")
        raise Refusal("invalid_parameter", f"{misfit.path or 'A parameter'}: {message}.") from error
    lost = next((name for name in found if getattr(query, declared[name].field) is None), None)
    if lost is not None:  # it would switch a filter off
        raise Refusal("invalid_parameter", f"{lost}: Expected a value, got `null`.")
    return query


class _Parameter(NamedTuple):
    """The field that a parameter fills, and whether it may come more than once."""

    field: str
    is_list: bool


_DECLARED: dict[type[Any], dict[str, _Parameter]] = {}


def _declared(wanted: type[Any]) -> dict[str, _Parameter]:
    """Return the parameters of a query, by their names."""
    found = _DECLARED.get(wanted)
    if found is None:
        fields = msgspec.structs.fields(wanted)
        found = {one.encode_name: _Parameter(one.name, "list" in str(one.type)) for one in fields}
        _DECLARED[wanted] = found
    return found


def check_nesting(raw: bytes, settings: ApiSettings) -> None:
    """Refuse JSON that nests too deep or has too many objects and arrays: each costs far more than its bytes."""
    depth_limit, limit = settings.depth_limit, settings.nesting_limit
    if raw.count(b"[") + raw.count(b"{") <= min(depth_limit, limit):
        return
    brackets = _brackets(raw)
    if brackets.count(b"[") > limit:
        raise Refusal("payload_too_large", f"The body has more than {limit:,} objects and arrays.")
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > depth_limit:
        raise Refusal("malformed", f"The body nests deeper than {depth_limit} levels.")


def _brackets(raw: bytes) -> bytes:
    """Return the brackets of JSON outside of its strings, braces as brackets too.

    Each step is one pass of the interpreter's own C: a loop over the bytes would hold the event loop for too long. Of
    what is not valid JSON it may find too few or too many; the parser refuses that anyway.
    """
    if b"\\" in raw:  # first, since without the other characters `\n"` would look like `\"`
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    left = raw.translate(_BRACES_AS_BRACKETS, delete=_NOT_STRUCTURE).replace(b'""', b"")
    return _STRING.sub(b"", left)


def _too_large(limit: int) -> Refusal:
    return Refusal("payload_too_large", f"The body has more than {limit:,} bytes.", headers={"connection": "close"})
