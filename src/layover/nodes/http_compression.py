"""Compressed bodies of answers, decompressed in slices.

A megabyte of compressed data can be made so that it takes a second to read, although nothing comes out: fifty thousand
empty gzip members, or a hundred thousand empty blocks with a code table each. So a body may have so many members, and
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
_WITHOUT_HEADER: Final = -15  # some servers send neither header and call it deflate


async def decompressed(raw: bytes, encoding: str, where: str, bound: Callable[[int], None]) -> bytes:
    """Return a body as it was before it was compressed; `bound` raises if that is too large."""
    known = encoding.strip().lower()
    if known in ("", "identity") or not raw:
        return raw
    if known not in ("gzip", "x-gzip", "deflate"):
        raise HttpBadAnswer(f"{where} answers in the encoding `{known[:100]}`, for which it was not asked.")
    bare = known == "deflate" and (raw[0] & 0x0F != 8 or int.from_bytes(raw[:2], "big") % 31 != 0)
    try:
        return await _members(raw, _WITHOUT_HEADER if bare else _GZIP_OR_ZLIB, where, bound)
    except zlib.error as error:
        raise HttpBadAnswer(f"{where} answers with what is not the `{known}` that it says.") from error


async def _members(raw: bytes, window: int, where: str, bound: Callable[[int], None]) -> bytes:
    found = bytearray()
    view, position = memoryview(raw), 0
    for _ in range(MAX_MEMBERS):
        member = zlib.decompressobj(window)
        while not member.eof:
            piece = view[position : position + _SLICE]
            if not piece:
                raise HttpBadAnswer(f"{where} answers with a body that is cut off.")
            await _inflate(member, piece, found, bound)
            position += len(piece) - len(member.unused_data)
        if position == len(raw):
            return bytes(found)
    raise HttpBadAnswer(f"{where} answers with a body of more than {MAX_MEMBERS} compressed members.")


async def _inflate(
    member: zlib._Decompress, piece: memoryview | bytes, found: bytearray, bound: Callable[[int], None]
) -> None:
    """Add what a slice stands for, never more than so much at once: a slice can stand for 16 MB."""
    while piece and not member.eof:
        found += member.decompress(piece, _SLICE * 4)
        bound(len(found))
        piece = member.unconsumed_tail
        await asyncio.sleep(0)
