"""The order is tested without a mail server, with time that passes at once, and with a crash at every moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from approve_order import MANAGERS, order_approval

from layover.testing import survives_crashes

if TYPE_CHECKING:
    from layover.testing import Layover

ORDER = {"order": "A-17", "amount": 2_500}


async def furnish(layover: Layover) -> None:
    await layover.register(order_approval())
    for user in (*MANAGERS, "ada"):
        await layover.save_person(user, addresses={"mail": f"{user}@example.org"})


def told(layover: Layover, kind: str) -> list[str]:
    return sorted(one.to for one in layover.sent if one.kind == kind)


async def approve(layover: Layover, *users: str) -> None:
    for user in users:
        for point in await layover.as_user(user, roles=["approver"]).inbox().all():
            await point.approve()


async def test_each_manager_is_asked_and_the_requester_told(layover: Layover) -> None:
    await furnish(layover)
    execution = await layover.as_user("ada", roles=["operator"]).start("order_approval", ORDER)
    assert told(layover, "pause.opened") == ["lea@example.org", "mia@example.org", "noa@example.org"]
    await approve(layover, "mia", "noa")
    await layover.settle()
    assert told(layover, "pause.answered") == ["ada@example.org"]
    assert (await execution.refresh()).output == "order A-17 is on its way"


async def test_only_who_has_not_decided_is_reminded(layover: Layover) -> None:
    await furnish(layover)
    await layover.start("order_approval", ORDER)
    await approve(layover, "mia")
    await layover.skip("4h")
    assert told(layover, "pause.reminded") == ["lea@example.org", "noa@example.org"]


async def test_mails_are_sent_once_the_server_takes_them(layover: Layover) -> None:
    await furnish(layover)
    layover.refuse("mail", times=4)
    await layover.start("order_approval", ORDER)
    assert len(told(layover, "pause.opened")) < len(MANAGERS)
    await layover.skip("10m")
    assert told(layover, "pause.opened") == ["lea@example.org", "mia@example.org", "noa@example.org"]


@survives_crashes(most=30)
async def test_a_crash_at_any_moment_loses_no_mail(layover: Layover) -> None:
    await furnish(layover)
    execution = await layover.as_user("ada", roles=["operator"]).start("order_approval", ORDER)
    await approve(layover, "mia", "noa")
    await layover.skip("5m")
    assert (await execution.refresh()).status == "completed"
    asked = told(layover, "pause.opened")
    assert {*asked} <= {f"{user}@example.org" for user in MANAGERS}
    assert told(layover, "pause.answered") == ["ada@example.org"]
