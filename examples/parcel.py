"""Executions and the world talk to each other: a callback, a child workflow, a signal.

    python examples/parcel.py [DATABASE]

An order asks the warehouse to pick its goods and waits to be called back; then it starts another workflow for the
parcel, which waits for the carrier's signal. The warehouse and the carrier are played by this program.
"""

from __future__ import annotations

import asyncio
import sys

from layover import Engine

ORDER = """
name: order
nodes:
  - id: pick
    type: callback
    call: ask_warehouse
    input: {order: "${input.order}", token: "${callback.token}"}
    deadline: 1d
    on_deadline: fail
    next: ship
  - {id: ship, type: workflow, workflow: parcel, input: {pallet: "${nodes.pick.pallet}"}}
"""
PARCEL = """
name: parcel
nodes:
  - {id: handed_over, type: wait_signal, signal: scanned, key: "${input.pallet}", lookback: 1h, next: done}
  - {id: done, type: end, output: {pallet: "${input.pallet}", at: "${nodes.handed_over.data.depot}"}}
"""

told: asyncio.Queue[str] = asyncio.Queue()  # what the warehouse hears


async def ask_warehouse(order: str, token: str) -> None:
    """Ask for goods to be picked; the holder of the token can reply."""
    print(f"warehouse: asked to pick {order}")
    await told.put(token)


async def main(database: str) -> None:
    """Play an order from its beginning to its end."""
    async with Engine(f"sqlite:///{database}", nodes=[ask_warehouse], workflows=[PARCEL, ORDER]) as engine:
        order = await engine.start("order", {"order": "A-17"}, until="rest")
        token = await told.get()
        print(f"order: {(await order.why()).summary}")

        await engine.callback(token).complete({"pallet": "P-4"})
        print("warehouse: picked")

        # The parcel may or may not have come to wait for it: it looks back for an hour.
        await engine.signal("scanned", {"depot": "Bremen"}, key="P-4", id="scan-1")
        print("carrier: scanned")
        print(f"order: {await order.result()}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "parcel.db"))
