"""Definitions over HTTP: checked, tried out without doing anything, taken along and brought."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.access import AuditFilter
from layover.ports.view_records import ExecutionFilter
from tests.api.harness import Answered, Api, served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")

CALLED: list[str] = []


def charge(amount: int) -> int:
    CALLED.append("charge")
    return amount


def form(id_: str = "ask", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "type": "form", "title": "Say it", **fields}


def flow(*nodes: dict[str, Any], name: str = "flow", **fields: Any) -> dict[str, Any]:
    edges = [{"from": one["id"], "to": next_["id"]} for one, next_ in pairwise(nodes)]
    return {"name": name, "nodes": list(nodes), "edges": edges, **fields}


async def played(api: Api, definition: dict[str, Any], **body: Any) -> Answered:
    saved = await api.post("/workflows?allow_unknown=true", definition)
    assert saved.status in (200, 201), saved.body
    return await api.post(f"/workflows/{definition['name']}/dry-run", body, as_="viewer")


# Checking


async def test_a_check_tells_all_problems_and_keeps_nothing(tmp_path: Path) -> None:
    text = b"name: order\nnodes:\n  - {id: a, type: form, titel: Look}\n"
    async with served(tmp_path) as api:
        found = await api.post("/workflows/check", raw=text, headers={"content-type": "text/yaml"}, as_="viewer")
        sound = await api.post(
            "/workflows/check", flow(form(), settings={"max_pause": "7d"}, input={"type": "string"}), as_="viewer"
        )
        unreadable = await api.post("/workflows/check", raw=b'{"name', as_="viewer")
        listed = await api.get("/workflows")

    problem = next(one for one in found.json["problems"] if one["code"] == "unknown_field")
    assert (found.status, problem["line"], problem["path"]) == (200, 3, "$.nodes[0].titel")
    assert (problem["suggestion"], problem["severity"]) == ("title", "error")
    assert (sound.json["problems"], [one["id"] for one in sound.json["graph"]["nodes"]]) == ([], ["ask"])
    assert (found.json["graph"], found.json["input"], sound.json["input"]) == (None, None, {"type": "string"})
    assert [one["code"] for one in unreadable.json["problems"]] == ["syntax"]
    assert listed.json["items"] == []


async def test_node_types_are_checked_by_what_the_server_knows(tmp_path: Path) -> None:
    known, unknown = (flow({"id": "pay", "type": type_, "input": {"amount": 1}}) for type_ in ("charge", "chrage"))
    async with served(tmp_path, charge) as api:
        answers = [
            (await api.post(f"/workflows/check{query}", definition)).json["problems"]
            for query in ("", "?allow_unknown=true")
            for definition in (known, unknown)
        ]

    assert [[one["severity"] for one in problems] for problems in answers] == [[], ["error"], ["warning"], ["warning"]]


# Before it is kept


async def test_what_a_definition_would_change_and_do_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    first = flow(form(), {"id": "done", "type": "end"})
    async with served(tmp_path) as api:
        await api.post("/workflows", first)
        alike = await api.post("/workflows/flow/diff", {**first, "x-note": 1}, as_="viewer")
        other = await api.post(
            "/workflows/flow/diff", flow(form(title="Which?"), {"id": "done", "type": "end"}), as_="viewer"
        )
        text = "name: flow\nnodes:\n  - {id: a, type: compute, output: 7}\n"
        run = await api.post("/workflows/dry-run", {"definition": text}, as_="viewer")
        versions = await api.get("/workflows/flow/versions")

    assert (alike.json["before"], alike.json["after"]) == (1, 1)
    assert (other.json["before"], other.json["after"]) == (1, 2)
    assert "$.nodes[ask].title" in [one["path"] for one in other.json["differences"]]
    assert (run.json["status"], run.json["output"]) == ("completed", 7)
    assert len(versions.json["items"]) == 1


async def test_where_executions_rest_is_told_by_status_and_by_node_of_the_graph(tmp_path: Path) -> None:
    asking = {"id": "each", "type": "loop", "for_each": "input", "as": "one", "body": [form()]}
    async with served(tmp_path) as api:
        await api.post("/workflows", flow(asking))
        for _ in range(2):
            await api.post("/executions", {"workflow": "flow", "input": [1, 2], "wait": "10s"})
        found = await api.get("/workflows/flow/resting", as_="viewer")

    (node,) = found.json["nodes"]
    assert (found.json["executions"], found.json["more"]) == ({"paused": 2}, False)
    assert (node["id"], node["kind"], node["count"]) == ("ask:each", "form", 2)


# Dry runs


async def test_a_dry_run_calls_and_keeps_nothing(tmp_path: Path) -> None:
    paying = flow(
        {"id": "pay", "type": "charge", "input": {"amount": "${input.amount}"}},
        {"id": "rest", "type": "delay", "duration": "30d"},
        {"id": "done", "type": "end", "output": {"paid": "${nodes.pay}"}},
        name="paying",
    )
    CALLED.clear()
    async with served(tmp_path, charge) as api:
        given = await played(api, paying, input={"amount": 3}, outputs={"pay": {"id": "ch_1"}})
        nothing = await played(api, paying, input={"amount": 3})
        executions = await api.engine.instance.store.queries.list_executions(ExecutionFilter())
        entries = await api.engine.instance.store.audit.list_entries(AuditFilter())

    assert (given.status, given.json["status"]) == (200, "completed")
    assert given.json["output"] == {"paid": {"id": "ch_1"}}
    assert [(one["context_id"], one["status"]) for one in given.json["nodes"]] == [
        ("pay", "completed"),
        ("rest", "completed"),
        ("done", "completed"),
    ]
    assert given.json["nodes"][0]["input"] == {"amount": 3}
    assert nothing.json["output"] == {"paid": None}
    assert CALLED == []
    assert executions == []
    assert {entry.act for entry in entries} <= {"workflow.save", "key.add"}


async def test_a_dry_run_stands_still_where_an_answer_is_missing(tmp_path: Path) -> None:
    asking = flow(form(), {"id": "done", "type": "end", "output": "${nodes.ask}"}, name="asking")
    async with served(tmp_path) as api:
        rests = await played(api, asking)
        goes_on = await played(api, asking, answers={"ask": {"size": 3}})

    assert (rests.json["status"], rests.json["output"]) == ("paused", None)
    assert [(one["context_id"], one["kind"]) for one in rests.json["waiting_on"]] == [("ask", "form")]
    assert (goes_on.json["status"], goes_on.json["output"]) == ("completed", {"size": 3})
    assert goes_on.json["waiting_on"] == []


@pytest.mark.parametrize(
    ("said", "outcome"),
    [(True, "approved"), (False, "refused"), ({"approved": True, "comment": "Fine", "data": {"a": 1}}, "approved")],
)
async def test_a_dry_run_makes_all_the_decisions_that_an_approval_needs(
    tmp_path: Path, said: Any, outcome: str
) -> None:
    review = {
        "id": "review",
        "type": "approval",
        "title": "May we?",
        "approvers": {"users": ["ada"], "roles": ["finance"]},
        "need": 3,
        "reject_need": 2,
    }
    deciding = {
        "name": "deciding",
        "nodes": [review, *({"id": one, "type": "end", "outcome": one} for one in ("approved", "refused"))],
        "edges": [
            {"from": "review", "port": "approved", "to": "approved"},
            {"from": "review", "port": "rejected", "to": "refused"},
        ],
    }
    async with served(tmp_path) as api:
        answered = await played(api, deciding, answers={"review": said})

    assert (answered.json["status"], answered.json["outcome"]) == ("completed", outcome)


async def test_signals_callbacks_and_children_are_played_too(tmp_path: Path) -> None:
    several = {
        "id": "both",
        "type": "wait_signal",
        "signals": [{"alias": "paid", "signal": "payment"}, {"alias": "sent", "signal": "parcel"}],
        "need": "all",
    }
    waiting = flow(
        {"id": "one", "type": "wait_signal", "signal": "payment", "key": "${input.id}"},
        several,
        {"id": "call", "type": "callback"},
        {"id": "child", "type": "workflow", "workflow": "other"},
        {
            "id": "done",
            "type": "end",
            "output": {
                "one": "${nodes.one.data}",
                "sent": "${nodes.both.sent.data}",
                "call": "${nodes.call}",
                "child": "${nodes.child}",
            },
        },
        name="waiting",
    )
    answers = {"one": {"amount": 3}, "both": {"paid": 1, "sent": 2}, "call": "called"}
    async with served(tmp_path) as api:
        answered = await played(api, waiting, input={"id": "o1"}, answers=answers, outputs={"child": "born"})
        partly = await played(api, waiting, input={"id": "o1"}, answers={"one": 1, "both": {"paid": 1}})

    assert answered.json["status"] == "completed", answered.json
    assert answered.json["output"] == {"one": {"amount": 3}, "sent": 2, "call": "called", "child": "born"}
    assert [one["context_id"] for one in partly.json["waiting_on"]] == ["both"]


async def test_scopes_are_given_their_own_by_context_id(tmp_path: Path) -> None:
    counting = flow(
        {"id": "lines", "type": "loop", "times": 3, "body": [{"id": "count", "type": "charge", "input": {}}]},
        name="counting",
    )
    async with served(tmp_path, charge) as api:
        answered = await played(api, counting, outputs={"count": 1, "count:lines.1": 5})

    outputs = {one["context_id"]: one["output"] for one in answered.json["nodes"] if one["node"] == "count"}
    assert outputs == {"count:lines.0": 1, "count:lines.1": 5, "count:lines.2": 1}


async def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    asking = flow(
        form(schema={"type": "object", "required": ["size"]}),
        name="asking",
        input={"type": "object", "required": ["id"]},
    )
    review = flow({"id": "review", "type": "approval", "title": "May we?"}, name="deciding")
    strict = flow({**review["nodes"][0], "comment": "required"}, name="strict")
    endless = flow(
        {
            "id": "round",
            "type": "loop",
            "times": 1_000_000,
            "body": [{"id": "set", "type": "set", "values": {"a": 1}}],
        },
        name="endless",
    )
    async with served(tmp_path) as api:
        input_ = await played(api, asking, input={})
        answer = await played(api, asking, input={"id": 1}, answers={"ask": {}})
        silent = await played(api, strict, answers={"review": {"approved": False, "comment": " "}})
        undecided = await played(api, review, answers={"review": "perhaps"})
        reserved = await played(api, asking, input={"id": {"$secret": "KEY"}})
        steps = await played(api, endless)
        version = await played(api, review, version=2)
        unknown = await api.post("/workflows/offer/dry-run")

    assert (input_.status, input_.code) == (422, "invalid_input")
    assert (answer.status, answer.code, answer.json["errors"][0]["path"]) == (422, "invalid_answer", "")
    assert (silent.status, silent.code) == (422, "comment_required")
    assert (undecided.status, undecided.code) == (422, "invalid_answer")
    assert (reserved.status, reserved.code) == (422, "payload_reserved")
    assert (steps.status, steps.code) == (422, "too_many_steps")
    assert (version.status, version.code) == (404, "unknown_version")
    assert (unknown.status, unknown.code) == (404, "unknown_workflow")


# Moving


async def test_what_is_exported_can_be_imported(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for name in ("b", "a", "c", "gone"):
            await api.post("/workflows", flow(form(), name=name, description=f"About {name}"))
        hashes = {one["name"]: one["hash"] for one in (await api.get("/workflows")).json["items"]}
        await api.delete("/workflows/gone")
        all_ = await api.get("/workflows/export")
        some = await api.get("/workflows/export?name=c&name=a&name=a")
        unknown = await api.get("/workflows/export?name=gone")
        for name in ("b", "a", "c"):
            await api.delete(f"/workflows/{name}")
        first = await api.post("/workflows/import", all_.json)
        again = await api.post("/workflows/import", all_.json)
        listed = (await api.get("/workflows")).json["items"]
        entries = await api.engine.instance.store.audit.list_entries(AuditFilter(act="workflow.save"))

    assert (all_.status, all_.json["format"]) == (200, "layover/1")
    assert [one["name"] for one in all_.json["workflows"]] == ["a", "b", "c"]
    assert [one["name"] for one in some.json["workflows"]] == ["a", "c"]
    assert (unknown.status, unknown.code) == (404, "unknown_workflow")
    assert (first.status, again.status) == (200, 200)
    assert [(one["name"], one["hash"]) for one in first.json["workflows"]] == [(name, hashes[name]) for name in "abc"]
    assert again.json == first.json
    assert [one["name"] for one in listed] == ["a", "b", "c"]
    assert sorted(entry.target for entry in entries) == sorted(["a", "b", "c", "gone", "a", "b", "c"])


async def test_an_import_is_all_or_nothing(tmp_path: Path) -> None:
    good, bad = flow(form(), name="good"), {"name": "bad", "nodes": [{"id": "a", "type": "ende"}]}
    async with served(tmp_path) as api:
        refused = await api.post("/workflows/import", {"format": "layover/1", "workflows": [good, bad, good]})
        listed = await api.get("/workflows")
        format_ = await api.post("/workflows/import", {"format": "layover/9", "workflows": []})
        allowed = await api.post(
            "/workflows/import?allow_unknown=true", {"format": "layover/1", "workflows": [good, bad]}
        )

    assert (refused.status, refused.code) == (422, "invalid_definition")
    assert {(error["code"], error["path"]) for error in refused.json["errors"]} == {
        ("unknown_type", "$.workflows[1].nodes[0].type"),
        ("duplicate_name", "$.workflows[2].name"),
    }
    assert listed.json["items"] == []
    assert (format_.status, format_.code) == (422, "invalid_body")
    assert allowed.status == 200
