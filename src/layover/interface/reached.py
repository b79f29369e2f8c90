"""Whether an execution is as it was waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

if TYPE_CHECKING:
    from layover.interface.arguments import Until
    from layover.model.executions import Execution


def is_reached(found: Execution, until: Until) -> bool:
    """Return whether nothing more is to be waited for; one that only waits for time may have a response already."""
    if found.closed or until == "end":
        return found.closed
    if found.status == "waiting" and until == "people":
        return found.response is not UNSET
    return found.status in ("waiting", "paused")
