"""The records of deliveries that the tests write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.notifications import NOTIFY
from layover.ports.delivery_records import DeliveryClaim, DeliveryRow, Settlement
from layover.ports.records import Message
from tests.stores.conformance import create, go_on, head, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

OPS = "ops-chat"
POSTER = 66


def notice(n: int = 1, *, sender: int = 1) -> Message:
    return Message(sender=uid(sender), n=n, destination=NOTIFY, kind=NOTIFY, body=b'{"kind":"x"}', due_at=500)


def delivery(k: int = 1, **more: object) -> DeliveryRow:
    return DeliveryRow(
        **{  # type: ignore[arg-type]  # each by its name
            "id": uid(1_000 + k),
            "execution_id": uid(1),
            "workflow": "order",
            "n": k,
            "destination": OPS,
            "kind": "pause.opened",
            "body": b'{"text":"hello"}',
            "created_at": 1_000 + k,
            "due_at": 1_000,
            **more,
        }
    )


def other_message(n: int = 1, **more: object) -> Message:
    """Return a message that a settlement writes."""
    return Message(
        **{  # type: ignore[arg-type]  # each by its name
            "sender": uid(77),
            "n": n,
            "destination": uid(1),
            "kind": "Delivered",
            "body": b"{}",
            "due_at": 500,
            **more,
        }
    )


async def post(store: Store, *rows: DeliveryRow) -> None:
    """Have deliveries be pending: what they come from was written by an execution that matters to no test."""
    message = await noticed(store, POSTER)
    assert await store.deliveries.expand(message, rows)


async def noticed(store: Store, n: int = 1) -> Message:
    """Have an execution write a message to be expanded; it is created if need be."""
    if await store.queries.find_execution(uid(n)) is None:
        await create(store, n)
    message = notice((await head(store, n)).last_seq + 1, sender=n)
    await go_on(store, n, messages=(message,))
    return message


def claiming(now: int = 1_000, **more: object) -> DeliveryClaim:
    return DeliveryClaim(
        **{  # type: ignore[arg-type]  # each by its name
            "destination": OPS,
            "now": now,
            "due_again": now + 45_000,
            "most": 10,
            **more,
        }
    )


async def claimed(store: Store, now: int = 1_000, **more: object) -> list[DeliveryRow]:
    return list((await store.deliveries.claim(claiming(now, **more))).deliveries)


async def claimed_one(store: Store, now: int = 1_000, **more: object) -> DeliveryRow:
    (row,) = await claimed(store, now, **more)
    return row


def settling(row: DeliveryRow, state: str = "sent", at: int = 1_100, **more: object) -> Settlement:
    return Settlement(
        **{  # type: ignore[arg-type]  # each by its name
            "id": row.id,
            "epoch": row.epoch,
            "at": at,
            "state": state,
            "health": "good" if state == "sent" else "unknown",
            **more,
        }
    )
