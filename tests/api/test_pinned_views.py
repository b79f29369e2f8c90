"""Pinned views over HTTP: the ETag of a point is what a person is shown; an answer may name it by If-Match."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import msgspec
import pytest

from tests.api.acting import ended, resting
from tests.api.harness import served
from tests.runtime.harness import approval, end, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

REVIEW = flow(
    approval(
        title="Pay ${input.total}?",
        shown={"total": "${input.total}"},
        leads_to={"approved": "pays ${input.total} EUR", "rejected": "mails the customer"},
        approvers={"users": ["mia", "ben"]},
        need=2,
    ),
    end("${nodes.review.decisions.map(d, d.by)}"),
)
ELSE = "0" * 64


async def test_the_etag_of_a_point_is_the_hash_of_its_view_and_the_problem_shows_that_view(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW, {"total": 8.5})
        point = execution["points"]["review"]
        paths = (f"/pause-points/{point}", f"/approvals/{point}", f"/executions/{execution['id']}/pause-points/review")
        read = [await api.get(path, as_="viewer") for path in paths]
        view = read[0].json["view"]
        assert {one.headers["etag"] for one in read} == {f'"{view}"'}
        assert read[0].json["leads_to"] == {"approved": "pays 8.5 EUR", "rejected": "mails the customer"}

        refused = await api.post(f"/approvals/{point}/approve", as_="mia:approver", headers={"If-Match": f'"{ELSE}"'})
        assert (refused.status, refused.code) == (412, "point_changed")
        difference = refused.json["difference"]
        assert (difference["seen"], difference["now"]) == (ELSE, view)
        assert sha256(msgspec.json.encode(difference["view"], order="sorted")).hexdigest() == view
        assert (await api.get(paths[0], as_="viewer")).json["decisions"] == []


async def test_each_decision_holds_what_was_seen_and_null_if_that_was_not_said(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW, {"total": 8})
        path = f"/approvals/{execution['points']['review']}"
        tag = (await api.get(path, as_="viewer")).headers["etag"]
        first = await api.post(f"{path}/approve", as_="mia:approver", headers={"If-Match": tag})
        second = await api.post(f"{path}/approve", as_="ben:approver", headers={"If-Match": "*"})
        assert [first.status, second.status] == [201, 201]
        assert await ended(api, execution["id"]) == ["mia", "ben"]
        told = (await api.get(path, as_="viewer")).json
        assert [one["seen"] for one in told["decisions"]] == [tag.strip('"'), None]


async def test_an_answer_to_a_form_holds_what_was_seen(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(title="Size?"), end("done")))
        path = f"/pause-points/{execution['points']['ask']}"
        tag = (await api.get(path, as_="viewer")).headers["etag"]
        refused = await api.post(
            f"{path}/answer", {"data": {"n": 1}}, as_="mia:approver", headers={"If-Match": f'"{ELSE}"'}
        )
        assert refused.status == 412
        taken = await api.post(f"{path}/answer", {"data": {"n": 1}}, as_="mia:approver", headers={"If-Match": tag})
        assert (taken.status, taken.json["seen"]) == (201, tag.strip('"'))
        await ended(api, execution["id"])
        assert (await api.get(path, as_="viewer")).json["seen"] == tag.strip('"')


@pytest.mark.parametrize("given", ['W/"x"', "x", '""', f'"{ELSE}", "{ELSE}"', f'W/"{ELSE}"'])
async def test_what_is_no_tag_of_a_point_is_refused_by_name(tmp_path: Path, given: str) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW, {"total": 8})
        path = f"/approvals/{execution['points']['review']}/approve"
        refused = await api.post(path, as_="mia:approver", headers={"If-Match": given})
        assert (refused.status, refused.code) == (400, "invalid_parameter")


async def test_a_key_belongs_to_what_was_seen(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, REVIEW, {"total": 8})
        path = f"/approvals/{execution['points']['review']}"
        tag = (await api.get(path, as_="viewer")).headers["etag"]
        key = {"Idempotency-Key": "k"}
        first = await api.post(f"{path}/approve", as_="mia:approver", headers={**key, "If-Match": f'"{ELSE}"'})
        again = await api.post(f"{path}/approve", as_="mia:approver", headers={**key, "If-Match": tag})
        assert [first.code, again.code] == ["point_changed", "idempotency_mismatch"]


async def test_of_many_pinned_and_unpinned_answers_at_once_only_those_that_saw_the_point_count(tmp_path: Path) -> None:
    users = [f"u{n}" for n in range(12)]
    rules: dict[str, Any] = {"approvers": {"users": users}, "need": 12}
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(**rules), end("done")))
        path = f"/approvals/{execution['points']['review']}"
        tag = (await api.get(path, as_="viewer")).headers["etag"]

        async def decide(n: int) -> int:
            seen = (tag, f'"{ELSE}"', "*")[n % 3]
            reply = await api.post(f"{path}/approve", as_=f"{users[n]}:approver", headers={"If-Match": seen})
            return reply.status

        statuses = await asyncio.gather(*map(decide, range(12)))
        assert statuses == [(201, 412, 201)[n % 3] for n in range(12)]
        told = (await api.get(path, as_="viewer")).json
        assert sorted(one["by"] for one in told["decisions"]) == sorted(u for n, u in enumerate(users) if n % 3 != 1)
