"""Another process on the same database: `python -m tests.api.approving <address> <execution>`.

It approves what an execution asks, drives it to its end, and ends.
"""

from __future__ import annotations

import asyncio
import sys

from layover import Engine


async def approve(address: str, execution_id: str) -> None:
    """Approve the only question of an execution, and wait for its end."""
    async with Engine(address) as engine:
        (point,) = (await engine.points(execution_id=execution_id).page()).items
        await point.approve()
        await (await engine.execution(execution_id)).result()


if __name__ == "__main__":
    asyncio.run(approve(*sys.argv[1:]))
