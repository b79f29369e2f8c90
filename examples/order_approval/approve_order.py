"""An order that two of three managers approve, told by mail.

    python examples/order_approval/approve_order.py

Each manager gets a mail when the order waits, and the requester one when it is decided. The mails are sent by the
engine, at least once, also when its process dies; the workflow does not wait for them. The mail server here is a small
one of the example, which keeps what it gets.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from mail_server import mail_server

from layover import Engine, Settings, Workflow, node

if TYPE_CHECKING:
    from email.message import EmailMessage

MANAGERS = ("mia", "noa", "lea")


@node
def ship(order: str) -> str:
    """Ship an order; an ordinary function runs in a thread."""
    return f"order {order} is on its way"


def order_approval() -> Workflow:
    """Return the workflow: two managers of three, within a day, with a reminder."""
    flow = Workflow("order_approval")
    review = flow.approval(
        "review",
        title="Order ${input.order} costs ${input.amount}",
        users=MANAGERS,
        need=2,
        remind=["4h"],
        deadline="1d",
        on_deadline="reject",
    )
    shipped = flow.call("ship", ship, input={"order": "${input.order}"})
    refused = flow.end("refused", outcome="refused", reason="${nodes.review.comment}")
    review >> shipped
    review.rejected >> refused
    flow.notify(["pause.opened", "pause.reminded"], to="people", via="mail")
    flow.notify(["pause.answered"], to="requester", via="mail")
    return flow


def link_in(mail: EmailMessage) -> str:
    """Return the link in a mail, by which its addressee, and nobody else, reaches the page to decide on."""
    body = mail.get_body(("plain",))
    text = body.get_content() if body is not None else ""
    return next((line for line in text.splitlines() if line.startswith("https://")), "")


async def main(database: Path) -> None:
    """Order something, and have it approved."""
    async with mail_server() as server:
        mail = {"kind": "mail", "address": server.address, "from": "Orders <orders@example.org>"}
        # A server has the key in its environment, and serves the page that the links lead to.
        settings = Settings(
            destinations={"mail": mail}, link_key=token_hex(32), public_url="https://orders.example.org"
        )
        async with Engine(f"sqlite:///{database}", workflows=[order_approval()], settings=settings) as engine:
            for user in (*MANAGERS, "ada"):
                await engine.save_person(user, addresses={"mail": f"{user}@example.org"})
            ada = engine.as_user("ada", roles=["operator"])
            order = await ada.start("order_approval", {"order": "A-17", "amount": 2_500}, until="people")
            for one in await server.received(len(MANAGERS)):
                print(f"{one['to']}: {one['subject']}, {link_in(one)[:34]}…")
            for user in MANAGERS[:2]:
                (point,) = await engine.as_user(user, roles=["approver"]).inbox().all()
                await point.approve(comment="fine")
                print(f"{user} has approved")
            print(await (await engine.execution(order.id)).result())
            *_, last = await server.received(len(MANAGERS) + 1)
            print(f"{last['to']}: {last['subject']}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "orders.db")))
