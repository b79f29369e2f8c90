from __future__ import annotations

import json

import pytest

from layover.core.definitions import check

from .shared import builder, cleanly, faults, logic, translated

DELAY = {
    "nodeId": "delay-node-123",
    "type": "logic",
    "subType": "delay",
    "config": {"duration": 36000, "unit": "seconds", "persistState": True},
}
API_CALL = {
    "nodeId": "api-call-node-123",
    "type": "action",
    "subType": "api-call",
    "config": {
        "url": "https://api.example.com/users",
        "method": "POST",
        "retry": {
            "enabled": True,
            "maxAttempts": 3,
            "waitDuration": 1000,
            "exponentialBackoff": True,
            "multiplier": 2.0,
            "retryOn": ["IOException", "TimeoutException", "5xx"],
            "ignoreExceptions": ["IllegalArgumentException"],
        },
    },
}
HTTP_RETRY = {
    "enabled": True,
    "maxAttempts": 3,
    "waitDuration": 1000,
    "exponentialBackoff": True,
    "retryOn": ["5xx", "408", "429"],
    "ignoreExceptions": ["4xx"],
}


def test_the_delay_node_of_ten_hours() -> None:
    assert cleanly(builder(DELAY))["nodes"] == [{"id": "delay-node-123", "type": "delay", "duration": "36000s"}]


def test_the_call_that_is_tried_three_times() -> None:
    assert cleanly(builder(API_CALL))["nodes"] == [
        {
            "id": "api-call-node-123",
            "type": "http",
            "url": "https://api.example.com/users",
            "method": "POST",
            "retry": {
                "max_attempts": 3,
                "delay": "1000ms",
                "multiplier": 2.0,
                "retry_on": ["IOException", "TimeoutException", "5xx"],
                "ignore": ["IllegalArgumentException"],
            },
        }
    ]


def test_three_branches_that_pause_and_are_answered_in_any_order() -> None:
    branches = [
        {
            "id": f"branch{index}",
            "body": [
                {"id": f"work{index}", "type": "work", "next": f"pause{index}"},
                {"id": f"pause{index}", "type": "pause_resume", "response": {"branch": index}},
            ],
        }
        for index in range(3)
    ]
    document = builder({"id": "parallel_123", "nodeType": "parallel", "nodeConfig": {"branches": branches}})
    made = cleanly(document)["nodes"][0]
    assert [branch["body"]["nodes"][1]["type"] for branch in made["branches"]] == ["form"] * 3
    assert made["branches"][0]["body"]["edges"] == [{"source": "work0", "target": "pause0"}]
    assert faults(document, functions={"work"}) == []


BUILT = {
    "name": "User onboarding",
    "description": "From the builder",
    "definition": {
        "nodes": [
            {
                "id": "trigger-node-abc",
                "nodeType": "trigger",
                "nodeConfig": {"subType": "api-call", "endpointPath": "/users", "httpMethod": "POST"},
                "position": {"x": 0, "y": 0},
            },
            {
                "id": "is-new",
                "nodeType": "condition",
                "nodeConfig": {"field": "trigger-node-abc.eventType", "operator": "equals", "value": "user.created"},
                "position": {"x": 100, "y": 0},
            },
            {"id": "wait", "nodeType": "delay", "nodeConfig": {"duration": 1, "unit": "days", "persistState": True}},
            {
                "id": "greet",
                "nodeType": "custom-action",
                "nodeConfig": {"actionType": "send-email", "to": "@{trigger-node-abc.email}", "at": "@{_now()}"},
            },
        ],
        "edges": [
            {"id": "e1", "source": "trigger-node-abc", "target": "is-new"},
            {"id": "e2", "source": "is-new", "target": "wait", "sourceHandle": "true"},
            {"id": "e3", "source": "wait", "target": "greet"},
        ],
    },
    "status": "active",
    "version": 4,
    "tags": ["users"],
}


def test_a_document_of_the_builder_becomes_ours_and_loses_nothing() -> None:
    made = cleanly(BUILT)
    assert made == {
        "name": "User-onboarding",
        "x-name": "User onboarding",
        "description": "From the builder",
        "tags": ["users"],
        "x-status": "active",
        "x-version": 4,
        "x-triggers": [BUILT["definition"]["nodes"][0]],  # type: ignore[index]
        "triggers": [{"name": "trigger-node-abc", "type": "webhook", "verify": {"scheme": "token"}}],
        "start": ["is-new"],
        "nodes": [
            {
                "id": "is-new",
                "type": "condition",
                "if": 'input.eventType == "user.created"',
                "position": {"x": 100, "y": 0},
            },
            {"id": "wait", "type": "delay", "duration": "1d"},
            {"id": "greet", "type": "send_email", "input": {"to": "${input.email}", "at": "${now()}"}},
        ],
        "edges": [
            {"id": "e2", "source": "is-new", "target": "wait", "port": "true"},
            {"id": "e3", "source": "wait", "target": "greet"},
        ],
    }
    assert faults(BUILT, functions={"send_email"}) == []


@pytest.mark.parametrize("kind", ["api-call", "scheduler", "event"])
def test_a_trigger_is_kept_whole_and_names_the_start(kind: str) -> None:
    trigger = {"nodeId": "t", "type": "trigger", "subType": kind, "config": {"cronExpression": "* * * * *"}}
    edges: list[object] = [{"source": "t", "target": "n"}]
    document = builder(trigger, logic("delay", {"duration": 1}), edges=edges)
    made = cleanly(document)
    assert made["x-triggers"] == [trigger]
    assert made["start"] == ["n"]
    assert made["edges"] == []
    assert faults(document) == []


def test_several_triggers_may_lead_to_one_start_and_next_counts_too() -> None:
    triggers = [{"nodeId": name, "type": "trigger", "subType": "event", "next": "n"} for name in "tu"]
    made = cleanly({"name": "x", "nodes": [*triggers, logic("delay", {"duration": 1})]})
    assert made["start"] == ["n"]
    assert len(made["x-triggers"]) == 2


def test_native_nodes_may_mix_with_builder_nodes() -> None:
    own = {"id": "ask", "type": "approval", "title": "Pay @{_vars.sum}?", "next": {"approved": "n"}}
    document = builder(own, logic("delay", {"duration": 1}))
    made = cleanly(document)
    assert made["nodes"][0] == {"id": "ask", "type": "approval", "title": "Pay ${vars.sum}?"}
    assert made["edges"] == [{"source": "ask", "target": "n", "port": "approved"}]
    assert faults(document) == []


def test_the_native_form_is_allowed_under_definition() -> None:
    graph = {"nodes": [{"id": "a", "type": "end"}]}
    assert cleanly({"name": "x", "definition": graph}) == {"name": "x", **graph}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("plain", "plain"),
        ("Two words", "Two-words"),
        ("  Ärger & Co. ", "rger-Co"),
        ("x" * 300, "x" * 255),
        ("7 dwarfs", "7 dwarfs"),
        ("Привет", "Привет"),
        (5, 5),
    ],
)
def test_a_name_that_cannot_name_a_workflow_is_made_into_one_that_can(name: object, made: object) -> None:
    assert translated({**builder(DELAY), "name": name})[0]["name"] == made


TEXT = json.dumps(
    {
        "name": "placed",
        "nodes": [
            {"nodeId": "a", "type": "logic", "subType": "delay", "config": {"duration": "soon"}},
            {"nodeId": "b", "type": "logic", "subType": "condition", "config": {"expression": "nowhere.x"}},
            {
                "nodeId": "c",
                "type": "action",
                "subType": "api-call",
                "config": {"url": "ftp://x", "colour": "red", "retry": {"enabled": True, "maxAttempts": 0}},
            },
        ],
        "edges": [
            {"source": "a", "target": "b"},
            {"source": "b", "target": "c", "sourceHandle": "true"},
            {"source": "b", "target": "missing", "sourceHandle": "false"},
        ],
    },
    indent=1,
)


def test_problems_in_a_translated_document_point_at_the_original_text() -> None:
    lines = TEXT.splitlines()
    found = {problem.path: lines[(problem.line or 0) - 1].strip() for problem in check(TEXT).problems}
    assert found["$.nodes[0].config.duration"] == '"duration": "soon"'
    assert found["$.nodes[1].config.expression"] == '"expression": "nowhere.x"'
    assert found["$.nodes[2].config.colour"] == '"colour": "red",'
    assert found["$.nodes[2].config.retry.maxAttempts"] == '"maxAttempts": 0'
    assert "$.edges[2]" in found


def test_problems_in_a_translated_step_list_point_at_the_original_text() -> None:
    text = """
name: placed
steps:
  - id: one
    condition: {field: total, operator: bigger, value: 1}
    on_true: nowhere
    on_false: two
  - id: two
    action: {type: block, reason: "${oops.x}", colour: red}
"""
    found = [(problem.line, problem.code) for problem in faults(text)]
    assert found == [
        (5, "unknown_operator"),
        (6, "dangling_edge"),
        (9, "expression_unknown_name"),
        (9, "expression_unknown_name"),
        (9, "unknown_field"),
    ]


@pytest.mark.parametrize("document", [5, None, "text", [], [{"steps": []}], {}, {"steps": 5}, {"nodes": "x"}])
def test_a_value_that_is_not_a_document_is_left_for_the_reader(document: object) -> None:
    assert translated(document) == (document, [])
