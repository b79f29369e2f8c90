"""Definitions over HTTP: their versions, what is different between them, and whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.access import AuditFilter
from tests.api.harness import Api, served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")


def definition(name: str = "order", title: str = "Look at it", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "nodes": [{"id": "review", "type": "form", "title": title}, {"id": "done", "type": "end"}],
        "edges": [{"from": "review", "to": "done"}],
        **more,
    }


YAML = b"""
name: order
nodes:
  - {id: review, type: form, title: Look at it}
  - {id: done, type: end}
edges:
  - {from: review, to: done}
"""


async def acts(api: Api) -> list[tuple[str, str]]:
    found = await api.engine.instance.store.audit.list_entries(AuditFilter())
    return [(entry.act, entry.target) for entry in reversed(found) if not entry.act.startswith("key.")]


# Saving


async def test_a_definition_becomes_a_version_and_the_same_again_is_the_same(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        first = await api.post("/workflows", definition())
        again = await api.post("/workflows", definition())
        second = await api.post("/workflows", definition(title="Look twice"))
        entries = await acts(api)

    assert (first.status, again.status, second.status) == (201, 200, 201)
    assert (first.json["name"], first.json["version"], first.json["state"]) == ("order", 1, "active")
    assert first.headers["location"] == "/api/v1/workflows/order"
    assert again.json == first.json
    assert "location" not in again.headers
    assert second.json["version"] == 2
    assert second.json["hash"] != first.json["hash"]
    assert entries == [("workflow.save", "order")] * 2


@pytest.mark.parametrize("media_type", ["application/yaml", "text/yaml; charset=utf-8", "application/x-yaml"])
async def test_yaml_is_taken_by_its_media_type(tmp_path: Path, media_type: str) -> None:
    async with served(tmp_path) as api:
        as_yaml = await api.post("/workflows", raw=YAML, headers={"content-type": media_type})
        as_json = await api.post("/workflows", definition())

    assert (as_yaml.status, as_json.status) == (201, 200)
    assert as_json.json == as_yaml.json


async def test_a_put_has_to_be_one_of_that_workflow(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        put = await api.put("/workflows/order", definition())
        again = await api.put("/workflows/order", definition())
        other = await api.put("/workflows/offer", definition())
        listed = await api.get("/workflows")

    assert (put.status, again.status) == (201, 200)
    assert (other.status, other.code) == (422, "invalid_definition")
    assert [(error["path"], error["code"]) for error in other.json["errors"]] == [("$.name", "other_name")]
    assert [one["name"] for one in listed.json["items"]] == ["order"]


async def test_errors_of_a_definition_have_their_lines_and_paths(tmp_path: Path) -> None:
    text = b"name: order\nnodes:\n  - {id: a, type: form, titel: Look}\n  - {id: b, type: ende}\n"
    async with served(tmp_path) as api:
        refused = await api.post("/workflows", raw=text, headers={"content-type": "text/yaml"})
        listed = await api.get("/workflows")

    assert (refused.status, refused.code) == (422, "invalid_definition")
    errors = {error["code"]: error for error in refused.json["errors"]}
    assert errors["unknown_field"]["line"] == 3
    assert errors["unknown_field"]["suggestion"] == "title"
    assert errors["unknown_field"]["path"] == "$.nodes[0].titel"
    assert listed.json["items"] == []


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("application/json", b'{"name": "order", '),
        ("application/json", YAML.strip()),
        ("application/json", b""),
        ("application/yaml", b"name: [order"),
        ("application/yaml", b"\xff\xfe"),
    ],
)
async def test_what_cannot_be_read_is_malformed(tmp_path: Path, media_type: str, text: bytes) -> None:
    async with served(tmp_path) as api:
        refused = await api.post("/workflows", raw=text, headers={"content-type": media_type})

    assert (refused.status, refused.code) == (400, "malformed")
    assert refused.json["errors"][0]["line"] == 1


async def test_another_kind_of_body_is_not_taken(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        refused = await api.post("/workflows", raw=b"<order/>", headers={"content-type": "application/xml"})

    assert (refused.status, refused.code) == (415, "unsupported_media_type")


def charge(amount: int) -> int:
    return amount


async def test_unknown_node_types_are_a_problem_unless_allowed(tmp_path: Path) -> None:
    known = {"name": "known", "nodes": [{"id": "pay", "type": "charge", "input": {"amount": 1}}]}
    unknown = {"name": "unknown", "nodes": [{"id": "pay", "type": "chrage"}]}
    async with served(tmp_path, charge) as api:
        taken = await api.post("/workflows", known)
        refused = await api.post("/workflows", unknown)
        allowed = await api.post("/workflows?allow_unknown=true", unknown)
        wrong = await api.post("/workflows?allow_unknown=perhaps", unknown)

    assert (taken.status, allowed.status) == (201, 201)
    assert (refused.status, refused.code) == (422, "invalid_definition")
    assert [(error["code"], error["suggestion"]) for error in refused.json["errors"]] == [("unknown_type", "charge")]
    assert (wrong.status, wrong.code) == (400, "invalid_parameter")


async def test_warnings_block_nothing(tmp_path: Path) -> None:
    warned = {"name": "warned", "nodes": [{"id": "pay", "type": "chrage"}]}
    async with served(tmp_path) as api:
        checked = await api.post("/workflows/check?allow_unknown=true", warned)
        taken = await api.post("/workflows?allow_unknown=true", warned)

    assert [problem["severity"] for problem in checked.json["problems"]] == ["warning"]
    assert taken.status == 201


async def test_a_save_with_a_key_is_answered_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        first = await api.post("/workflows", definition(), key="k1")
        await api.post("/workflows", definition(title="Look twice"))
        again = await api.post("/workflows", definition(), key="k1")
        listed = await api.get("/workflows/order/versions")

    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert again.headers["location"] == first.headers["location"]
    assert [one["version"] for one in listed.json["items"]] == [2, 1]


# Looking


async def test_workflows_are_listed_by_name_page_by_page(tmp_path: Path) -> None:
    names = ["beta", "Alpha", "alpha", "gamma", "delta_2", "delta-1", "delta.3"]
    async with served(tmp_path) as api:
        for name in names:
            await api.post("/workflows", definition(name, description=f"This is {name}", tags=["t"]))
        await api.delete("/workflows/gamma")
        pages, cursor = [], ""
        while True:
            page = (await api.get(f"/workflows?limit=2{cursor}")).json
            pages.append([one["name"] for one in page["items"]])
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        first = (await api.get("/workflows?limit=1")).json["items"][0]

    assert [name for page in pages for name in page] == sorted(set(names) - {"gamma"})
    assert [len(page) for page in pages] == [2, 2, 2]
    assert first["name"] == "Alpha"
    assert (first["version"], first["state"], first["description"], first["tags"]) == (
        1,
        "active",
        "This is Alpha",
        ["t"],
    )


async def test_a_page_is_full_though_many_workflows_in_between_were_deleted(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for name in "abcdefgh":
            await api.post("/workflows", definition(name))
        for name in "abdefh":
            await api.delete(f"/workflows/{name}")
        page = (await api.get("/workflows?limit=2")).json
        exported = (await api.get("/workflows/export")).json

    assert ([one["name"] for one in page["items"]], page["next"]) == (["c", "g"], None)
    assert [one["name"] for one in exported["workflows"]] == ["c", "g"]


@pytest.mark.parametrize("asked", ["limit=0", "limit=-1", "limit=ten", "limit=2&limit=3", "other=1"])
async def test_a_parameter_that_says_nothing_is_refused(tmp_path: Path, asked: str) -> None:
    async with served(tmp_path) as api:
        refused = await api.get(f"/workflows?{asked}")

    assert (refused.status, refused.code) == (400, "invalid_parameter")


async def test_a_cursor_that_was_not_given_out_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        list_ = await api.get("/workflows?cursor=%20no")
        versions = await api.get("/workflows/order/versions?cursor=0")

    assert (list_.status, list_.code) == (400, "malformed_cursor")
    assert (versions.status, versions.code) == (400, "malformed_cursor")


async def test_a_workflow_is_shown_in_canonical_form_at_any_version(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        await api.post("/workflows", definition(title="Look twice"))
        newest = await api.get("/workflows/order")
        first = await api.get("/workflows/order?version=1")
        none = await api.get("/workflows/order?version=3")
        unknown = await api.get("/workflows/offer")
        kept = await api.put("/workflows/order", newest.json["definition"])

    assert (newest.json["version"], newest.json["state"]) == (2, "active")
    assert newest.json["definition"]["nodes"][0]["title"] == "Look twice"
    assert first.json["definition"]["nodes"][0]["title"] == "Look at it"
    assert (none.status, none.code) == (404, "unknown_version")
    assert (unknown.status, unknown.code) == (404, "unknown_workflow")
    assert kept.status == 200, "what is shown can be sent back"


async def test_versions_come_newest_first_page_by_page(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for title in "abc":
            await api.post("/workflows", definition(title=title))
        first = (await api.get("/workflows/order/versions?limit=2")).json
        rest = (await api.get(f"/workflows/order/versions?limit=2&cursor={first['next']}")).json
        unknown = await api.get("/workflows/offer/versions")

    assert [one["version"] for one in first["items"]] == [3, 2]
    assert [one["version"] for one in rest["items"]] == [1]
    assert rest["next"] is None
    assert unknown.code == "unknown_workflow"


async def test_the_difference_of_two_versions_is_listed_by_path(tmp_path: Path) -> None:
    changed = definition(title="Look twice")
    changed["nodes"] = [{"id": "first", "type": "delay", "duration": "1h"}, *reversed(changed["nodes"])]
    changed["edges"].append({"from": "first", "to": "review"})
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        await api.post("/workflows", changed)
        newest = (await api.get("/workflows/order/diff")).json
        back = (await api.get("/workflows/order/diff?from=2&to=1")).json
        same = (await api.get("/workflows/order/diff?from=2&to=2")).json
        only = (await api.get("/workflows/order/diff?to=1")).json
        none = await api.get("/workflows/order/diff?from=1&to=7")

    assert (newest["name"], newest["before"], newest["after"]) == ("order", 1, 2)
    told = {one["path"]: (one["kind"], one["before"], one["after"]) for one in newest["differences"]}
    assert told["$.nodes[review].title"] == ("changed", "Look at it", "Look twice")
    assert told["$.nodes[first]"][0] == "added"
    assert [kind for path, (kind, _, _) in told.items() if path.startswith("$.edges")] == ["added"]
    assert len(told) == 3, "a node that has moved in its list is the same"
    kinds = {one["path"]: one["kind"] for one in back["differences"]}
    assert kinds["$.nodes[first]"] == "removed"
    assert same["differences"] == only["differences"] == []
    assert (none.status, none.code) == (404, "unknown_version")


async def test_the_graph_has_what_is_inside_of_containers(tmp_path: Path) -> None:
    looped = {
        "name": "looped",
        "nodes": [
            {"id": "lines", "type": "loop", "times": 2, "body": [{"id": "count", "type": "form", "title": "Count"}]},
            {"id": "done", "type": "end"},
        ],
        "edges": [{"from": "lines", "to": "done"}],
    }
    async with served(tmp_path) as api:
        await api.post("/workflows", looped)
        graph = (await api.get("/workflows/looped/graph")).json
        unknown = await api.get("/workflows/offer/graph")

    assert (graph["workflow"], graph["version"]) == ("looped", 1)
    assert {node["id"]: (node["parent"], node["status"]) for node in graph["nodes"]} == {
        "lines": (None, None),
        "count:lines": ("lines", None),
        "done": (None, None),
    }
    assert [(edge["source"], edge["target"], edge["taken"]) for edge in graph["edges"]] == [("lines", "done", 0)]
    assert unknown.code == "unknown_workflow"


# Hostile


@pytest.mark.parametrize("name", ["%00", "a%00b", "%ff", "..", "a" * 5_000, "%F0%9F%92%A5", "a%0Ab", "'; drop table--"])
async def test_a_name_that_no_workflow_can_have_is_unknown(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as api:
        asked = [
            await api.get(f"/workflows/{name}/versions"),
            await api.get(f"/workflows/{name}/graph"),
            await api.post(f"/workflows/{name}/activate"),
            await api.post(f"/workflows/{name}/pause"),
            await api.post(f"/workflows/{name}/dry-run"),
        ]
        exported = await api.get(f"/workflows/export?name={name}")

    assert {answered.status for answered in asked} == {404}
    assert {answered.code for answered in asked} <= {"unknown_workflow", "not_found"}
    assert exported.code == ("invalid_parameter" if "%00" in name else "unknown_workflow")


async def test_texts_that_databases_dislike_are_kept_or_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        odd = await api.post("/workflows", definition(title="a\0b", description="\x01 \u2028 💥"))
        half = await api.post("/workflows", raw=b'{"name": "order", "description": "\\ud800", "nodes": []}')
        reason = await api.post("/workflows/order/deactivate", {"reason": "a\0b"})
        long = await api.post("/workflows/order/deactivate", {"reason": "a" * 256})
        shown = await api.get("/workflows/order")

    assert odd.status == 201
    assert shown.json["definition"]["nodes"][0]["title"] == "a\0b"
    assert shown.json["definition"]["description"] == "\x01 \u2028 💥"
    assert (half.status, half.code) == (422, "invalid_definition")
    assert (reason.status, long.status) == (422, 422)
