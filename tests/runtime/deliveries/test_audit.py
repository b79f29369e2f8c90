"""What operators do to destinations is in the audit log, also a test, which writes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.errors import NotAllowed

if TYPE_CHECKING:
    from layover.testing import Layover


async def test_a_test_of_a_destination_is_audited_before_it_is_sent(layover: Layover) -> None:
    admin, operator = layover.as_user("ada", ["admin"]), layover.as_user("olga", ["operator"])
    made = await admin.create_destination({"name": "erp", "kind": "webhook", "address": "https://erp.example/hook"})
    await made.test()
    with pytest.raises(NotAllowed):
        await operator.destination("erp")
    acts = [(entry.user, entry.act) async for entry in admin.audit(target="erp")]
    assert acts == [("ada", "destination.test"), ("ada", "destination.create")]
