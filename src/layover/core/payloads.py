"""Values in events: plain JSON, and inside it, at any depth, references to data elsewhere.

    {"total": 12}                                      plain data
    {"$external_ref": {"size": …, "hash": …}}          a large part: in the blob store, by the hash of its bytes
    {"$asset_ref": {"uri": …, "media_type": …, …}}     a file, which stays where it is
    {"$secret": "NAME"}  {"$token": "…"}               replaced only when a call is made

An object with one of these four keys has power: a secret would be resolved, a file fetched. So data from outside must
not hold one. `plain` is the gate: its result is exactly what replay will read (tuples become lists, moments become
texts, and later changes by the caller do not reach the log), it is neither too large nor too deep, it has no NaN and no
infinity, and its only references are those that a program put there as an `ExternalRef` or an `AssetRef`. Nesting is
bounded far below where the codec gives up: how deep the codec can read depends on the depth of its caller's stack, and
a value that was written once has to be readable everywhere. Expressions cannot make an object with a reserved key
either. A call whose result does not pass fails for good: another attempt would only repeat its effect.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, final

import msgspec

from layover.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_INLINE = 1_000_000
MAX_TRIGGER = MAX_INLINE + 300_000  # the data of an input as the trigger of an execution, with headers and query
MAX_DEPTH = 200
_NESTING = (dict, list)
RESERVED: Final = frozenset({"$external_ref", "$asset_ref", "$secret", "$token"})


class PayloadTooLarge(InvalidInput):
    """A value that is too large for an event."""

    code = "payload_too_large"
    retryable = False

    def __init__(self, size: int, limit: int = MAX_INLINE) -> None:
        super().__init__(f"A value of {size:,} bytes is too large: an event holds at most {limit:,}.")
        self.size = size
        self.limit = limit


class PayloadNotJson(InvalidInput):
    """A value that cannot be stored as JSON."""

    code = "payload_not_json"
    retryable = False


class PayloadReserved(InvalidInput):
    """A value with a key that is reserved for the engine."""

    code = "payload_reserved"
    retryable = False

    def __init__(self, key: str) -> None:
        super().__init__(f"The key `{key}` is reserved for the engine: rename it.")
        self.key = key


class Reference:
    """A stand-in for data elsewhere; not a struct, so that the codec calls our hook for each one."""

    __slots__: tuple[str, ...] = ()
    key: ClassVar[str]

    def as_value(self) -> dict[str, object]:
        """Return the reference as the JSON object that is stored."""
        return {self.key: {name: getattr(self, name) for name in self.__slots__}}

    def _fill(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A reference is immutable: {name} cannot be set.")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.as_value() == self.as_value()

    def __hash__(self) -> int:
        return hash((self.key, *(getattr(self, name) for name in self.__slots__)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


@final
class ExternalRef(Reference):
    """A value in the blob store: the size of its JSON in bytes, and the SHA-256 of it in hexadecimal."""

    __slots__ = ("size", "hash")  # noqa: RUF023 - in the order of their JSON
    key = "$external_ref"
    size: int
    hash: str

    def __init__(self, size: int, hash: str) -> None:  # noqa: A002 - as it is written
        self._fill(size=size, hash=hash)


@final
class AssetRef(Reference):
    """A file that stays where it is: its address, its type, and how to recognise that it is unchanged."""

    __slots__ = ("uri", "media_type", "size", "hash", "name")  # noqa: RUF023 - in the order of their JSON
    key = "$asset_ref"
    uri: str
    media_type: str
    size: int
    hash: str
    name: str

    def __init__(self, uri: str, media_type: str, size: int, hash: str, name: str = "") -> None:  # noqa: A002
        self._fill(uri=uri, media_type=media_type, size=size, hash=hash, name=name)


def reference_of(value: object) -> ExternalRef | AssetRef | None:
    """Return the reference that a JSON value stands for, or None if it is not one."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    for kind in (ExternalRef, AssetRef):
        fields = value.get(kind.key)
        if isinstance(fields, dict) and fields.keys() == set(kind.__slots__):
            expected = (type(fields[name]) is (int if name == "size" else str) for name in fields)
            return kind(**fields) if all(expected) else None
    return None


def copy_plain(value: object) -> object:
    """Return a copy of a plain value that its holder may change: the log keeps the original."""
    if isinstance(value, dict):
        return {key: copy_plain(part) if type(part) in _NESTING else part for key, part in value.items()}
    if isinstance(value, list):
        return [copy_plain(part) if type(part) in _NESTING else part for part in value]
    return value


def plain(value: object, most: int = MAX_INLINE) -> object:
    """Return a value from a program or from outside as plain JSON for an event, or raise why it cannot be one."""
    try:
        encoded = _encode(value)
        size = len(encoded)
        if size > most:
            raise PayloadTooLarge(size, most)
        check_finite(value, encoded)
        # Most values have no such text, and are too short to be deep: they need no closer check.
        decoded = _with_references(value) if b'"$' in encoded else _decode(encoded)
    except _NO_JSON as error:
        raise PayloadNotJson(f"The value cannot be written as JSON: {error}.") from error
    if size > 2 * MAX_DEPTH and _is_too_deep(decoded, encoded):
        raise PayloadNotJson(f"The value nests deeper than {MAX_DEPTH} levels.")
    return decoded


def check_finite(value: object, encoded: bytes) -> None:
    """Refuse a value with NaN or infinity in it, and say where: JSON has neither, and the codec writes them as null."""
    if value is None or b"null" not in encoded:
        return
    data = msgspec.to_builtins(value, str_keys=True, enc_hook=_write_reference)
    try:
        _strict(data)
    except ValueError as error:
        found = _not_finite(data, "")
        if found is None:
            raise
        path, number = found
        where = f"`{path.removeprefix('.')}` is" if path else "The value is"
        raise PayloadNotJson(
            f"{where} {number}: JSON has no NaN and no infinity. Leave it out, or pass it as text."
        ) from error


def _not_finite(value: object, path: str) -> tuple[str, float] | None:
    """Return the first number in some data that JSON cannot express, and the path to it."""
    if isinstance(value, float):
        return None if math.isfinite(value) else (path, value)
    parts: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        parts = ((f"{path}.{key}", part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        parts = ((f"{path}[{index}]", part) for index, part in enumerate(value))
    return next((found for step, part in parts if (found := _not_finite(part, step)) is not None), None)


def reserved_key(value: object) -> str | None:
    """Return a reserved key that some plain data holds, at any depth."""
    return next((key for _, key in _reserved(value)), None)


def _with_references(value: object) -> object:
    """Return a value whose only objects with reserved keys are the references that the caller put into it."""
    written: set[object] = set()

    def note(part: object) -> object:
        written.add(part)
        return _write_reference(part)

    decoded = _decode(msgspec.json.encode(value, enc_hook=note))
    for found, key in _reserved(decoded):
        if reference_of(found) not in written:
            raise PayloadReserved(key)
    return decoded


def _reserved(value: object) -> Iterator[tuple[object, str]]:
    """Find the objects that have a reserved key, each with that key."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, dict) and not RESERVED.isdisjoint(part):
            yield part, min(RESERVED & part.keys())
        rest.extend(_parts(part))


def _write_reference(part: object) -> object:
    if isinstance(part, Reference):
        return part.as_value()
    raise TypeError(f"{type(part).__name__} is not a JSON type")


def _is_too_deep(value: object, encoded: bytes) -> bool:
    if encoded.count(b"[") + encoded.count(b"{") <= MAX_DEPTH:
        return False
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


_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
_encode = msgspec.json.Encoder(enc_hook=_write_reference).encode
_decode = msgspec.json.Decoder().decode
_strict = json.JSONEncoder(allow_nan=False, check_circular=False).encode


def is_same_json(one: object, other: object) -> bool:
    """Return whether two values are the same JSON; to Python, true is 1."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")
