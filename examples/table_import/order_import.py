"""Orders of a table: each new row becomes one execution, and the table is told how far it was read.

    python examples/table_import/order_import.py [DATABASE]

The cursor is the largest id that was read. Where many programs write, a row with a smaller id may be committed later:
so the source looks back a little, and rows that are known by their ids start nothing again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from layover import Batch, Engine, Item, Retry, Workflow, node, source

AT_ONCE = 500
LOOK_BACK = 100


@source
def new_orders(cursor: str | None, shop: str) -> Batch:
    """Return the rows behind the cursor, and once more those just before it."""
    last = int(cursor or 0)
    with closing(sqlite3.connect(shop)) as db:
        query = "SELECT id, customer, total FROM orders WHERE id > ? ORDER BY id LIMIT ?"
        rows = db.execute(query, (last - LOOK_BACK, AT_ONCE + LOOK_BACK)).fetchall()
    items = [Item(str(id_), {"order": id_, "customer": customer, "total": total}) for id_, customer, total in rows]
    newest = max([last, *(id_ for id_, _, _ in rows)])
    return Batch(items, cursor=str(newest), more=newest > last)


@new_orders.acknowledge
def note_progress(cursor: str, shop: str) -> None:
    """Note in the table of the shop how far its orders are safe with us; to do so twice does no harm."""
    with closing(sqlite3.connect(shop)) as db, db:
        db.execute("INSERT OR REPLACE INTO readers VALUES ('layover', ?)", (int(cursor),))


@node
def book(order: int, total: float, shop: str) -> str:
    """Book an order under its own key: to do so again does no harm."""
    with closing(sqlite3.connect(shop)) as db, db:
        db.execute("INSERT OR IGNORE INTO bookings VALUES (?, ?)", (order, total))
    return f"order {order} is booked"


def order_import(shop: Path) -> Workflow:
    """Return the workflow for the orders of a shop."""
    flow = Workflow("order_import")
    given = {"order": "${input.order}", "total": "${input.total}", "shop": str(shop)}
    flow.call("book", book, input=given, retry=Retry(max_attempts=5, delay="1s"))
    flow.on_poll("orders", new_orders, with_={"shop": str(shop)}, every="1s", filter="trigger.data.total > 0")
    return flow


def open_shop(shop: Path) -> None:
    """Make the tables of a shop, and let some customers order."""
    with closing(sqlite3.connect(shop)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL)")
        db.execute("CREATE TABLE IF NOT EXISTS bookings (id INTEGER PRIMARY KEY, total REAL)")
        db.execute("CREATE TABLE IF NOT EXISTS readers (name TEXT PRIMARY KEY, up_to INTEGER)")
        orders = [("ann", 10), ("bob", 0), ("carl", 32.5)]
        db.executemany("INSERT INTO orders (customer, total) VALUES (?, ?)", orders)


def read_up_to(shop: Path) -> tuple[int, int]:
    """Return the number of orders of a shop, and up to which one they were acknowledged."""
    with closing(sqlite3.connect(shop)) as db:
        (count,) = db.execute("SELECT max(id) FROM orders").fetchone()
        row = db.execute("SELECT up_to FROM readers WHERE name = 'layover'").fetchone()
    return count, row[0] if row is not None else 0


async def taken_over(engine: Engine, shop: Path) -> None:
    """Wait until all orders are acknowledged, and have started."""
    trigger = await engine.trigger("order_import/orders")
    while True:
        count, acknowledged = read_up_to(shop)
        if count == acknowledged and not await trigger.inputs(state="pending").all():
            return
        await asyncio.sleep(0.05)


async def main(shop: Path) -> None:
    """Take over the orders of a shop, and say so."""
    open_shop(shop)
    flow = order_import(shop)
    async with Engine(f"sqlite:///{shop}.layover", workflows=[flow]) as engine:
        known = {one.id async for one in engine.executions(workflow=flow.name)}
        await taken_over(engine, shop)
        new = [one.id async for one in engine.executions(workflow=flow.name) if one.id not in known]
        results = [await (await engine.execution(id_)).result() for id_ in new]
    print("\n".join(sorted(results)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "shop.db")))
