"""Payloads: a value in an event, or the reference that stands for it.

    ["inline",{"total":12}]                                     the value itself
    ["external_ref",2400000,"9f86…"]                            in the blob store, by the hash of its encoded bytes
    ["asset_ref","s3://…","image/png",51200,"2c26…","cat.png"]  a file, which is a reference from the start

Events are kept for ever, so these forms are, too: a struct is an array that begins with its tag. That costs an inline
value eleven bytes where `{"type":"inline","value":…}` would cost twenty-five, and the tag can still be read in a
database shell. Fields have positions instead of names, so a new one goes to the end and has a default; a reader that
does not know it passes over it.

What an event holds must be what replay will read, or the live state and the replayed one drift apart. So `inline` sends
a value through the codec: tuples come out as lists, moments as texts, and nothing that the caller changes later reaches
the log. A caller that has decoded the value from JSON itself says how large that was and saves the round. Nesting is
bounded as well, far below where the codec gives up: how deep it can read depends on how deep its caller stands, and
what could be written once has to be readable everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

import msgspec

from layover.core.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INLINE = 1_000_000
MAX_DEPTH = 200


class Inline(msgspec.Struct, frozen=True, tag="inline", array_like=True):
    """A value that stands in the event itself: plain JSON."""

    value: object


class ExternalRef(msgspec.Struct, frozen=True, tag="external_ref", array_like=True):
    """A value in the blob store: the size of its JSON in bytes, and the SHA-256 of it in hexadecimal."""

    size: int
    hash: str


class AssetRef(msgspec.Struct, frozen=True, tag="asset_ref", array_like=True):
    """A file that stays where it is: where that is, what it is, and how to tell that it is still the same."""

    uri: str
    media_type: str
    size: int
    hash: str
    name: str = ""


Payload: TypeAlias = Inline | ExternalRef | AssetRef


class PayloadTooLarge(LayoverError):  # noqa: N818 - it says what the payload is
    """A value that is too large to stand in an event."""

    code = "payload_too_large"

    def __init__(self, size: int) -> None:
        super().__init__(f"A value of {size:,} bytes is too large: at most {MAX_INLINE:,} stand in an event.")
        self.size = size
        self.limit = MAX_INLINE


class PayloadNotJson(LayoverError):  # noqa: N818 - it says what the payload is
    """A value that cannot be kept as JSON."""

    code = "payload_not_json"


class PayloadNotLoaded(LayoverError):  # noqa: N818 - it says what the payload is
    """A value that has to be fetched from the blob store first."""

    code = "payload_not_loaded"


def inline(value: object, encoded_size: int | None = None) -> Inline:
    """Return a value ready to stand in an event; give its size only if it is plain JSON that nobody else holds."""
    if encoded_size is not None:
        _check_size(encoded_size)
        return Inline(value)
    encoded = _encode(value)
    _check_size(len(encoded))
    decoded = msgspec.json.decode(encoded)
    # Most values have fewer brackets than levels are allowed, and need no closer look.
    if encoded.count(b"[") + encoded.count(b"{") > MAX_DEPTH and _is_too_deep(decoded):
        raise PayloadNotJson(f"The value nests deeper than {MAX_DEPTH} levels.")
    return Inline(decoded)


def value_of(payload: Payload) -> object:
    """Return the value that expressions see; of an asset, what the reference says about it."""
    match payload:
        case Inline(value=value):
            return value
        case AssetRef():
            return msgspec.structs.asdict(payload)
        case ExternalRef(size=size, hash=hash_):
            raise PayloadNotLoaded(f"The value {hash_} of {size:,} bytes is in the blob store and was not fetched.")
        case _:
            assert_never(payload)


def _encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise PayloadNotJson(f"The value cannot be written as JSON: {error}.") from error


def _check_size(size: int) -> None:
    if size > MAX_INLINE:
        raise PayloadTooLarge(size)


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [part for whole in level for part in _parts(whole) if isinstance(part, list | dict)]
    return bool(level)


def _parts(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()
