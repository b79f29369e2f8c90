"""Log lines of nodes as they are stored, and as they are shown."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import Moment
from layover.logs.capture import MOST_CHARACTERS, NODE_LOGGER, CapturedLine
from layover.model.executions import LogLine
from layover.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.view_records import LogChunk

_decoder = msgspec.json.Decoder(list[CapturedLine])


def pack_lines(lines: Sequence[CapturedLine]) -> bytes:
    """Return lines without credentials, as they are stored."""
    masked = [line._replace(text=redact(_whole_text(line.text), MOST_CHARACTERS)) for line in lines]
    return zlib.compress(msgspec.json.encode(masked))


def pack_all(attempts: Sequence[Sequence[CapturedLine]]) -> list[bytes]:
    """Return the lines of several attempts as they are stored."""
    return [pack_lines(lines) for lines in attempts]


def lines_of(chunk: LogChunk) -> list[LogLine]:
    """Return the lines of a chunk as they are shown; the first says how many are missing before them."""
    lines = [
        LogLine(
            context_id=chunk.node,
            attempt=chunk.attempt,
            at=Moment.of(line.at),
            level=line.level,
            logger=line.logger,
            text=line.text,
        )
        for line in _decoder.decode(zlib.decompress(chunk.body))
    ]
    if chunk.dropped:
        told = LogLine(
            context_id=chunk.node,
            attempt=chunk.attempt,
            at=lines[0].at if lines else Moment.of(chunk.at),
            level="warning",
            logger=NODE_LOGGER,
            text=f"{chunk.dropped:,} lines were dropped here: only so many are kept of an attempt.",
        )
        lines.insert(0, told)
    return lines


def _whole_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
