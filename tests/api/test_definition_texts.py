"""Definitions as they were written: the newest text of each version, over HTTP and through bundles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.api.harness import served
from tests.api.test_workflows import definition

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")

YAML = "application/yaml"
WRITTEN = """# Who looks at orders
name: order   # as the shop calls it
edges:
  - {from: review, to: done}
nodes:
  - {id: review, type: form, title: "Ein Blick, für ü"}
  - {id: done, type: end}
"""
RELABELLED = WRITTEN.replace("type: form,", "type: form, label: Look,")


async def test_the_text_of_a_version_is_kept_as_it_came_with_comments_and_order(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        posted = await api.post("/workflows", raw=WRITTEN.encode(), headers={"content-type": YAML})
        first = await api.get("/workflows/order/source")
        put = await api.put("/workflows/order", definition(title="Look twice"))
        newest, old = await api.get("/workflows/order/source"), await api.get("/workflows/order/source?version=1")
        missing = await api.get("/workflows/order/source?version=3")

    assert (posted.status, put.status) == (201, 201)
    assert first.json == {
        "name": "order",
        "version": 1,
        "media_type": YAML,
        "text": WRITTEN,
        "as_written": True,
        "changed_at": posted.json["created_at"],
    }
    assert old.json == first.json
    assert (newest.json["version"], newest.json["media_type"]) == (2, "application/json")
    assert json.loads(newest.json["text"]) == definition(title="Look twice")
    assert (missing.status, missing.code) == (404, "unknown_version")


async def test_the_same_version_with_another_text_has_the_newest_text_and_stays_one_version(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        first = await api.post("/workflows", raw=WRITTEN.encode(), headers={"content-type": YAML})
        again = await api.post("/workflows", raw=RELABELLED.encode(), headers={"content-type": YAML})
        found = await api.get("/workflows/order/source")
        by_program = await api.post("/workflows?keep_text=false", raw=WRITTEN.encode(), headers={"content-type": YAML})
        after = await api.get("/workflows/order/source")
        versions = await api.get("/workflows/order/versions")

    assert (first.status, again.status, by_program.status) == (201, 200, 200)
    assert found.json["text"] == RELABELLED
    assert after.json == found.json
    assert len(versions.json["items"]) == 1


async def test_a_version_that_was_never_text_is_written_as_yaml(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        saved = await api.post("/workflows?keep_text=false", definition())
        found = await api.get("/workflows/order/source")
        again = await api.post(
            "/workflows", raw=found.json["text"].encode(), headers={"content-type": found.json["media_type"]}
        )

    assert (found.json["as_written"], found.json["media_type"]) == (False, YAML)
    assert again.status == 200
    assert again.json["hash"] == saved.json["hash"]


async def test_a_definition_that_is_refused_leaves_the_text_that_is_there(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", raw=WRITTEN.encode(), headers={"content-type": YAML})
        refused = await api.post("/workflows", raw=b"# broken\nname: order\n", headers={"content-type": YAML})
        found = await api.get("/workflows/order/source")

    assert refused.status == 422
    assert found.json["text"] == WRITTEN


async def test_texts_go_along_with_a_bundle_unless_they_say_something_else(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with served(tmp_path / "one") as one:
        await one.post("/workflows", raw=WRITTEN.encode(), headers={"content-type": YAML})
        await one.post("/workflows?keep_text=false", definition("offer"))
        bundle = (await one.get("/workflows/export")).json
    forged = {"offer": WRITTEN, "order": "name: order\nnodes: [{id: other, type: end}]\n", "nothing": WRITTEN}
    async with served(tmp_path / "two") as two:
        await two.post("/workflows/import", {**bundle, "sources": forged})
        before = [(await two.get(f"/workflows/{name}/source")).json["as_written"] for name in ("order", "offer")]
        taken = await two.post("/workflows/import", bundle)
        after = await two.get("/workflows/order/source")

    assert bundle["sources"] == {"order": WRITTEN}
    assert before == [False, False]
    assert taken.status == 200
    assert (after.json["text"], after.json["as_written"]) == (WRITTEN, True)
