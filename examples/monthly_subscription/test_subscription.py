"""The month of a subscription is skipped, and survives a crash at every moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from subscription import charge, charges, mail, outbox, subscription

from layover.testing import survives_crashes

if TYPE_CHECKING:
    from layover.testing import Layover


@pytest.fixture(autouse=True)
def nothing_happened() -> None:
    outbox.clear()
    charges.clear()


async def sign_up(layover: Layover, *customers: str) -> None:
    layover.nodes(mail, charge)
    await layover.register(subscription())
    for customer in customers:
        await layover.signal("customer.signed_up", {"customer": customer, "price": 12}, id=f"sign-up-{customer}")


async def outcomes(layover: Layover) -> dict[str, object]:
    ids = sorted([one.id async for one in layover.executions(workflow="subscription")])
    found = [await layover.execution(id_) for id_ in ids]
    return {one.input["customer"]: one.output for one in found}


async def test_a_month_that_is_not_cancelled_is_charged_at_its_end(layover: Layover) -> None:
    await sign_up(layover, "Ann")
    await layover.skip("29d")
    assert (outbox, charges) == (["Welcome, Ann"], {})
    await layover.skip("1d")
    assert (await outcomes(layover), charges) == ({"Ann": "renewed"}, {"Ann": 12})


async def test_a_customer_who_cancels_pays_nothing(layover: Layover) -> None:
    await sign_up(layover, "Ann", "Ben")
    await layover.skip("15d")
    await layover.signal("subscription.cancelled", key="Ann")
    await layover.skip("15d")
    assert await outcomes(layover) == {"Ann": "cancelled", "Ben": "renewed"}
    assert charges == {"Ben": 12}


async def test_who_signs_up_twice_has_one_subscription(layover: Layover) -> None:
    await sign_up(layover, "Ann")
    await layover.signal("customer.signed_up", {"customer": "Ann", "price": 12}, id="once-more")
    await layover.skip("30d")
    assert (await outcomes(layover), outbox) == ({"Ann": "renewed"}, ["Welcome, Ann"])


@survives_crashes(most=40)
async def test_a_crash_at_any_moment_changes_nothing(layover: Layover) -> None:
    outbox.clear()
    charges.clear()
    await sign_up(layover, "Ann", "Ben")
    await layover.signal("subscription.cancelled", key="Ann", id="cancelled-Ann")
    await layover.skip("31d")
    assert await outcomes(layover) == {"Ann": "cancelled", "Ben": "renewed"}
    assert (sorted(outbox), charges) == (["Goodbye, Ann", "Welcome, Ann", "Welcome, Ben"], {"Ben": 12})
