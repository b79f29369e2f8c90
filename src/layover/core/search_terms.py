"""Search terms: the keys of the index by which executions are found by values at paths.

A term is 17 bytes: the hash of a path, the type of the value there, and the value. Numbers are stored so that their
bytes are ordered as they are, and a range of numbers is a range of terms. Texts are stored as hashes: they are found
if they are equal, and the index holds no text. A step into an array leaves no trace of where it went, and neither
does a member whose name is a number: one term stands for `items.0.sku`, for containment in `items`, and for other
places.

A term only says where to look: different values may share one. All that is found is compared with the condition
itself. What has too many values has a term that says so (`anything`), and is looked at in every search below its
path. A null has no term, and is not searched by: very many have one where any has.

How terms are made is part of the database: a release that changes it marks all executions, by a migration.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from math import inf, isfinite
from struct import Struct, pack
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from layover.core.conditions import PathCondition

Terms: TypeAlias = frozenset[bytes]
Path: TypeAlias = tuple[str, ...]

TERM_BYTES: Final = 17
MOST_TERMS: Final = 256  # of an execution
_MOST_AT_PATH: Final = 32  # values; a path with more, such as that of a long list, has `anything`
_MOST_VALUES: Final = 2_000  # that are looked at below one path
_MOST_LOOKED_AT: Final = 10_000  # values of an execution
_MOST_DEPTH: Final = 40  # a little deeper than the inputs that are found at all
_MOST_WANTED: Final = 20  # values of one condition that are looked for: each is as good as the others

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})  # of most values; others are asked for what they are
_ROOT: Final = bytes(8)
_ORDERED: Final = Struct(">Q")
_SIGN: Final = 1 << 63
_ANYTHING: Final = b"\x00" + bytes(8)
_TRUE, _FALSE, _NULL = b"b" + b"\x01" + bytes(7), b"b" + bytes(8), b"n" + bytes(8)
_NUMBER: Final = b"f"
_LOWEST, _HIGHEST = _NUMBER + bytes(8), _NUMBER + b"\xff" * 8


class TermSearch(NamedTuple):
    """Where the index has all executions that may fulfil a condition: at some terms, and from a first to a last one."""

    exact: tuple[bytes, ...]
    first: bytes | None = None
    last: bytes | None = None


def terms_of(documents: Iterable[tuple[Path, object]], incomplete: Iterable[Path] = ()) -> Terms:
    """Return the terms of documents, each below a path; what is below an `incomplete` path may be anything."""
    found: dict[Path, set[bytes]] = {}
    left = _MOST_LOOKED_AT
    for path, document in documents:
        terms, looked_at = _terms_below(path, document, min(left, _MOST_VALUES))
        left -= looked_at
        found.setdefault(path, set()).update(terms)
    for path in incomplete:
        found[path] = {_anything(path)}
    if len(found) > MOST_TERMS:  # each path has one term at least: those that begin alike are taken together
        together: dict[Path, set[bytes]] = {}
        for path, terms in found.items():
            together.setdefault(path[:1], set()).update(terms)
        found = together
    total = sum(map(len, found.values()))
    for path in sorted(found, key=lambda one: (-len(found[one]), one)):  # the largest say the least for their size
        if total <= MOST_TERMS:
            break
        total -= len(found[path]) - 1
        found[path] = {_anything(path)}
    return frozenset().union(*found.values())


def searches_of(condition: PathCondition) -> Iterator[TermSearch]:
    """Return searches, each of which finds all documents that may fulfil a condition; none if the index has no way."""
    path, op, value = condition.path, condition.op, condition.value
    if len(path) > _MOST_DEPTH:
        return
    if op == "=":
        for count, (inner, leaf) in enumerate(_leaves(path, value)):
            if count >= _MOST_WANTED:
                return
            encoded = _encoded(leaf)
            if encoded is not None and encoded != _NULL and len(inner) <= _MOST_DEPTH:
                yield TermSearch((_hash_of(inner) + encoded, *_anything_around(inner)))
    elif op not in ("!=", "~") and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        at, bound = _hash_of(path), _encoded(value)
        if bound is not None and bound != _NULL:
            first, last = (at + bound, at + _HIGHEST) if op in (">", ">=") else (at + _LOWEST, at + bound)
            yield TermSearch(tuple(_anything_around(path)), first, last)


def below(search: TermSearch, path: Path) -> TermSearch:
    """Return a search that also finds what may be anything below another path."""
    return search._replace(exact=(*search.exact, _anything(path)))


def _terms_below(path: Path, document: object, most: int) -> tuple[set[bytes], int]:
    """Return the terms of a document, and how many values were looked at."""
    values: dict[bytes, set[bytes]] = {}
    stack: list[tuple[bytes, int, object]] = [(_hash_of(path), len(path), document)]
    looked_at = 1
    while stack:
        here, depth, value = stack.pop()
        if type(value) not in _SCALARS and isinstance(value, Mapping | list | tuple):
            looked_at += len(value)
            if looked_at > most:
                return {_anything(path)}, most
            if depth >= _MOST_DEPTH:
                values.setdefault(here, set()).add(_ANYTHING)
            elif isinstance(value, Mapping):
                stack += [(_member(here, str(name)), depth + 1, part) for name, part in value.items()]
            else:
                inner = _element(here)
                stack += [(inner, depth + 1, part) for part in value]
        elif (encoded := _encoded(value)) != _NULL:
            values.setdefault(here, set()).add(_ANYTHING if encoded is None else encoded)
    terms = {
        here + one for here, found in values.items() for one in (found if len(found) <= _MOST_AT_PATH else (_ANYTHING,))
    }
    return terms, looked_at


def _leaves(path: Path, wanted: object) -> Iterator[tuple[Path, object]]:
    """Return the scalars that a wanted value has, with their paths; an empty object or array has none."""
    stack: list[tuple[Path, object]] = [(path, wanted)]
    while stack:
        here, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [((*here, str(name)), part) for name, part in value.items()]
        elif isinstance(value, list):
            stack += [((*here, "0"), part) for part in value]
        else:
            yield here, value


def _encoded(value: object) -> bytes | None:
    """Return the type and value of a scalar; None for anything that JSON does not have."""
    if isinstance(value, str):
        return b"s" + blake2b(value.encode(errors="surrogatepass"), digest_size=8).digest()
    if value is None:
        return _NULL
    if value is True:
        return _TRUE
    if value is False:
        return _FALSE
    if not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        number = inf if value > 0 else -inf
    if isinstance(value, float) and not isfinite(value):
        return _NULL  # as it compares
    (bits,) = _ORDERED.unpack(pack(">d", number + 0.0))  # -0.0 becomes 0.0
    return _NUMBER + _ORDERED.pack(bits ^ _SIGN if bits < _SIGN else bits ^ (2 * _SIGN - 1))


def _hash_of(path: Sequence[str]) -> bytes:
    here = _ROOT
    for name in path:
        here = _member(here, name)
    return here


@lru_cache(maxsize=4_096)
def _member(at: bytes, name: str) -> bytes:
    if name.isascii() and name.isdigit():
        return _element(at)
    return blake2b(at + b"." + name.encode(errors="surrogatepass"), digest_size=8).digest()


@lru_cache(maxsize=1_024)
def _element(at: bytes) -> bytes:
    return blake2b(at + b"[", digest_size=8).digest()


def _anything(path: Path) -> bytes:
    return _hash_of(path) + _ANYTHING


def _anything_around(path: Path) -> Iterator[bytes]:
    """Return the terms by which what is at a path may be anything: those of the path, and of all paths around it."""
    here = _ROOT
    yield here + _ANYTHING
    for name in path:
        here = _member(here, name)
        yield here + _ANYTHING
