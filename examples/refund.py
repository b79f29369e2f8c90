"""A refund that waits for a person: it pauses, survives the end of its process, and goes on exactly there.

Run it twice and look at what it prints: the first run starts a refund and stops while it waits for an approval. The
second finds it where it stood, approves it, and shows what became of it. No server is needed; the truth is one file.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from layover import Engine

WORKFLOW = """
name: refund
input: {type: object, required: [order, amount]}
nodes:
  - {id: look_up, type: find_payment, input: {order: "${input.order}"}, next: large}
  - {id: large, type: condition, if: input.amount > 100, next: {true: review, false: pay}}
  - id: review
    type: approval
    title: Refund ${input.amount} for order ${input.order}?
    approvers: {roles: [manager]}
    deadline: 2d
    on_deadline: reject
    next: {approved: pay, rejected: refused}
  - {id: refused, type: end, outcome: refused, reason: "${nodes.review.comment}"}
  - id: pay
    type: pay_back
    input: {payment: "${nodes.look_up.payment}", amount: "${input.amount}"}
    timeout: 10s
    retry: {max_attempts: 3}
"""


async def find_payment(order: str) -> dict[str, str]:
    """Find the payment of an order."""
    return {"payment": f"payment-of-{order}"}


def pay_back(payment: str, amount: float) -> dict[str, object]:
    """Pay an amount back; an ordinary function runs in a thread."""
    return {"payment": payment, "paid_back": amount}


async def main(database: Path) -> None:
    """Start a refund, or go on with the one that waits."""
    async with Engine(f"sqlite:///{database}", nodes=[find_payment, pay_back], workflows=[WORKFLOW]) as engine:
        mia = engine.as_user("mia", ["approver", "manager"])
        waiting = await mia.inbox().all()
        if not waiting:
            execution = await engine.start("refund", {"order": "A-17", "amount": 250}, until="people")
            print(f"{execution.id} is {execution.status}: {(await execution.why()).summary}")
            print("This process ends now. Run it again to approve.")
            return
        for point in waiting:
            print(f"{point.execution_id} still waits for: {point.title}")
            await point.approve(comment="fine")
            execution = await engine.execution(point.execution_id)
            print(f"  approved, and it gave {await execution.result()}")
            async for node in execution.nodes():
                print(f"  {node.context_id:<8} {node.type:<13} {node.status:<10} attempts: {node.attempt or '-'}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "refund.db")))
