"""Compressed bodies of responses, decompressed in slices.

A megabyte of compressed data can be made so that it takes a second to read, although nothing comes out: fifty thousand
empty gzip members, or a hundred thousand empty blocks with a code table each. So the number of members is bounded, and
the event loop gets its turn after every slice.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Final

from layover.nodes.http_errors import HttpBadAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MEMBERS: Final = 100
_SLICE: Final = 16_384  # compressed bytes
_GZIP_OR_ZLIB: Final = 47
_WITHOUT_HEADER: Final = -15  # some servers send no header and call it deflate


async def decompress(raw: bytes, encoding: str, where: str, bound: Callable[[int], None]) -> bytes:
    """Return the decompressed body; `bound` raises if it is too large."""
    known = encoding.strip().lower()
    if known in ("", "identity") or not raw:
        return raw
    if known not in ("gzip", "x-gzip", "deflate"):
        raise HttpBadAnswer(f"{where} responded in the encoding `{known[:100]}`, which was not requested.")
    bare = known == "deflate" and (raw[0] & 0x0F != 8 or int.from_bytes(raw[:2], "big") % 31 != 0)
    try:
        return await _members(raw, _WITHOUT_HEADER if bare else _GZIP_OR_ZLIB, where, bound)
    except zlib.error as error:
        raise HttpBadAnswer(f"{where} responded with a body that is not valid `{known}`.") from error


async def _members(raw: bytes, window: int, where: str, bound: Callable[[int], None]) -> bytes:
    found = bytearray()
    view, position = memoryview(raw), 0
    for _ in range(MAX_MEMBERS):
        member = zlib.decompressobj(window)
        while not member.eof:
            piece = view[position : position + _SLICE]
            if not piece:
                raise HttpBadAnswer(f"{where} responded with a body that is cut off.")
            await _inflate(member, piece, found, bound)
            position += len(piece) - len(member.unused_data)
        if position == len(raw):
            return bytes(found)
    raise HttpBadAnswer(f"{where} responded with a body of more than {MAX_MEMBERS} compressed members.")


async def _inflate(
    member: zlib._Decompress, piece: memoryview | bytes, found: bytearray, bound: Callable[[int], None]
) -> None:
    """Append the output of a slice, in bounded portions: a slice can expand to 16 MB."""
    while piece and not member.eof:
        found += member.decompress(piece, _SLICE * 4)
        bound(len(found))
        piece = member.unconsumed_tail
        await asyncio.sleep(0)
