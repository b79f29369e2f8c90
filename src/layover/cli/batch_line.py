"""How far a batch has come, while a command waits for it: in a terminal a bar, elsewhere a line at times."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.cli.screen import ERR, note
from layover.cli.tree import bar_of

if TYPE_CHECKING:
    from layover import BatchHandle, BatchInfo

_BETWEEN_LOOKS: Final = 0.3  # seconds
_BETWEEN_LINES: Final = 10.0
_AT_REST: Final = ("stopped", "completed", "failed")


async def follow(batch: BatchHandle, *, silent: bool) -> None:
    """Show how far a batch has come, until it is completed or stopped."""
    status = ERR.status("") if ERR.is_terminal and not silent else None
    loop = asyncio.get_running_loop()
    said_at = loop.time()
    try:
        while batch.status not in _AT_REST:
            if status is not None:
                status.start()
                status.update(f"{_bar(batch.info)}{sentence(batch.info)}")
            elif not silent and loop.time() - said_at >= _BETWEEN_LINES:
                said_at = loop.time()
                note(sentence(batch.info))
            await asyncio.sleep(_BETWEEN_LOOKS)
            await batch.refresh()
    finally:
        if status is not None:
            status.stop()


def sentence(batch: BatchInfo) -> str:
    """Return how far a batch is."""
    settled, failed = batch.done + batch.failed, batch.failed - batch.skipped
    parts = [f"{batch.act} {batch.status}: {settled:,} of {batch.total:,}"]
    parts += [f"{count:,} {what}" for what, count in (("skipped", batch.skipped), ("failed", failed)) if count]
    return f"{', '.join(parts)}. {batch.reason}".strip()


def _bar(batch: BatchInfo) -> str:
    settled = batch.done + batch.failed
    return f"{bar_of(settled, batch.total)} " if batch.total else ""
