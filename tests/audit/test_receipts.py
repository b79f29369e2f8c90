"""Receipts: who decided what, proved to a stranger who has nothing of ours but the public keys."""

from __future__ import annotations

import base64
import json
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover import Client, WrongState
from layover.admin import verify_receipt
from layover.errors import NotAllowed, NotFound
from layover.model.access import Caller
from layover.ports.access import AuditFilter
from layover.service.actor import Actor
from tests.api.harness import served
from tests.audit import stranger
from tests.audit.signing import NEVER, NEW, OLD, use
from tests.runtime.harness import approval, end, flow

if TYPE_CHECKING:
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

ASKED = flow(approval(approvers={"users": ["ada", "bob"]}, need=2), end("${nodes.review}"))
ADA, BOB, EVE = "ada:approver", "bob:approver", "eve:approver"


async def decided(api: Api) -> str:
    """Have two people decide; return the point."""
    await api.engine.workflows.register(ASKED)
    started = await api.engine.executions.start("flow", wait="rest")
    (row,) = await api.engine.points.list(started.id)
    for user, comment in ((ADA, "fine ü"), (BOB, "")):
        answered = await api.post(f"/approvals/{row.point.id}/approve", {"comment": comment}, as_=user)
        assert answered.status == 201
    return row.point.id


async def keys(api: Api) -> dict[str, Any]:
    found = await api.get("/.well-known/layover-keys.json", as_="")
    return dict(found.json)


async def test_a_stranger_can_check_a_receipt(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        early = await api.get(f"/pause-points/{point}/receipts/ada", as_=ADA)
        assert (early.status, early.code, early.headers["retry-after"]) == (409, "not_final", "2")
        await api.engine.instance.sealer.seal_all()
        receipt = (await api.get(f"/pause-points/{point}/receipts/ada", as_=ADA)).json
        assert set(receipt) == {"entry", "salt", "path", "seal", "view", "final_at", "key_id", "signature"}
        said = stranger.proved(receipt, await keys(api))
        assert said is not None
        assert (said["user"], said["act"], said["target"]) == ("ada", "approval.approve", point)
        assert said["credential"].startswith("key ")
        assert said["details"]["comment"] == "fine ü"
        assert said["after"] == {"approved": True}
        found = verify_receipt(json.dumps(receipt), keys=[json.dumps(await keys(api))])
        assert (found.problems, found.user, found.act) == ((), "ada", "approval.approve")


async def test_a_receipt_is_found_however_much_was_done_at_the_point(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        row = await api.engine.instance.store.queries.find_point(point)
        assert row is not None
        for who in ("ada", "bob"):
            actor = Actor(api.engine, Caller(user=who, roles=(), permissions=(), credential="key"))
            for _ in range(60):
                entry = actor.entry("point.claim", point, execution_id=row.execution_id)
                assert entry is not None
                await api.engine.instance.store.audit.write(entry)
        await api.engine.instance.sealer.seal_all()
        found = [await api.get(f"/pause-points/{point}/receipts/{who}", as_="root:admin") for who in ("ada", "bob")]
        several = await api.get(f"/pause-points/{point}/receipt", as_="root:admin")
        published = await keys(api)
        proved = [stranger.proved(one.json, published) for one in found]

    assert [one["user"] for one in proved if one is not None] == ["ada", "bob"]
    assert (several.status, several.code) == (404, "unknown_receipt")


async def test_a_receipt_holds_what_the_user_saw(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        await api.engine.workflows.register(flow(approval(title="Pay 5 €?"), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list(started.id)
        point = (await api.get(f"/pause-points/{row.point.id}", as_=ADA)).json
        seen = {"If-Match": f'"{point["view"]}"'}
        answered = await api.post(f"/approvals/{row.point.id}/approve", {}, as_=ADA, headers=seen)
        assert answered.status == 201
        await api.engine.instance.sealer.seal_all()
        receipt = (await api.get(f"/pause-points/{row.point.id}/receipts/ada", as_=ADA)).json
        published = await keys(api)
        said = stranger.proved(receipt, published)
        assert said is not None
        assert said["document"] == point["view"]
        assert receipt["view"]["title"] == "Pay 5 €?"
        changed = {**receipt, "view": {**receipt["view"], "title": "Pay 9 €?"}}
        assert stranger.proved(changed, published) is None
        assert not verify_receipt(json.dumps(changed), keys=[json.dumps(published)]).ok


async def test_a_decision_that_can_be_taken_back_has_no_receipt_yet(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        await api.engine.workflows.register(flow(approval(undo="1h"), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list(started.id)
        assert (await api.post(f"/approvals/{row.point.id}/approve", {}, as_=ADA)).status == 201
        await api.engine.instance.sealer.seal_all()
        early = await api.get(f"/pause-points/{row.point.id}/receipts/ada", as_=ADA)
        assert (early.status, early.code) == (409, "not_final")
        assert int(early.headers["retry-after"]) > 1_800  # it is that of the hour, and not of the seal


async def test_a_decision_that_is_final_has_a_receipt_that_says_since_when(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        await api.engine.workflows.register(flow(approval(undo="1s"), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list(started.id)
        assert (await api.post(f"/approvals/{row.point.id}/approve", {}, as_=ADA)).status == 201
        await api.engine.executions.wait(started.id)
        await api.engine.instance.sealer.seal_all()
        receipt = (await api.get(f"/pause-points/{row.point.id}/receipts/ada", as_=ADA)).json
        assert receipt["final_at"] is not None
        assert stranger.proved(receipt, await keys(api)) is not None


async def test_a_take_back_that_came_too_late_does_not_take_the_receipt_away(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        row = await api.engine.instance.store.queries.find_point(point)
        assert row is not None
        actor = Actor(api.engine, Caller(user="ada", roles=(), permissions=(), credential="key"))
        late = actor.entry("point.take_back", point, execution_id=row.execution_id)  # one that lost the race
        assert late is not None
        await api.engine.instance.store.audit.write(late)
        await api.engine.instance.sealer.seal_all()
        receipt = (await api.get(f"/pause-points/{point}/receipts/ada", as_=ADA)).json
        said = stranger.proved(receipt, await keys(api))
    assert said is not None
    assert said["act"] == "approval.approve"


async def test_a_decision_that_was_taken_back_has_no_receipt_and_the_one_after_it_has(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        await api.engine.workflows.register(flow(approval(undo="1h", approvers={"users": ["ada"]}), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list(started.id)
        path = f"/pause-points/{row.point.id}"
        codes = []
        for act in ("approve", "take-back", "reject"):
            where = f"{path}/{act}" if act == "take-back" else f"/approvals/{row.point.id}/{act}"
            assert (await api.post(where, {}, as_=ADA)).status in (200, 201)
            await api.engine.instance.sealer.seal_all()
            codes.append((await api.get(f"{path}/receipts/ada", as_=ADA)).code)
    assert codes == ["not_final", "unknown_receipt", "not_final"]


async def test_a_receipt_outlives_its_execution_and_its_key(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        await api.engine.instance.sealer.seal_all()
        before = (await api.get(f"/pause-points/{point}/receipt", as_=ADA)).json
        use(api.engine, NEW)
        await decided(api)
        await api.engine.instance.sealer.seal_all()
        (row,) = await api.engine.instance.store.audit.list_entries(AuditFilter(user="ada", target=point))
        assert await api.engine.instance.store.retention.purge([row.execution_id]) == 1
        after = (await api.get(f"/pause-points/{point}/receipt", as_=ADA)).json
        published = await keys(api)
        assert (before["entry"], before["seal"]) == (after["entry"], after["seal"])
        assert before["key_id"] != after["key_id"]
        assert stranger.proved(before, published) == stranger.proved(after, published) is not None
        first, second = published["keys"]
        assert (first["until"], second["until"]) == (second["since"], None)


async def test_one_s_own_receipt_is_for_everyone_and_those_of_others_for_auditors(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        point = await decided(api)
        await api.engine.instance.sealer.seal_all()
        assert (await api.get(f"/pause-points/{point}/receipts/bob", as_=ADA)).code == "forbidden"
        assert (await api.get(f"/pause-points/{point}/receipts/bob", as_="admin")).status == 200
        assert (await api.get(f"/pause-points/{point}/receipts/eve", as_=EVE)).code == "unknown_receipt"
        assert (await api.get(f"/pause-points/{point}/receipt", as_="admin")).code == "unknown_receipt"  # there are two
        assert (await api.get("/pause-points/nonsense/receipts/ada", as_=ADA)).code == "unknown_receipt"
        unsigned = (await api.get(f"/pause-points/{point}/receipts/ada", as_=ADA)).json
        assert (unsigned["key_id"], unsigned["signature"]) == (None, None)
        assert await keys(api) == {"keys": []}


async def test_python_gives_the_same_receipt(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        async with Client(api.url, api_key=await api.key_of(ADA)) as client:
            handle = await client.point(point)
            with pytest.raises(WrongState, match="not sealed") as early:
                await handle.receipt()
            assert (early.value.code, early.value.retry_after) == ("not_final", 2)
            await api.engine.instance.sealer.seal_all()
            receipt = await handle.receipt()
            published = await client.audit_keys()
            assert verify_receipt(receipt, keys=[published.keys[0].x]).ok
            with pytest.raises(NotAllowed):
                await handle.receipt("bob")
        async with Client(api.url, api_key=await api.key_of(EVE)) as client:
            with pytest.raises(NotFound):
                await (await client.point(point)).receipt()


async def test_whatever_is_changed_in_a_receipt_it_proves_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, audit_poll=NEVER) as api:
        use(api.engine, OLD)
        point = await decided(api)
        await api.engine.instance.sealer.seal_all()
        receipt = (await api.get(f"/pause-points/{point}/receipts/ada", as_=ADA)).json
        published = await keys(api)
    trusted = json.dumps(published)
    assert receipt["path"]  # two decisions are in the seal
    for changed in _changed(receipt):
        assert stranger.proved(changed, published) is None
        assert not verify_receipt(json.dumps(changed), keys=[trusted]).ok
    for broken in (b"", b"{}", b"[1]", b'{"entry": 1}', json.dumps({**receipt, "entry": "!"}).encode()):
        assert not verify_receipt(broken, keys=[trusted]).ok
    other = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
    assert not verify_receipt(json.dumps(receipt), keys=[other]).ok


def _changed(receipt: dict[str, Any]) -> list[dict[str, Any]]:
    entry = base64.b64decode(receipt["entry"]).replace(b"approval.approve", b"approval.reject ")
    seal, path = receipt["seal"], receipt["path"]
    sides = {"left": "right", "right": "left"}
    found = [
        {**receipt, "entry": base64.b64encode(entry).decode()},
        {**receipt, "salt": base64.b64encode(b"another").decode()},
        {**receipt, "path": path[:-1]},
        {**receipt, "path": [{**path[0], "side": sides[path[0]["side"]]}, *path[1:]]},
        {**receipt, "path": [{**path[0], "hash": "00" * 32}, *path[1:]]},
        {**receipt, "final_at": "2026-01-01T00:00:00.000Z"},
    ]
    for name, value in {
        "n": 9,
        "first": 9,
        "count": 9,
        "root": "00" * 32,
        "prev": "11" * 32,
        "head": "22" * 32,
    }.items():
        found.append({**receipt, "seal": {**seal, name: value}})
    found.append({**receipt, "seal": {**seal, "at": "2026-01-01T00:00:00.000Z"}})
    found.append({**receipt, "seal": {**seal, "signature": receipt["signature"]}})
    found.append({**receipt, "signature": seal["signature"]})
    return found
