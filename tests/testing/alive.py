"""What tests of the kit itself look at: the engine inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime
    from layover.testing import Layover


async def alive(layover: Layover) -> Runtime:
    """Return the engine that is alive."""
    return await layover._world.engines.alive()  # noqa: SLF001 - what is tested is how it dies
