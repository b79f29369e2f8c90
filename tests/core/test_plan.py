"""A plan answers the engine's questions by lookup."""

from __future__ import annotations

import pytest

from layover.core.definitions import InvalidDefinition, check
from layover.core.expressions import ExpressionError, ExpressionLimits, ExpressionTime, Meter
from layover.core.plan import Plan, compile_plan, load

MOMENT = ExpressionTime(now=1_700_000_000_000, seed="execution")


def render(plan: Plan, node: str, slot: str, context: dict[str, object]) -> object:
    return plan.graph.node(node).renderers[slot].render(context, MOMENT, Meter(ExpressionLimits()))


ORDER = """
name: order
nodes:
  - {id: big, type: condition, if: input.total > 1000, next: {true: [review, note], false: pay}}
  - {id: review, type: form, title: "Order ${input.id}", next: pay}
  - {id: note, type: compute, output: {order: "${input.id}", at: [1, "${input.total * 2}"], plain: {a: 1}}, next: pay}
  - {id: pay, type: charge, input: {amount: "${input.total}"}}
"""


@pytest.fixture
def plan() -> Plan:
    return load(ORDER)


def test_a_port_leads_to_the_nodes_of_its_edges(plan: Plan) -> None:
    big = plan.graph.node("big")
    assert [plan.graph.nodes[target].id for target in big.targets("true")] == ["review", "note"]
    assert [plan.graph.nodes[target].id for target in big.targets("false")] == ["pay"]
    assert big.targets("error") == ()


def test_a_join_knows_how_many_edges_it_waits_for(plan: Plan) -> None:
    assert {node.id: node.incoming for node in plan.graph.nodes} == {"big": 0, "review": 1, "note": 1, "pay": 3}


def test_the_start_is_the_node_that_nothing_leads_to(plan: Plan) -> None:
    assert [plan.graph.nodes[index].id for index in plan.graph.starts] == ["big"]


def test_an_expression_is_compiled_under_the_path_of_its_field(plan: Plan) -> None:
    program = plan.graph.node("big").expressions["if"]
    assert program.evaluate({"input": {"total": 2000}}, MOMENT) is True


def test_a_template_gives_its_value_typed_when_it_is_the_whole_text(plan: Plan) -> None:
    context: dict[str, object] = {"input": {"total": 5, "id": "o1"}}
    assert render(plan, "pay", "input", context) == {"amount": 5}
    assert render(plan, "review", "title", context) == "Order o1"


def test_templates_are_rendered_anywhere_in_data(plan: Plan) -> None:
    context: dict[str, object] = {"input": {"total": 5, "id": "${1 + 1}"}}
    assert render(plan, "note", "output", context) == {"order": "${1 + 1}", "at": [1, 10], "plain": {"a": 1}}


def test_data_without_templates_is_shared_and_never_copied() -> None:
    plan = load("{name: w, nodes: [{id: a, type: compute, output: {deep: [1, 2]}}]}")
    filling = plan.graph.node("a").renderers["output"]
    assert filling.constant
    assert filling.render({}, MOMENT, Meter(ExpressionLimits())) is filling.render(
        {}, MOMENT, Meter(ExpressionLimits())
    )


def test_a_path_hands_on_the_very_data_it_leads_to() -> None:
    plan = load("{name: w, nodes: [{id: a, type: compute, output: '${input.lines}'}]}")
    lines: list[object] = [{"sku": 1}] * 5
    meter = Meter(ExpressionLimits())
    assert plan.graph.node("a").renderers["output"].render({"input": {"lines": lines}}, MOMENT, meter) is lines
    assert meter.steps < 5


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{1: 'a', 2: 'b'}", {"1": "a", "2": "b"}),
        ("{true: 1}", {"true": 1}),
        ("[timestamp('2026-01-02T03:04:05Z')]", ["2026-01-02T03:04:05.000Z"]),
        ("duration('90s')", "90s"),
    ],
)
def test_the_result_of_an_expression_becomes_json(expression: str, value: object) -> None:
    plan = load({"name": "w", "nodes": [{"id": "a", "type": "compute", "output": "${" + expression + "}"}]})
    assert render(plan, "a", "output", {}) == value


@pytest.mark.parametrize("expression", ["0.0 / 0.0", "[1.0 / 0.0]", "{1: 'a', '1': 'b'}"])
def test_results_outside_json_are_refused(expression: str) -> None:
    plan = load({"name": "w", "nodes": [{"id": "a", "type": "compute", "output": "${" + expression + "}"}]})
    with pytest.raises(ExpressionError) as caught:
        render(plan, "a", "output", {})
    assert caught.value.code == "invalid_argument"


def test_an_escaped_template_is_text() -> None:
    plan = load("{name: w, nodes: [{id: a, type: compute, output: 'costs $${5}'}]}")
    assert render(plan, "a", "output", {}) == "costs ${5}"


def test_nested_graphs_are_plans_of_their_own() -> None:
    plan = load(
        """
name: nested
nodes:
  - id: both
    type: parallel
    branches:
      - {id: left, body: [{id: a, type: delay, duration: 1s, next: b}, {id: b, type: delay, duration: 1s}]}
      - {id: right, body: [{id: each, type: loop, times: 3, body: [{id: c, type: delay, duration: 1s}]}]}
"""
    )
    bodies = plan.graph.node("both").bodies
    assert list(bodies) == ["left", "right"]
    assert bodies["left"].node("b").incoming == 1
    assert bodies["right"].node("each").bodies[""].node("c").id == "c"


def test_parts_of_a_node_have_slots_of_their_own() -> None:
    plan = load(
        """
name: parts
settings: {concurrency: {key: "${input.customer}", limit: 1}}
nodes:
  - id: route
    type: switch
    cases: [{if: input.a > 1, port: high}, {if: input.a < 0, port: low}]
    next: {high: ask}
  - {id: ask, type: approval, approvers: {users: ["${input.boss}", ann]}}
"""
    )
    assert list(plan.graph.node("route").expressions) == ["cases.0.if", "cases.1.if"]
    assert render(plan, "ask", "approvers.users.0", {"input": {"boss": "bob"}}) == "bob"
    assert plan.concurrency_key is not None
    assert plan.concurrency_key.render({"input": {"customer": "c1"}}, MOMENT, Meter(ExpressionLimits())) == "c1"


def test_a_definition_with_errors_never_becomes_a_plan() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        compile_plan(check("{name: w, nodes: [{id: a, type: delay}]}"))
    assert [problem.code for problem in caught.value.problems] == ["exactly_one"]


def test_a_plan_cannot_be_changed(plan: Plan) -> None:
    with pytest.raises(TypeError):
        plan.graph.node("big").ports["true"] = ()  # type: ignore[index]
    with pytest.raises(AttributeError):
        plan.hash = "other"  # type: ignore[misc]
