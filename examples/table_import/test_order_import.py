"""The orders of a table are tested without waiting, and with a crash at every moment."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from order_import import open_shop, order_import, read_up_to

from layover.testing import survives_crashes

if TYPE_CHECKING:
    from pathlib import Path

    from layover.testing import Layover


def bookings_in(shop: Path) -> list[int]:
    with closing(sqlite3.connect(shop)) as db:
        return [id_ for (id_,) in db.execute("SELECT id FROM bookings ORDER BY id")]


async def test_each_order_is_booked_once(layover: Layover, tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    open_shop(shop)
    await layover.register(order_import(shop))
    await layover.settle()
    assert (bookings_in(shop), read_up_to(shop)) == ([1, 3], (3, 3))
    open_shop(shop)
    await layover.skip("1s")
    assert (bookings_in(shop), read_up_to(shop)) == ([1, 3, 4, 6], (6, 6))
    assert len(await layover.executions(workflow="order_import").all()) == 4


async def test_an_order_that_is_committed_late_is_not_lost(layover: Layover, tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    open_shop(shop)
    with closing(sqlite3.connect(shop)) as db, db:
        db.execute("INSERT INTO orders VALUES (9, 'dora', 5)")
    await layover.register(order_import(shop))
    await layover.settle()
    with closing(sqlite3.connect(shop)) as db, db:
        db.execute("INSERT INTO orders VALUES (8, 'emil', 5)")
    await layover.skip("1s")
    assert bookings_in(shop) == [1, 3, 8, 9]


@survives_crashes(most=30)
async def test_a_crash_at_any_moment_books_each_order_once(layover: Layover, tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    shop.unlink(missing_ok=True)
    open_shop(shop)
    await layover.register(order_import(shop))
    await layover.skip("10s")
    assert (bookings_in(shop), read_up_to(shop)) == ([1, 3], (3, 3))
    assert len(await layover.executions(workflow="order_import").all()) == 2
