"""Progress as it is stored, and as it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import Moment
from layover.model.executions import Progress

if TYPE_CHECKING:
    from layover.ports.view_records import NodeProgress


class _Body(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    done: float
    total: float | None = None
    text: str = ""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Body)


def encode_progress(done: float, total: float | None, text: str) -> bytes:
    """Return a report as it is stored."""
    return _encoder.encode(_Body(done, total, text))


def progress_of(row: NodeProgress) -> Progress:
    """Return a report as it is shown."""
    body = _decoder.decode(row.body)
    return Progress(
        context_id=row.node,
        attempt=row.attempt,
        done=body.done,
        total=body.total,
        text=body.text,
        at=Moment.of(row.at),
    )
