"""The decision page over HTTP: what is asked is shown, forms decide, and every state is said in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api.acting import acts, ended, points_of, resting
from tests.api.decision_visits import Visitor, served_links, visitor_with_link
from tests.runtime.harness import approval, end, flow, form

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

HOSTILE = "<script>alert(1)</script>\u202e\"'><img src=x onerror=alert(1)>"
REFUND: dict[str, Any] = {
    "title": "Refund ${input.amount} for order ${input.order}?",
    "shown": {"order": "${input.order}", "amount": "${input.amount}", "items": "${input.items}"},
    "approvers": {"users": ["ann", "ben"]},
    "deadline": "48h",
    "on_deadline": "reject",
    "leads_to": {"approved": "pays the customer", "rejected": "tells the customer why"},
}
MACHINE = {
    "type": "object",
    "properties": {
        "model": {"type": "string", "title": "Model", "enum": ["light", "strong"]},
        "memory": {"type": "integer", "minimum": 8, "description": "In GB."},
        "price": {"type": "number"},
        "from": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "mail": {"type": "string", "format": "email"},
        "quiet": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "extras": {"type": "array", "items": {"enum": ["mouse", "dock"]}},
        "other": {"type": "object", "properties": {"x": {"type": "integer"}}},
    },
    "required": ["model", "memory"],
}


async def asked(api: Api, node: dict[str, object], given: object = None, user: str = "ann") -> tuple[str, Visitor]:
    """Come to where a person is asked; return the execution, and the person with a link."""
    started = await resting(api, flow(node, end("${nodes." + str(node["id"]) + "}")), given)
    [point] = started["points"].values()
    return started["id"], await visitor_with_link(api, point, user)


async def test_the_page_shows_what_is_asked_and_where_each_button_leads(tmp_path: Path) -> None:
    given = {"order": "A-2", "amount": 180, "items": [{"name": "Lamp", "count": 2}]}
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, approval(**REFUND), given)
        read = await ann.read()

    assert read.status == 200
    assert "Refund 180 for order A-2?" in read.text
    for said in ("Order A-2", "Amount 180", "Name Lamp", "Then: pays the customer", "Then: tells the customer why"):
        assert said in read.text
    assert "Asked: ann and ben." in read.text
    assert "hours left). Then it counts as rejected." in read.text.replace("2 days", "48 hours")
    assert "UTC" in read.text
    assert read.buttons == ["approve", "reject", "claim", "delegate"]
    assert len(read.named("h1")) == 1
    assert read.named("script") == []
    assert read.headers["referrer-policy"] == "no-referrer"
    assert read.headers["cache-control"] == "no-store"
    assert len(read.markup) < 15_000


async def test_a_form_decides_once_and_the_page_says_it(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(**REFUND), {"order": 1, "amount": 2, "items": []})
        before = await ann.read()
        sent = await ann.send("approve", before, comment="Fine\nby me")
        again = await ann.send("approve", before)
        after = await ann.read()
        result = await ended(api, execution)
        entries = await api.get(f"/audit?execution_id={execution}")

    assert (sent.status, sent.headers["location"]) == (303, ann.path)
    assert again.status in (303, 409)
    assert "Approved" in after.text
    assert "You approved this on" in after.text
    assert after.forms == []
    assert (result["approved"], result["by"], result["comment"]) == (True, "ann", "Fine\nby me")
    [decision] = result["decisions"]
    assert decision["seen"], "what was shown is pinned"
    [entry] = [one for one in entries.json["items"] if one["act"] == "approval.approve"]
    assert (entry["user"], entry["credential"].split()[0]) == ("ann", "link")


async def test_reading_decides_nothing_however_often_and_by_whatever_method(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(**REFUND), {"order": 1, "amount": 2, "items": []})
        for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE") * 20:
            await ann.read(method)
        assert list((await points_of(api, execution)).values())
        assert [act for _, act, _ in await acts(api, execution)] == ["link.create"]


async def test_a_wrong_answer_is_422_with_what_was_typed_and_the_point_stays_open(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, form(schema=MACHINE))
        typed = {"data__model": "", "data__memory": "much", "data__other": "{x", "data__tags": HOSTILE}
        wrong = await ann.send("answer", None, **typed)
        misfit = await ann.send("answer", data__model="light", data__memory="4")
        still = await points_of(api, execution)
        right = await ann.send(
            "answer",
            misfit,
            data__memory="32",
            data__price="12.5",
            data__from="2026-11-18",
            data__at="2026-11-18T10:30",
            data__mail="ann@example.org",
            data__quiet="true",
            data__tags="one\n\ntwo",
            data__extras="dock",
            data__other='{"x": 1}',
        )
        result = await ended(api, execution)
        after = await ann.read()

    assert (wrong.status, misfit.status, right.status) == (422, 422, 303)
    assert "Answered by you" in after.text
    assert "Answer Model light Memory 32" in after.text
    invalid = [one["name"] for _, one in wrong.elements if one.get("aria-invalid") == "true"]
    assert invalid == ["data.model", "data.memory", "data.other"]
    assert wrong.forms[0]["data.memory"] == "much"
    assert wrong.forms[0]["data.tags"] == HOSTILE
    [summary] = [one for _, one in wrong.elements if one.get("id") == "problem"]
    assert (summary["role"], summary["tabindex"], "autofocus" in summary) == ("alert", "-1", True)
    assert [one["name"] for _, one in misfit.elements if one.get("aria-invalid") == "true"] == ["data.memory"]
    assert still
    assert result == {
        "model": "light",
        "memory": 32,
        "price": 12.5,
        "from": "2026-11-18",
        "at": "2026-11-18T10:30:00Z",
        "mail": "ann@example.org",
        "quiet": True,
        "tags": ["one", "two"],
        "extras": ["dock"],
        "other": {"x": 1},
    }


@pytest.mark.parametrize("schema", [True, {"type": "array"}, {"oneOf": [{"type": "object"}]}, {"type": "object"}])
async def test_a_schema_that_fields_cannot_show_is_answered_as_json(tmp_path: Path, schema: object) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, form(schema=schema))
        value = "[1]" if schema == {"type": "array"} else '{"a": [1]}'
        broken = await ann.send("answer", data__="{")
        sent = await ann.send("answer", data__=value)
        result = await ended(api, execution)

    assert (broken.status, sent.status) == (422, 303)
    assert result in ([1], {"a": [1]})


async def test_values_from_outside_are_text_wherever_they_stand(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "title": HOSTILE, "default": HOSTILE}}}
    node = approval(
        title="${input.text}",
        shown={"text": "${input.text}", "deep": "${input.deep}"},
        schema=schema,
        approvers={"users": ["ann", HOSTILE]},
        leads_to={"approved": "${input.text}"},
    )
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, node, {"text": HOSTILE, "deep": [{HOSTILE: HOSTILE}]})
        read = await ann.read()
        await ann.send("reject", comment=HOSTILE)
        after = await ann.read()

    for page in (read, after):
        assert page.named("script") == page.named("img") == []
        assert not [one for _, one in page.elements if any(name.startswith("on") for name in one)]
    assert "\u202e" not in read.text


async def test_huge_values_are_cut_and_said_to_be(tmp_path: Path) -> None:
    deep: object = "end"
    for _ in range(60):
        deep = [deep]
    given = {"long": "x" * 200_000, "many": list(range(5_000)), "deep": deep, "wide": {f"k{n}": n for n in range(900)}}
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, approval(title="${input.long}", shown="${input}"), given)
        read = await ann.read()

    assert read.status == 200
    assert len(read.markup) < 60_000
    assert "more characters)" in read.text
    assert "and 4,950 more" in read.text


async def test_a_quorum_shows_who_has_decided_and_what_is_missing(tmp_path: Path) -> None:
    node = approval(approvers={"users": ["ann", "ben", "cleo"]}, need=2)
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, node)
        ben = await visitor_with_link(api, (await points_of(api, execution))["review"], "ben")
        await ann.send("approve", comment="Looks right")
        mine, bens = await ann.read(), await ben.read()
        await ben.send("approve")
        after = await ann.read()

    assert "You have approved" in mine.text
    assert "1 of 2 approvals so far" in mine.text
    assert mine.forms == []
    assert "ann approved on" in bens.text
    assert "Looks right" in bens.text
    assert "Approved" in after.text


STATES = {
    "not_allowed": (approval(approvers={"users": ["ben"]}), "You are not asked"),
    "not_your_turn": (approval(approvers={"users": ["ben", "ann"]}, order="sequence", need=2), "It is not your turn"),
    "comment": (approval(comment="required"), "May it?"),
}


@pytest.mark.parametrize("name", ["not_allowed", "not_your_turn"])
async def test_a_visitor_who_may_not_decide_is_told_why_and_has_no_form(tmp_path: Path, name: str) -> None:
    node, said = STATES[name]
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, node)
        read = await ann.read()
        forged = await ann.send("approve", read)
        still = await points_of(api, execution)

    assert said in read.text
    assert read.forms == []
    assert forged.status == 403
    assert still


async def _cancel(api: Api, _execution: str, point: str) -> None:
    await api.post(f"/pause-points/{point}/cancel", {"reason": "not needed"})


async def _end(api: Api, execution: str, _point: str) -> None:
    await api.post(f"/executions/{execution}/cancel")


async def _other(api: Api, _execution: str, point: str) -> None:
    await api.post(f"/pause-points/{point}/answer", {"approved": False}, as_="ben:approver")


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (_cancel, "Cancelled: this is no longer needed"),
        (_end, "Cancelled: this is no longer needed"),
        (_other, "Rejected by ben ben rejected this on"),
    ],
    ids=["cancelled", "execution cancelled", "answered by another"],
)
async def test_a_point_that_is_over_says_so_and_takes_nothing(tmp_path: Path, happens: Any, said: str) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval())
        before = await ann.read()
        [point] = (await points_of(api, execution)).values()
        await happens(api, execution, point)
        sent = await ann.send("approve", before)
        after = await ann.read()

    assert sent.status == 409
    assert said in after.text
    assert said in sent.text
    assert after.forms == sent.forms == []


async def test_a_link_after_a_rewind_decides_nothing(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval())
        before = await ann.read()
        await api.post(f"/executions/{execution}/rewind", {"to": "review"})
        sent = await ann.send("approve", before)
        after = await ann.read()
        [point] = (await points_of(api, execution)).values()

    assert point not in ann.path
    assert sent.status == 409
    assert "Superseded: this question no longer counts" in after.text


async def test_a_page_says_that_what_was_decided_was_asked_again(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval())
        await ann.send("approve")
        await ended(api, execution)
        before = await ann.read()
        await api.post(f"/executions/{execution}/rewind", {"to": "review"})
        [point] = (await points_of(api, execution)).values()
        after, anew = await ann.read(), await (await visitor_with_link(api, point, "ann")).read()

    assert "Approved by you" in after.text
    said = "Since then it was asked again."
    assert [said in one.text for one in (before, after, anew)] == [False, True, False]


@pytest.mark.parametrize(
    ("on_deadline", "said"),
    [
        ("reject", "It was not decided in time, so it counts as rejected."),
        ("expired", "It was not decided in time, so it expires without an answer: asks the next one."),
    ],
)
async def test_a_deadline_that_has_passed_is_said_with_what_came_of_it(
    tmp_path: Path, on_deadline: str, said: str
) -> None:
    node = approval(deadline="1ms", on_deadline=on_deadline, leads_to={"expired": "asks the next one"})
    async with served_links(tmp_path) as api:
        wired = {**node, "next": dict.fromkeys(("approved", "rejected", "expired"), "finish")}
        await api.engine.workflows.register(flow(wired, end("done")))
        execution = (await api.post("/executions", {"workflow": "flow"})).json["id"]
        await ended(api, execution)
        row = await api.engine.points.find(execution, "review")
        assert row is not None
        ann = await visitor_with_link(api, row.point.id, "ann")
        after, late = await ann.read(), await ann.post({"act": "approve"})

    assert "Expired: the time to answer has passed" in after.text
    assert said in after.text
    assert after.forms == []
    assert late.status == 403


async def test_a_comment_that_is_needed_is_asked_for(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        _, ann = await asked(api, STATES["comment"][0])
        refused = await ann.send("reject")
        taken = await ann.send("reject", refused, comment="Too much")

    assert (refused.status, taken.status) == (422, 303)
    [area] = refused.named("textarea")
    assert area["aria-invalid"] == "true"


async def test_another_user_may_decide_in_ones_place(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(approvers={"users": ["ann"]}))
        empty = await ann.send("delegate", to="")
        sent = await ann.send("delegate", to="zoe")
        [point] = (await points_of(api, execution)).values()
        zoe = await visitor_with_link(api, point, "zoe")
        await zoe.send("approve")
        after = await ann.read()

    assert (empty.status, sent.status) == (422, 303)
    assert "zoe approved this" in after.text


async def test_an_answer_to_what_was_shown_before_is_refused_and_kept(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(**REFUND), {"order": 1, "amount": 2, "items": []})
        read = await ann.read()
        parts = read.forms[0]["view_parts"].split(".")
        old = {"seen": "0" * 64, "view_parts": ".".join([parts[0], "x", *parts[2:4], "y"])}
        changed = await ann.send("approve", read, comment="Yes", **old)
        still = await points_of(api, execution)

    assert changed.status == 412
    assert "The facts and the deadline changed since you opened this page." in changed.text
    assert changed.forms[0]["comment"] == "Yes"
    assert changed.forms[0]["seen"] != "0" * 64
    assert still


async def test_a_point_that_somebody_else_has_claimed_says_so_and_can_be_taken_over(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(approvers={"users": ["ann", "ben"]}))
        ben = await visitor_with_link(api, (await points_of(api, execution))["review"], "ben")
        bens = await ben.read()
        claimed = await ben.send("claim", bens)
        mine, his = await ann.read(), await ben.read()
        refused = await ann.send("approve", bens)
        early = await ann.send("claim", mine)
        taken = await ann.send("take", mine)
        now_mine = await ann.read()
        released = await ann.send("release", now_mine)
        sent = await ann.send("approve")

    assert claimed.status == 303
    assert "ben is at it" in mine.text
    assert mine.buttons == ["take"]
    assert "You have claimed this until" in his.text
    assert (refused.status, early.status) == (403, 409)
    assert (taken.status, released.status, sent.status) == (303, 303, 303)
    assert "release" in now_mine.buttons


async def test_a_question_goes_back_to_the_requester_who_replies_on_the_page(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        node = approval(approvers={"users": ["ann"]})
        await api.engine.workflows.register(flow(node))
        started = await api.post("/executions", {"workflow": "flow", "wait": "10s"}, as_="mia:operator")
        execution = started.json["id"]
        [point] = (await points_of(api, execution)).values()
        ann, mia = [await visitor_with_link(api, point, user) for user in ("ann", "mia")]
        page = await ann.read()
        empty = await ann.send("ask", page, question=" ")
        asked_back = await ann.send("ask", page, question=f"Which one? {HOSTILE}")
        hers = await mia.read()
        replied = await mia.send("reply", hers, reply="The blue one")
        after = await ann.read()

    assert (empty.status, asked_back.status, replied.status) == (422, 303, 303)
    assert "You are not asked" in hers.text
    assert "Which one?" in hers.text
    assert hers.buttons == ["reply"]
    assert "mia: The blue one" in after.text
    assert "approve" in after.buttons


async def test_a_decision_can_be_taken_back_on_the_page_while_it_is_not_final(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, ann = await asked(api, approval(undo="1h"))
        await ann.send("approve")
        decided = await ann.read()
        taken = await ann.send("take_back", decided)
        again = await ann.read()
        [point] = (await points_of(api, execution)).values()
        other = await visitor_with_link(api, point, "ben")
        others = await other.read()
        late = await other.send("take_back", others)
        await ann.send("reject", again)
        decided_anew = await other.read()

    assert decided.buttons == ["take_back"]
    assert "You can take it back until" in decided.text
    assert taken.status == 303
    assert "You have taken it back" in again.text
    assert "approve" in again.buttons
    assert "ann took back what they had said" in others.text
    assert "took back" not in decided_anew.text
    assert "Rejected by ann" in decided_anew.text
    assert late.status in (403, 409)
