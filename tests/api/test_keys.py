"""Keys: made and shown once, listed without being shown, ended, and changed for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.access import AuditFilter
from layover.service.api_keys import hash_of
from layover.service.permissions import PERMISSIONS
from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

ASKED: dict[str, Any] = {"name": "nightly import", "user": "ada", "roles": ["operator"]}
NOWHERE = "01999999-7c00-7000-8000-5d1e0f3a9b42"


async def me(api: Api, key: str) -> Answered:
    return await api.get("/me", as_="", headers={"x-api-key": key})


async def acts(api: Api) -> list[dict[str, Any]]:
    return list((await api.get("/audit")).json["items"])


async def test_a_key_is_shown_once_and_works(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        made = await api.post("/keys", {**ASKED, "scopes": ["execution:read"]})
        shown = await me(api, made.json["key"])
        listed = (await api.get("/keys")).json
        kept = await api.engine.instance.store.api_keys.find_by_hash(hash_of(made.json["key"]))
        [act] = await acts(api)

    assert made.status == 201
    assert made.json["key"].startswith(made.json["prefix"])
    assert made.json["expires_at"] is None
    assert (shown.json["user"], shown.json["permissions"]) == ("ada", ["execution:read"])
    [row] = listed["items"]
    assert listed["next"] is None
    assert {**row, "created_at": ""} == {
        "id": made.json["id"],
        "prefix": made.json["prefix"],
        "name": "nightly import",
        "user": "ada",
        "roles": ["operator"],
        "scopes": ["execution:read"],
        "created_at": "",
        "created_by": "admin",
        "expires_at": None,
        "ended_at": None,
    }
    assert kept is not None
    assert made.json["key"].encode() not in repr(kept).encode()
    assert (act["act"], act["user"], act["target"], act["credential"]) == (
        "key.add",
        "admin",
        made.json["id"],
        "admin key",
    )
    assert act["details"] == {"user": "ada", "roles": ["operator"], "scopes": ["execution:read"]}


async def test_a_key_may_end_by_itself(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        made = await api.post("/keys", {**ASKED, "expires_in": "90d"})
        row = await api.engine.instance.store.api_keys.find_by_hash(hash_of(made.json["key"]))

    assert row is not None
    assert row.expires_at == row.created_at + 90 * 86_400_000
    assert made.json["expires_at"].endswith("Z")


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("scopes", ["execution:read", "everything"], "scopes[1]"),
        ("expires_in", "0s", "expires_in"),
        ("expires_in", "soon", "expires_in"),
        ("expires_in", "-1d", "expires_in"),
        ("name", "", "name"),
        ("user", "", "user"),
        ("user", "x" * 256, "user"),
        ("user", "ada\n", "user"),
        ("user", "ada\0", "user"),
        ("roles", [""], "roles[0]"),
        ("roles", "operator", "roles"),
        ("key", "lay_mine", "key"),
    ],
)
async def test_a_key_that_cannot_be_made_is_not(tmp_path: Path, field: str, value: object, path: str) -> None:
    async with served(tmp_path) as api:
        answered = await api.post("/keys", {**ASKED, field: value})
        listed = (await api.get("/keys")).json

    assert (answered.status, answered.code) == (422, "invalid_body")
    assert [one["path"] for one in answered.json["errors"]] == [path]
    assert listed["items"] == []


async def test_a_user_cannot_grant_more_than_they_have(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        made = await api.post("/keys", {**ASKED, "user": "maker", "roles": ["admin"], "scopes": ["admin"]})
        headers = {"x-api-key": made.json["key"]}
        more = await api.post("/keys", ASKED, as_="", headers=headers)
        as_much = await api.post("/keys", {**ASKED, "roles": ["cfo"]}, as_="", headers=headers)
        other = await api.post("/keys", ASKED)
        rotated = await api.post(f"/keys/{other.json['id']}/rotate", as_="", headers=headers)
        still = await me(api, other.json["key"])

    assert (more.status, more.code) == (403, "forbidden")
    assert "execution:start" in more.json["detail"]
    assert as_much.status == 201
    assert (rotated.status, rotated.code, still.status) == (403, "forbidden", 200)


@pytest.mark.parametrize("role", ["viewer", "approver", "operator"])
async def test_only_an_admin_makes_keys(tmp_path: Path, role: str) -> None:
    async with served(tmp_path) as api:
        answered = [
            await api.post("/keys", ASKED, as_=role),
            await api.get("/keys", as_=role),
            await api.delete(f"/keys/{NOWHERE}", as_=role),
            await api.post(f"/keys/{NOWHERE}/rotate", as_=role),
            await api.get("/audit", as_=role),
        ]

    assert {(one.status, one.code) for one in answered} == {(403, "forbidden")}


async def test_a_deleted_key_is_refused_from_then_on(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        made = await api.post("/keys", ASKED)
        before = await me(api, made.json["key"])
        ended = await api.delete(f"/keys/{made.json['id']}")
        after = await me(api, made.json["key"])
        again = await api.delete(f"/keys/{made.json['id']}")
        [row] = (await api.get("/keys")).json["items"]
        told = [act["act"] for act in await acts(api)]

    assert (before.status, ended.status, ended.body, after.status) == (200, 204, b"", 401)
    assert (again.status, again.code) == (404, "unknown_key")
    assert row["ended_at"] is not None
    assert told == ["key.end", "key.add"]


@pytest.mark.parametrize(
    "id_", [NOWHERE, "none", "%00", "..%2f..", "00000000-0000-0000-0000-000000000000", "f" * 32, "%F0%9F%A6%86"]
)
async def test_a_key_that_is_not_there_cannot_be_ended(tmp_path: Path, id_: str) -> None:
    async with served(tmp_path) as api:
        await api.post("/keys", ASKED)
        ended = await api.delete(f"/keys/{id_}")
        rotated = await api.post(f"/keys/{id_}/rotate")

    assert (ended.status, rotated.status) == (404, 404)


async def test_a_key_is_changed_for_another_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        old = await api.post("/keys", {**ASKED, "scopes": ["execution:read"], "expires_in": "90d"})
        await me(api, old.json["key"])
        new = await api.post(f"/keys/{old.json['id']}/rotate")
        before, after = await me(api, old.json["key"]), await me(api, new.json["key"])
        first, second = (await api.get("/keys")).json["items"]
        again = await api.post(f"/keys/{old.json['id']}/rotate")
        [act, _] = await acts(api)

    assert (new.status, before.status, after.status) == (201, 401, 200)
    assert new.json["id"] != old.json["id"]
    same = ("name", "user", "roles", "scopes")
    assert [first[name] for name in same] == [second[name] for name in same]
    assert second["expires_at"] > second["created_at"]
    assert (again.status, again.code) == (404, "unknown_key")
    assert (act["act"], act["target"], act["details"]["by"]) == ("key.rotate", old.json["id"], new.json["id"])


async def test_the_old_key_works_for_a_while_if_that_is_asked_for(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        old = await api.post("/keys", ASKED)
        new = await api.post(f"/keys/{old.json['id']}/rotate", {"grace": "1h"})
        both = [(await me(api, one.json["key"])).status for one in (old, new)]
        rotated = await api.post(f"/keys/{old.json['id']}/rotate")
        ended = await api.delete(f"/keys/{old.json['id']}")
        after = await me(api, old.json["key"])
        wrong = await api.post(f"/keys/{new.json['id']}/rotate", {"grace": "a while"})

    assert both == [200, 200]
    assert rotated.status == 404
    assert (ended.status, after.status) == (204, 401)
    assert (wrong.status, wrong.code) == (422, "invalid_body")


async def test_the_same_request_again_makes_no_second_key_and_shows_none(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        made = await api.post("/keys", ASKED, key="once")
        again = await api.post("/keys", ASKED, key="once")
        listed = (await api.get("/keys")).json["items"]

    assert (again.status, again.headers["idempotency-replayed"]) == (201, "true")
    assert made.json["key"] is not None
    assert again.json == {**made.json, "key": None}
    assert [row["id"] for row in listed] == [made.json["id"]]


async def test_keys_come_in_pages(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        ids = [(await api.post("/keys", ASKED)).json["id"] for _ in range(5)]
        found: list[str] = []
        path: str | None = "/keys?limit=2"
        while path is not None:
            page = (await api.get(path)).json
            assert len(page["items"]) <= 2
            found += [row["id"] for row in page["items"]]
            path = f"/keys?limit=2&cursor={page['next']}" if page["next"] else None
        many = await api.get("/keys?limit=1000")
        wrong = [await api.get(f"/keys?limit={limit}") for limit in ("0", "-1", "many", "1.5", "9" * 5_000)]
        odd = [await api.get(f"/keys?cursor={cursor}") for cursor in ("x", "", "MSBub25l", "%00")]

    assert found == sorted(ids)
    assert len(many.json["items"]) == 5
    assert {(one.status, one.code) for one in wrong[:4]} == {(400, "invalid_parameter")}
    assert wrong[4].status in (200, 400)
    assert {one.status for one in odd} == {400}


async def test_me_lists_the_permissions_of_the_caller(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        admin, viewer, nobody = [await api.get("/me", as_=name) for name in ("admin", "viewer", "")]

    assert admin.json["permissions"] == sorted(PERMISSIONS)
    assert viewer.json["permissions"] == ["execution:read", "workflow:read"]
    assert nobody.status == 401


# What was done


async def test_what_was_done_is_listed_newest_first_and_found(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        maker = (await api.post("/keys", {**ASKED, "user": "maker", "roles": ["admin"]})).json["key"]
        made = await api.post("/keys", ASKED, as_="", headers={"x-api-key": maker, "x-request-id": "req-7"})
        await api.delete(f"/keys/{made.json['id']}")
        everything = (await api.get("/audit")).json["items"]
        by_user = (await api.get("/audit?user=maker")).json["items"]
        by_act = (await api.get("/audit?act=key.end")).json["items"]
        by_target = (await api.get(f"/audit?target={made.json['id']}")).json["items"]
        both = (await api.get(f"/audit?user=admin&target={made.json['id']}")).json["items"]
        nothing = (await api.get(f"/audit?execution_id={NOWHERE}")).json
        first = (await api.get("/audit?limit=2")).json
        second = (await api.get(f"/audit?limit=2&cursor={first['next']}")).json
        odd = await api.get("/audit?execution_id=none")
        cursor = await api.get("/audit?cursor=none")
        nul = await api.get("/audit?user=a%00")

    assert [act["act"] for act in everything] == ["key.end", "key.add", "key.add"]
    [act] = by_user
    assert (act["request_id"], act["target"], act["execution_id"]) == ("req-7", made.json["id"], None)
    assert act["credential"].startswith("key ")
    assert [act["act"] for act in by_act] == ["key.end"]
    assert [act["act"] for act in by_target] == ["key.end", "key.add"]
    assert [act["act"] for act in both] == ["key.end"]
    assert nothing == {"items": [], "next": None}
    assert first["items"] + second["items"] == everything
    assert second["next"] is None
    assert (odd.status, odd.code) == (400, "malformed_id")
    assert (cursor.status, cursor.code) == (400, "malformed_cursor")
    assert (nul.status, nul.code) == (400, "invalid_parameter")


async def test_refused_acts_leave_no_audit_entry(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.delete(f"/keys/{NOWHERE}")
        await api.post("/keys", {**ASKED, "scopes": ["everything"]})
        await api.post("/keys", ASKED, as_="viewer")
        rows = await api.engine.instance.store.audit.list_entries(AuditFilter())

    assert [row.user for row in rows] == ["tests"]
