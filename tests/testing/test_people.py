"""What people want to be told of, and in which language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from layover import InvalidInput
from layover.core.notifications import OCCASIONS
from layover.runtime.deliveries.default_texts import TextFacts, default_text

if TYPE_CHECKING:
    from layover.testing import Layover

ALL_OF_POINTS = ["pause.opened", "pause.reminded", "pause.asked", "pause.replied"]
ASKS: dict[str, Any] = {
    "name": "asks",
    "notify": [{"on": ALL_OF_POINTS, "to": ["people"], "via": "mail"}],
    "nodes": [
        {"id": "ok", "type": "approval", "title": "May it?", "approvers": {"users": ["ada", "ben"]}, "remind": ["1h"]}
    ],
}


async def people(layover: Layover, **of_ada: Any) -> None:
    await layover.save_person("ada", addresses={"mail": "ada@example.org"}, **of_ada)
    await layover.save_person("ben", addresses={"mail": "ben@example.org"})
    await layover.save_person("zoe", addresses={"mail": "zoe@example.org"})


def told(layover: Layover) -> list[tuple[str, str]]:
    return sorted((one.kind, one.to) for one in layover.sent)


async def test_a_muted_kind_is_not_delivered_and_why_says_so(layover: Layover) -> None:
    await people(layover, mute=["pause.reminded"])
    execution = await layover.start(ASKS)
    await layover.skip("1h")
    assert told(layover) == [
        ("pause.opened", "ada@example.org"),
        ("pause.opened", "ben@example.org"),
        ("pause.reminded", "ben@example.org"),
    ]
    why = await (await execution.point("ok")).why()
    assert "ada was not told by `mail` (pause.reminded): they have muted it." in str(why)


async def test_all_can_be_muted(layover: Layover) -> None:
    await people(layover, mute=["all"])
    await layover.start(ASKS)
    assert told(layover) == [("pause.opened", "ben@example.org")]


async def test_an_unknown_kind_cannot_be_muted(layover: Layover) -> None:
    with pytest.raises(InvalidInput):
        await layover.save_person("ada", mute=["pause.remind"])


async def test_each_person_reads_the_default_text_in_their_language(layover: Layover) -> None:
    await people(layover, language="de-AT")
    await layover.start(ASKS)
    await layover.skip("1h")
    subjects = {one.to: one.subject for one in layover.sent if one.kind == "pause.reminded"}
    assert subjects == {"ada@example.org": "Erinnerung: May it?", "ben@example.org": "Reminder: May it?"}


async def test_each_person_reads_the_deadline_in_their_zone(layover: Layover) -> None:
    await people(layover, zone="Asia/Kolkata")
    execution = await layover.start(ASKS)
    deadline = (await execution.point("ok")).deadline
    assert deadline is not None
    texts = {one.to: one.text for one in layover.sent}
    assert f"Until: {deadline:%Y-%m-%d %H:%M} UTC\n" in texts["ben@example.org"]
    there = deadline.astimezone(ZoneInfo("Asia/Kolkata"))
    assert f"Until: {there:%Y-%m-%d %H:%M} (Asia/Kolkata)\n" in texts["ada@example.org"]


async def test_a_question_is_told_to_whom_it_goes_and_the_reply_to_who_asked(layover: Layover) -> None:
    await people(layover)
    await layover.register(ASKS)
    execution = await layover.as_user("zoe", ["operator"]).start("asks")
    id_ = (await execution.point("ok")).id
    await (await layover.as_user("ada", ["approver"]).point(id_)).ask("Which one?")
    await (await layover.as_user("zoe", ["viewer"]).point(id_)).reply("This one.")
    talk = [one for one in layover.sent if one.kind in ("pause.asked", "pause.replied")]
    assert [(one.kind, one.to) for one in talk] == [
        ("pause.asked", "zoe@example.org"),
        ("pause.replied", "ada@example.org"),
    ]
    assert "Which one?" in talk[0].text
    assert "This one." in talk[1].text


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", OCCASIONS)
def test_every_kind_has_a_text_in_every_language(kind: str, language: str) -> None:
    facts = TextFacts(event={}, point={"title": "T"}, execution={}, workflow="w", link="")
    assert default_text(kind, facts, language).subject != kind
