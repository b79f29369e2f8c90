"""The hashes of audit seals and receipts: leaves, Merkle roots and paths, heads, and what signatures cover.

The bytes are part of the format that `docs/reference/receipts.md` describes: a verifier that shares no code with this
one has to come to the same. All hashes are SHA-256. The tree is that of RFC 6962: a leaf begins with 0x00 and an inner
node with 0x01, so that neither can be taken for the other; the left part of n leaves is the largest power of two below.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from layover.core.moments import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

HASH_BYTES: Final = 32
NO_HEAD: Final = bytes(HASH_BYTES)  # `prev` of the first seal
_HEAD: Final = b"layover-audit-head-v1\0"
_SEAL: Final = b"layover-audit-seal-v1\0"
_RECEIPT: Final = b"layover-receipt-v1\0"
_PURGE: Final = b"layover-audit-purge-v1\0"
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

Side: TypeAlias = Literal["left", "right"]


class PathStep(NamedTuple):
    """The hash beside one's own on the way to the root, and the side on which it stands."""

    side: Side
    hash: bytes


def leaf_of(salt: bytes, entry: bytes) -> bytes:
    """Return the leaf of an audit entry."""
    return hashlib.sha256(b"\0" + salt + entry).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaves; of none it is the hash of nothing."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    level = list(leaves)
    while len(level) > 1:  # a node without a neighbour moves up: the same tree as by splitting at powers of two
        paired = [_node(level[n], level[n + 1]) for n in range(0, len(level) - 1, 2)]
        level = [*paired, level[-1]] if len(level) % 2 else paired
    return level[0]


def merkle_path(leaves: Sequence[bytes], index: int) -> tuple[PathStep, ...]:
    """Return the way from a leaf to the root."""
    steps: list[PathStep] = []
    level = list(leaves)
    while len(level) > 1:
        if index % 2:
            steps.append(PathStep("left", level[index - 1]))
        elif index + 1 < len(level):
            steps.append(PathStep("right", level[index + 1]))
        paired = [_node(level[n], level[n + 1]) for n in range(0, len(level) - 1, 2)]
        level = [*paired, level[-1]] if len(level) % 2 else paired
        index //= 2
    return tuple(steps)


def root_by_path(leaf: bytes, path: Sequence[PathStep]) -> bytes:
    """Return the root to which a path leads from a leaf."""
    found = leaf
    for side, other in path:
        found = _node(other, found) if side == "left" else _node(found, other)
    return found


def head_of(prev: bytes, n: int, root: bytes, first: int, count: int, at: int) -> bytes:
    """Return the head of a seal: it stands for the seal, and for all seals before it."""
    return hashlib.sha256(_HEAD + prev + b"%d\0" % n + root + b"%d\0%d\0" % (first, count) + _text(at)).digest()


def signed_by_seal(head: bytes) -> bytes:
    """Return what the signature of a seal covers."""
    return _SEAL + head


def signed_by_receipt(receipt: dict[str, object]) -> bytes:
    """Return what the signature of a receipt covers: everything else in it."""
    rest = {name: value for name, value in receipt.items() if name != "signature"}
    return _RECEIPT + canonical_json(rest)


def signed_by_purge(id_: str, through: int) -> bytes:
    """Return what the signature of retention covers: its entry, and up to which seal it deletes entries."""
    return _PURGE + f"{id_}\0{through}\0".encode()


def canonical_json(value: object) -> bytes:
    """Return JSON with sorted keys and no blanks, as UTF-8.

    It is written by the standard library, as a verifier in Python would do.
    """
    return _CANONICAL.encode(value).encode()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _text(at: int) -> bytes:
    return moment(at).encode() + b"\0"
