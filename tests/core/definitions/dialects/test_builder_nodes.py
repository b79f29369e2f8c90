from __future__ import annotations

from typing import Any

import pytest

from layover.core.definitions import check

from .shared import action, builder, cleanly, faults, logic, many, one, translated

FUNCTIONS = {"publish_event", "send_email", "send_sms", "resizeImage"}
URL = "https://api.example.com/users"


@pytest.mark.parametrize(
    ("written", "made"),
    [
        (logic("delay", {"duration": 36000, "unit": "seconds", "persistState": True}), {"duration": "36000s"}),
        (logic("delay", {"duration": 5, "unit": "minutes"}), {"duration": "5m"}),
        (logic("delay", {"duration": 2, "unit": "HOURS"}), {"duration": "2h"}),
        (logic("delay", {"duration": 3, "unit": "days"}), {"duration": "3d"}),
        (logic("delay", {"duration": 250, "unit": "milliseconds"}), {"duration": "250ms"}),
        (logic("delay", {"duration": 1.5, "unit": "hours"}), {"duration": "1h30m"}),
        (logic("delay", {"duration": "30"}), {"duration": "30s"}),
        (logic("delay", {"duration": "PT5M"}), {"duration": "PT5M"}),
        (logic("delay", {"duration": 0}), {"duration": "0s"}),
        (logic("delay", {"duration": -5, "unit": "hours"}), {"duration": "0s"}),
        (logic("delay", {"duration": "@{_vars.n}", "unit": "hours"}), {"duration": "${vars.n}h"}),
    ],
)
def test_a_delay_has_a_duration(written: dict[str, object], made: dict[str, object]) -> None:
    assert one(written) == {"id": "n", "type": "delay", **made}


@pytest.mark.parametrize(
    "written",
    [
        {"nodeId": "n", "type": "logic", "subType": "delay", "config": {"duration": 5}},
        {"id": "n", "type": "logic", "sub_type": "delay", "config": {"duration": 5}},
        {"id": "n", "nodeType": "delay", "nodeConfig": {"duration": 5}},
        {"id": "n", "nodeType": "logic", "nodeConfig": {"subType": "delay", "duration": 5}},
        {"id": "n", "node_type": "logic", "node_sub_type": "delay", "node_config": {"duration": 5}},
        {"id": "n", "type": "delay", "config": {"duration": 5}},
        {"node_id": "n", "type": "logic", "subType": "Delay", "duration": 5},
    ],
)
def test_a_node_may_be_spelled_in_many_ways(written: dict[str, object]) -> None:
    assert one(written) == {"id": "n", "type": "delay", "duration": "5s"}


def test_metadata_of_a_node_is_kept() -> None:
    written = logic("delay", {"duration": 5}, node_label="Cool off", registryId="reg-1", position={"x": 1, "y": 2})
    assert one(written) == {
        "id": "n",
        "type": "delay",
        "duration": "5s",
        "label": "Cool off",
        "x-registry-id": "reg-1",
        "position": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    ("config", "made"),
    [
        ({"field": "total", "operator": "greater_than", "value": 5}, "input.total > 5"),
        ({"conditions": [{"field": "a", "operator": "equals", "value": 1}], "logic": "AND"}, "input.a == 1"),
        ({"expression": "@{_vars.ok}"}, "vars.ok"),
        ({"condition": "input.ok"}, "input.ok"),
        ({"if": "input.ok"}, "input.ok"),
    ],
)
def test_a_condition_has_an_expression(config: object, made: str) -> None:
    assert one(logic("condition", config)) == {"id": "n", "type": "condition", "if": made}


def test_the_edges_of_a_condition_say_by_which_way_they_leave() -> None:
    config = {"field": "x", "operator": "equals", "value": 1}
    ends = [{"id": name, "type": "end"} for name in "abcd"]
    edges: list[object] = [
        {"id": "e1", "source": "n", "target": "a", "sourceHandle": "true"},
        {"source": "n", "target": "b", "branch": False},
        {"source": "n", "target": "c", "label": "Yes"},
        {"source": "n", "target": "d", "port": "false"},
    ]
    made = cleanly(builder(logic("condition", config), *ends, edges=edges))
    assert made["edges"] == [
        {"source": "n", "target": "a", "port": "true", "id": "e1"},
        {"source": "n", "target": "b", "port": "false"},
        {"source": "n", "target": "c", "port": "true", "x-label": "Yes"},
        {"source": "n", "target": "d", "port": "false"},
    ]
    assert faults(made) == []


def test_a_handle_without_a_port_is_kept_as_metadata() -> None:
    edges: list[object] = [
        {"source": "n", "target": "a", "sourceHandle": "bottom", "targetHandle": "top", "animated": True},
        {"source": "n", "target": "b", "sourceHandle": "error"},
    ]
    document = builder(
        action("api-call", {"url": URL}), {"id": "a", "type": "end"}, {"id": "b", "type": "end"}, edges=edges
    )
    assert cleanly(document)["edges"] == [
        {"source": "n", "target": "a", "x-source-handle": "bottom", "x-target-handle": "top", "x-animated": True},
        {"source": "n", "target": "b", "port": "error"},
    ]
    assert faults(document) == []


def test_a_switch_has_a_port_for_each_branch() -> None:
    config = {
        "switchField": "tier",
        "cases": [{"value": "gold", "branch": "express"}, {"value": 7, "branch": "slow lane"}],
        "defaultBranch": "other",
    }
    ends = [{"id": name, "type": "end"} for name in "abc"]
    edges: list[object] = [
        {"source": "n", "target": "a", "sourceHandle": "express"},
        {"source": "n", "target": "b", "sourceHandle": "slow lane"},
        {"source": "n", "target": "c", "sourceHandle": "other"},
    ]
    document = builder(logic("switch", config), *ends, edges=edges)
    made = cleanly(document)
    assert made["nodes"][0] == {
        "id": "n",
        "type": "switch",
        "value": "input.tier",
        "cases": [{"equals": "gold", "port": "express"}, {"equals": 7, "port": "case-slow-lane"}],
    }
    assert [(edge["target"], edge["port"]) for edge in made["edges"]] == [
        ("a", "express"),
        ("b", "case-slow-lane"),
        ("c", "default"),
    ]
    assert faults(document) == []


def test_the_cases_of_a_switch_may_name_the_nodes_they_lead_to() -> None:
    config = {
        "field": "tier",
        "cases": [{"value": "gold", "nodeId": "a"}, {"value": "tin", "branch": "b"}, {"value": "zinc", "nodeId": "a"}],
        "defaultBranch": "b",
    }
    ends = [{"id": name, "type": "end"} for name in "ab"]
    document = builder(logic("switch", config), *ends, edges=[{"source": "n", "target": "b"}])
    made = cleanly(document)
    assert [(edge["target"], edge["port"]) for edge in made["edges"]] == [("b", "b"), ("b", "default"), ("a", "a")]
    assert faults(document) == []


def test_a_default_branch_that_leads_nowhere_is_refused() -> None:
    config = {"field": "tier", "cases": [{"value": 1, "branch": "a"}], "defaultBranch": "nowhere"}
    _, (problem,) = translated(builder(logic("switch", config)))
    assert (problem.code, problem.path) == ("dangling_edge", "$.nodes[0].config.defaultBranch")


def test_a_loop_takes_its_nested_body() -> None:
    item = {"field": "line.price", "operator": "greater_than", "value": "@{_vars.limit}"}
    config = {
        "arrayField": "order.lines",
        "itemVariable": "line",
        "indexVariable": "i",
        "body": [{"nodeId": "c", "type": "logic", "subType": "condition", "config": item}],
    }
    assert one(logic("loop", config)) == {
        "id": "n",
        "type": "loop",
        "for_each": "input.order.lines",
        "as": "line",
        "index_as": "i",
        "body": {"nodes": [{"id": "c", "type": "condition", "if": "line.price > (vars.limit)"}]},
    }


def test_a_loop_takes_nodes_and_edges_for_its_body() -> None:
    nodes = [logic("delay", {"duration": 1}) | {"nodeId": name} for name in "ab"]
    config = {"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}
    document = builder(logic("loop", config))
    made = cleanly(document)["nodes"][0]
    assert made["for_each"] == "input.items"
    assert made["body"]["edges"] == [{"source": "a", "target": "b"}]
    assert faults(document) == []


def test_a_loop_without_a_body_is_refused_once_and_in_a_sentence() -> None:
    (problem,) = check(builder(logic("loop", {"arrayField": "x"}))).problems
    assert problem.code == "missing_field"
    assert "The loop `n` needs a `body`" in problem.message


def test_a_merge_has_a_strategy() -> None:
    made = one(logic("merge", {"mergeStrategy": "FIRST", "branches": ["a", "b"]}))
    assert made == {"id": "n", "type": "merge", "strategy": "first", "branches": ["a", "b"]}


@pytest.mark.parametrize(
    ("config", "made"),
    [
        ({"expression": "1 + 2"}, {"result": "${1 + 2}"}),
        ({"expression": "@{_vars.a + n.b}", "outputField": "sum"}, {"sum": "${vars.a + nodes.n.b}"}),
        ({"expression": "_vars.a + '}'"}, {"result": "${vars.a + '}'}"}),
    ],
)
def test_a_function_becomes_a_computed_value(config: object, made: object) -> None:
    assert one(logic("function", config)) == {"id": "n", "type": "compute", "output": made}


@pytest.mark.parametrize("expression", ["1} ${2", "'open", "{"])
def test_a_function_whose_braces_do_not_match_is_refused(expression: str) -> None:
    _, (problem,) = translated(builder(logic("function", {"expression": expression})))
    assert problem.path == "$.nodes[0].config.expression"


def test_a_call_of_an_address_becomes_http() -> None:
    config = {
        "url": f"{URL}/@{{_vars.id}}",
        "method": "post",
        "headers": {"X-Id": "@{_uuid()}"},
        "body": {"a": "@{_vars.a}"},
        "authentication": {"type": "bearer"},
        "timeout": 5000,
    }
    assert one(action("api-call", config)) == {
        "id": "n",
        "type": "http",
        "url": f"{URL}/${{vars.id}}",
        "method": "POST",
        "headers": {"X-Id": "${uuid()}"},
        "body": {"a": "${vars.a}"},
        "auth": {"type": "bearer"},
        "timeout": "5000ms",
    }


def test_an_output_mapping_becomes_a_value_behind_the_call() -> None:
    config = {"url": URL, "outputMapping": {"code": "@{_response.statusCode}", "who": "@{_response.body.name}"}}
    ends = [{"id": "after", "type": "end"}, {"id": "broken", "type": "end"}]
    edges: list[object] = [
        {"source": "first", "target": "n"},
        {"source": "n", "target": "after"},
        {"source": "n", "target": "broken", "sourceHandle": "error"},
    ]
    first = {"nodeId": "first", "type": "logic", "subType": "delay", "config": {"duration": 1}}
    document = builder(first, action("api-call", config), *ends, edges=edges)
    made = cleanly(document)
    by_id = {node["id"]: node for node in made["nodes"]}
    assert by_id["n-call"]["type"] == "http"
    assert by_id["n"] == {
        "id": "n",
        "type": "compute",
        "output": {"code": '${nodes["n-call"].status}', "who": '${nodes["n-call"].body.name}'},
    }
    assert {(edge["source"], edge["target"], edge.get("port")) for edge in made["edges"]} == {
        ("first", "n-call", None),
        ("n-call", "n", None),
        ("n", "after", None),
        ("n-call", "broken", "error"),
        ("n", "broken", "error"),
    }
    assert faults(document) == []


@pytest.mark.parametrize(
    ("written", "made"),
    [
        (
            action("publish-event", {"topic": "t", "key": "k", "message": {"a": "@{_vars.a}"}}),
            {"type": "publish_event", "input": {"topic": "t", "key": "k", "message": {"a": "${vars.a}"}}},
        ),
        (
            action("custom-action", {"actionType": "send-email", "to": "a@b.c", "description": "d"}),
            {"type": "send_email", "input": {"to": "a@b.c", "description": "d"}},
        ),
        (action("custom-action", {"actionType": "send-sms", "timeout": 100}), {"type": "send_sms", "timeout": "100ms"}),
        (action("send-email", {"to": "a"}), {"type": "send_email", "input": {"to": "a"}}),
        (
            action("send-email", {"to": "a@b.c", "subject": "s", "body": "Hi", "cc": "d", "timeout": 100}),
            {
                "type": "send",
                "via": "mail",
                "to": "a@b.c",
                "subject": "s",
                "text": "Hi",
                "timeout": "100ms",
                "data": {"cc": "d"},
            },
        ),
        (
            action("custom-action", {"actionType": "sendSlack", "channel": "#ops", "message": "Hi"}),
            {"type": "send", "via": "slack", "text": "Hi", "data": {"channel": "#ops"}},
        ),
        (
            action("send-sms", {"input": {"a": 1}, "text": "x"}),
            {"type": "send_sms", "input": {"input": {"a": 1}, "text": "x"}},
        ),
        (action("resizeImage", {"input": {"w": 1}}), {"type": "resizeImage", "input": {"w": 1}}),
        (logic("approval", {"title": "Ours"}), {"type": "approval", "title": "Ours"}),
        (logic("set", {"values": {"a": "@{_vars.b}"}}), {"type": "set", "values": {"a": "${vars.b}"}}),
    ],
)
def test_other_actions_are_functions_or_types_of_ours(written: dict[str, object], made: dict[str, object]) -> None:
    assert one(written) == {"id": "n", **made}
    assert faults(builder(written), functions=FUNCTIONS) == []


@pytest.mark.parametrize("kind", ["pause_resume", "pause-resume", "pause"])
def test_a_pause_block_becomes_a_form(kind: str) -> None:
    response = {"message": "Order @{_vars.id} waits"}
    written = {"id": "pause", "type": kind, "response": response, "schema": {"type": "object", "title": "@{x}"}}
    assert cleanly(builder(written))["nodes"] == [
        {
            "id": "pause",
            "type": "form",
            "response": {"message": "Order ${vars.id} waits"},
            "schema": {"type": "object", "title": "@{x}"},
        }
    ]
    assert faults(builder(written)) == []


def wait_events(**config: object) -> dict[str, Any]:
    return logic("wait-events", config)


API = {"enabled": True}
KAFKA = {"enabled": True, "topic": "payments", "filter": {"order.id": "@{_vars.id}"}}


def test_awaited_events_become_signals() -> None:
    written = wait_events(apiCall=API, kafkaEvent=KAFKA, aggregationStrategy="all", timeout=60, onTimeout="continue")
    key = "${execution.id}:n"
    assert one(written) == {
        "id": "n",
        "type": "wait_signal",
        "need": "all",
        "signals": [
            {"alias": "api_response", "signal": "api_response", "key": key},
            {"alias": "kafka_event", "signal": "payments", "key": key, "filter": "signal.data.order.id == (vars.id)"},
        ],
        "deadline": "60s",
        "on_deadline": "continue",
    }
    assert faults(builder(written)) == []


@pytest.mark.parametrize(
    ("config", "need", "required"),
    [
        ({}, "all", []),
        ({"aggregationStrategy": "any"}, "any", []),
        ({"aggregationStrategy": "required_only"}, "any", ["api_response", "kafka_event"]),
        ({"aggregationStrategy": "required_only", "apiCall": {**API, "required": False}}, "any", ["kafka_event"]),
        ({"aggregationStrategy": "custom", "requiredEvents": ["api_response"]}, "any", ["api_response"]),
        ({"aggregationStrategy": "custom", "requiredEvents": ["kafkaEvent"]}, "any", ["kafka_event"]),
    ],
)
def test_aggregation_strategies_become_need_and_required(
    config: dict[str, object], need: str, required: list[str]
) -> None:
    made = one(wait_events(**{"apiCall": API, "kafkaEvent": KAFKA, **config}))
    assert made["need"] == need
    assert [signal["alias"] for signal in made["signals"] if signal.get("required")] == required


@pytest.mark.parametrize(
    ("config", "deadline", "outcome"),
    [
        ({"apiCall": API}, "300s", "fail"),
        ({"apiCall": {**API, "timeout": 20}}, "20s", "fail"),
        ({"apiCall": API, "timeout": 10, "onTimeout": "continue_with_partial"}, "10s", "partial"),
    ],
)
def test_timeouts_of_events_become_a_deadline(config: dict[str, object], deadline: str, outcome: str) -> None:
    made = one(wait_events(**config))
    assert (made["deadline"], made["on_deadline"]) == (deadline, outcome)


@pytest.mark.parametrize(
    "config", [{}, {"apiCall": {"enabled": False}, "kafkaEvent": {"enabled": False}, "timeout": 5}]
)
def test_a_wait_without_enabled_events_becomes_a_constant(config: dict[str, object]) -> None:
    skipped = {"status": "skipped", "reason": "No events enabled"}
    assert one(wait_events(**config)) == {"id": "n", "type": "compute", "output": skipped}
    as_action = one(action("custom-action", {"actionType": "wait-events", **config}))
    assert as_action == {"id": "n", "type": "compute", "output": skipped}


def test_an_event_with_a_request_gets_an_http_node_before_the_wait() -> None:
    written = wait_events(apiCall={"enabled": True, "url": URL, "headers": {"A": "@{_vars.a}"}, "body": {"b": 1}})
    made = many(written)
    assert made["n-request"] == {
        "id": "n-request",
        "type": "http",
        "url": URL,
        "method": "POST",
        "headers": {"X-Correlation-Id": "${execution.id}:n", "X-Execution-Id": "${execution.id}", "A": "${vars.a}"},
        "body": {"b": 1},
    }
    assert made["n"]["lookback"] == "5m"
    assert faults(builder(written)) == []


@pytest.mark.parametrize(
    ("written", "code", "path"),
    [
        (logic("delay", {"duration": 1, "unit": "moons"}), "bad_value", "$.nodes[0].config.unit"),
        (logic("function", {}), "missing_field", "$.nodes[0]"),
        (action("custom-action", {"to": "x"}), "missing_field", "$.nodes[0]"),
        ({"id": "n", "type": "logic", "config": {}}, "missing_field", "$.nodes[0]"),
        (wait_events(apiCall=API, aggregationStrategy="some"), "bad_value", "$.nodes[0].config.aggregationStrategy"),
        (
            logic("delay", {"duration": 1, "retry": {"enabled": True}}),
            "useless_field",
            "$.nodes[0].config.retry",
        ),
    ],
)
def test_a_problem_of_a_builder_node_is_reported_at_its_position(
    written: dict[str, object], code: str, path: str
) -> None:
    _, problems = translated(builder(written))
    assert [(problem.code, problem.path) for problem in problems] == [(code, path)]
