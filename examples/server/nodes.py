"""What the nodes of the workflows in this folder, and of `order.yaml`, do."""

from __future__ import annotations


async def find_payment(order: str) -> str:
    """Find the payment of an order."""
    return f"payment of {order}"


def pay_back(payment: str, amount: float) -> str:
    """Pay an amount back; an ordinary function runs in a thread."""
    return f"{amount:.2f} of {payment} paid back"


async def charge_card(order: str, amount: float) -> str:
    """Charge the card of the customer; the result is the receipt."""
    return f"receipt for {order}: {amount}"


async def start_picking(reply_to: str) -> None:
    """Ask the warehouse to pick the goods, and to call back at an address when it has."""
    print(f"The warehouse is to call back at {reply_to}")
