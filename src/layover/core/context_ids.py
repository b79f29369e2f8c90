"""Context ids: the position of a node in an execution, as one short text.

    review                      a node of the workflow itself
    review:orders.1:lines.3     in iteration 3 of `lines`, which runs in iteration 1 of `orders`
    settled:checks.payment      in the branch `payment` of `checks`
    charge:checks.payment/size  the value that the function of that node recorded under `size`

Node, container and branch ids are definition ids, indexes count from 0, and the outermost scope comes first. A branch
id starts with a letter and an index is a plain number, so the two cannot be taken for each other; neither can hold a
`:`, a `.` or a `/`. The key of a journal is any text of the author's: characters with a meaning in URLs are escaped
with `%`. So every position has exactly one id and every id names exactly one position: `parse_context_id` gives back
what `format_context_id` accepted, and a text that is not in this one form (`a:b.01`, `a/%41`) is not a context id.

The engine addresses nodes all the time, from ids that a definition's check has already read. It keeps the path of each
open scope as text and appends to it: `within`, `context_id` and `journal_id` build the same texts without validation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import msgspec

from layover.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_LENGTH = 4096
MAX_DEPTH = 100

_ID = r"[A-Za-z][A-Za-z0-9_-]*+"
_INDEX = r"(?:0|[1-9][0-9]{0,17}+)"
_ADDRESS = re.compile(rf"{_ID}(?::{_ID}\.(?:{_INDEX}|{_ID})){{0,{MAX_DEPTH}}}")
_LONGEST_SHOWN = 80


class MalformedContextId(InvalidInput):
    """A text that is not a context id, or parts that make none."""

    code = "malformed_context_id"


class ScopeStep(msgspec.Struct, frozen=True):
    """One iteration of a loop, or one branch of a parallel; the key is its index, or the id of a fixed branch."""

    container: str
    key: int | str


class ContextId(msgspec.Struct, frozen=True):
    """A node in its scopes, outermost first; with a key, an entry of that node's journal."""

    node: str
    scopes: tuple[ScopeStep, ...] = ()
    key: str | None = None


def format_context_id(place: ContextId) -> str:
    """Return the one text for a position; MalformedContextId if its parts could not be read back."""
    address = context_id(scope_path(place.scopes), place.node)
    text = address if place.key is None else f"{address}/{_escaped(place.key)}"
    # A separator inside an id, or a number as text, would give the address of another position.
    if len(text) > MAX_LENGTH or not _is_address(address) or _place(address, place.key) != place:
        raise _malformed(place)
    return text


def parse_context_id(text: str) -> ContextId:
    """Return the position that a text names; MalformedContextId if `format_context_id` would not write it like this."""
    if len(text) > MAX_LENGTH:
        raise _malformed(text)
    address, slash, escaped = text.partition("/")
    if not _is_address(address):
        raise _malformed(text)
    return _place(address, _unescaped(escaped, text) if slash else None)


def scope_path(scopes: Iterable[ScopeStep]) -> str:
    """Return the scopes alone, as in `orders.1:lines.3`; the workflow itself is the empty path."""
    return ":".join(f"{scope.container}.{scope.key}" for scope in scopes)


def within(path: str, container: str, key: int | str) -> str:
    """Return the path of a scope that a container opens inside the scope at `path`."""
    return f"{path}:{container}.{key}" if path else f"{container}.{key}"


def context_id(path: str, node: str) -> str:
    """Return the context id of a node in the scope at `path`."""
    return f"{node}:{path}" if path else node


def journal_id(context: str, key: str) -> str:
    """Return the context id of a journal entry of a node; MalformedContextId for a key that cannot be written."""
    text = f"{context}/{_escaped(key)}"
    if len(text) > MAX_LENGTH:
        raise _malformed(text)
    return text


def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def _place(address: str, key: str | None) -> ContextId:
    node, *scopes = address.split(":")
    return ContextId(node, tuple(map(_scope, scopes)), key)


def _scope(text: str) -> ScopeStep:
    container, _, key = text.partition(".")
    return ScopeStep(container, int(key) if key.isdecimal() else key)


def _escaped(key: str) -> str:
    # `quote` keeps letters, digits and `_.-~`. Half of a surrogate pair is not a character, and no store takes it.
    try:
        escaped = quote(key, safe="", errors="strict")
    except UnicodeEncodeError as error:
        raise _malformed(key) from error
    if not escaped:
        raise MalformedContextId("The key of a journal entry is empty.")
    return escaped


def _unescaped(escaped: str, text: str) -> str:
    try:
        key = unquote(escaped, errors="strict")
    except UnicodeDecodeError as error:
        raise _malformed(text) from error
    if not key or quote(key, safe="") != escaped:
        raise _malformed(text)
    return key


def _malformed(subject: object) -> MalformedContextId:
    shown = repr(subject)
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[:_LONGEST_SHOWN]}…"
    return MalformedContextId(
        f"{shown} is not a context id: write it like `review`, `review:orders.1:lines.3` or "
        f"`charge:checks.payment/size`, with at most {MAX_DEPTH} scopes and {MAX_LENGTH} characters."
    )


def renamed(context: str, names: Mapping[str, str]) -> str:
    """Return the context id of a node by other names, of itself and of the containers around it."""
    name, colon, path = context.partition(":")
    return f"{names.get(name, name)}{colon}{renamed_path(path, names)}"


def renamed_path(path: str, names: Mapping[str, str]) -> str:
    """Return the path of a scope by other names of the containers around it."""
    steps = [step.partition(".") for step in path.split(":")] if path else []
    return ":".join(f"{names.get(of, of)}.{key}" for of, _, key in steps)
