"""A subscription that lives for a month: a signal begins it, another one may end it, and else it is charged.

    python examples/monthly_subscription/subscription.py [DATABASE]

Run by hand, a month is two seconds long.
"""

from __future__ import annotations

import asyncio
import sys

from layover import Engine, node

DEFINITION = """
name: subscription
triggers:
  - name: signed_up
    type: signal
    signal: customer.signed_up
    id: "${trigger.data.customer}"
nodes:
  - {id: welcome, type: mail, input: {to: "${input.customer}", text: Welcome}, next: month}
  - id: month
    type: wait_signal
    signal: subscription.cancelled
    key: "${input.customer}"
    lookback: 1h
    deadline: MONTH
    on_deadline: expired
    next: {done: goodbye, expired: renew}
  - {id: renew, type: charge, input: {customer: "${input.customer}", amount: "${input.price}"}, next: renewed}
  - {id: renewed, type: end, output: renewed}
  - {id: goodbye, type: mail, input: {to: "${input.customer}", text: Goodbye}, next: cancelled}
  - {id: cancelled, type: end, output: cancelled}
"""

outbox: list[str] = []  # what the rest of the world would see
charges: dict[str, int] = {}


@node
async def mail(to: str, text: str) -> None:
    """Send a letter; one that is sent again after a crash says the same."""
    if (letter := f"{text}, {to}") not in outbox:
        outbox.append(letter)
        print(letter)


@node
async def charge(customer: str, amount: int) -> None:
    """Charge a customer, under a key of the month: to do so again does no harm."""
    if customer not in charges:
        charges[customer] = amount
        print(f"{customer} pays {amount}")


def subscription(month: str = "30d") -> str:
    """Return the workflow, with months of some length."""
    return DEFINITION.replace("MONTH", month)


async def main(database: str) -> None:
    """Let two customers sign up, and one of them change her mind."""
    async with Engine(f"sqlite:///{database}", nodes=[mail, charge], workflows=[subscription("2s")]) as engine:
        for customer, price in (("Ann", 12), ("Ben", 15)):
            await engine.signal("customer.signed_up", {"customer": customer, "price": price}, id=f"sign-up-{customer}")
        await engine.signal("subscription.cancelled", key="Ann", id="cancelled-Ann")
        while len(found := await engine.executions(workflow="subscription").all()) < len("AB"):
            pass  # they are about to be started
        for one in found:
            execution = await (await engine.execution(one.id)).wait()
            print(f"{execution.input['customer']}: {execution.output}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "subscription.db"))
