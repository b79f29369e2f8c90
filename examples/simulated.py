"""A function that charges a card, simulated: does anybody pay twice when processes die and stand still?

    python examples/simulated.py

A call that is lost with its process is made again, since its last effect cannot be known. `charge_carelessly` charges
each time; a seed shows it, and says what it takes. `charge` gives the payment provider an idempotency key, and holds.
"""

from __future__ import annotations

import asyncio

from layover import NodeContext, node
from layover.testing import LawBroken, effect, simulate

ORDER = """
name: order
nodes:
  - {id: may_go, type: approval, title: Ship it?, next: {approved: pay, rejected: refused}}
  - {id: refused, type: end, outcome: refused}
  - {id: pay, type: charge, retry: {max_attempts: 3, delay: 1s}}
"""


@node(name="charge")
async def charge_carelessly() -> str:
    """Charge the card: here the real function would ask the payment provider."""
    effect("charge")
    await asyncio.sleep(2)
    return "paid"


@node
async def charge(context: NodeContext) -> str:
    """Charge the card under a key, which is the same each time that this call is made."""
    effect("charge", idempotency_key=context.idempotency_key)
    await asyncio.sleep(2)
    return "paid"


def main() -> None:
    """Simulate both."""
    try:
        simulate(ORDER, [charge_carelessly], seeds=range(10))
    except LawBroken as broken:
        law, takes = broken.broken[0].law, ", ".join(broken.faults)
        print(f"carelessly: {law} is broken by seed {broken.seed}; it takes {takes}")
        print("\n".join(str(broken).splitlines()[-4:]))
    done = simulate(ORDER, [charge], seeds=range(10))
    print(f"under a key: {done.seeds} seeds, {done.hours:.1f} virtual hours, and every law was kept")


if __name__ == "__main__":
    main()
