"""Workflows built in Python equal those in YAML, and their mistakes are reported on the line that makes them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import pytest
from hypothesis import given

from layover import Concurrency, Escalation, People, Rate, Retry, Workflow, check, load, node
from layover.authoring.errors import BadBuild, UnknownPort
from layover.core.definitions import InvalidDefinition, content_hash
from tests.core.definitions.strategies import definitions, examples

if TYPE_CHECKING:
    from layover.authoring.graphs import GraphBuilder
    from layover.core.plan import Plan

EXAMPLES = Path(__file__).parents[2] / "examples"


@node
async def charge(amount: float) -> str:
    return str(amount)


def same(flow: Workflow, text: str) -> bool:
    plan: Plan = load(text)
    assert flow.check().problems == ()
    return flow.hash == plan.hash


def test_the_example_is_the_same_in_python_yaml_and_json() -> None:
    spec = importlib.util.spec_from_file_location("order_example", EXAMPLES / "order.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    flow: Workflow = module.flow
    written = (EXAMPLES / "order.yaml").read_text()
    assert same(flow, written)
    assert load(flow.to_yaml()).hash == load(flow.to_json()).hash == flow.hash
    assert [function.__name__ for function in flow.functions] == ["charge_card", "start_picking"]
    assert Workflow.from_yaml(written).hash == flow.hash


@pytest.mark.parametrize("name", ["order.yaml", "everything.yaml"])
def test_a_definition_survives_becoming_a_workflow(name: str) -> None:
    text = (EXAMPLES / name).read_text()
    flow = Workflow.from_yaml(text)
    assert load(flow.to_yaml()).hash == load(flow.to_json()).hash == load(text).hash == flow.hash


@examples(60)
@given(definitions())
def test_any_definition_survives_becoming_a_workflow(source: dict[str, Any]) -> None:
    first = check(source).definition
    text = msgspec.json.encode(source).decode()
    flow = Workflow.from_yaml(text)
    again = check(flow.to_yaml()).definition
    assert flow.hash == content_hash(first) == content_hash(again) == load(flow.to_json()).hash
    assert {node.id: (node.label, node.extra) for node in again.graph.nodes} == {
        node.id: (node.label, node.extra) for node in first.graph.nodes
    }
    assert (again.description, again.tags, again.extra) == (first.description, first.tags, first.extra)


def test_settings_lengths_of_time_and_parts_are_written_as_the_format_has_them() -> None:
    flow = Workflow(
        "small",
        description="What it is for",
        tags=["a"],
        durability="leg",
        max_pause=timedelta(days=2),
        timeout="1h",
        concurrency=Concurrency(2, key="${input.id}", on_conflict="reject"),
        rate=Rate(5, timedelta(seconds=1)),
        retention="30d",
        extra={"x-owner": "me"},
    )
    review = flow.approval(
        "review",
        approvers=People(users=["ann"], expression="['bob']"),
        remind=[timedelta(hours=4), "1d"],
        escalate=Escalation("1d", People(roles=["cfo"])),
    ).options(label="Review", position=(1, 2.5))
    review >> flow.delay("rest", timedelta(minutes=90)) >> flow.call("pay", charge, retry=Retry())
    assert same(
        flow,
        """
        name: small
        settings:
          durability: leg
          max_pause: 2d
          timeout: 1h
          concurrency: {limit: 2, key: "${input.id}", on_conflict: reject}
          rate: {limit: 5, per: 1s}
          retention: 30d
        nodes:
          - id: review
            type: approval
            approvers: {users: [ann], expression: "['bob']"}
            remind: [4h, 1d]
            escalate: {after: 1d, to: {roles: [cfo]}}
            next: rest
          - {id: rest, type: delay, duration: 1h30m, next: pay}
          - {id: pay, type: charge, retry: {}}
        """,
    )
    definition = flow.definition
    assert (definition.description, definition.tags, definition.extra) == ("What it is for", ("a",), {"x-owner": "me"})
    assert definition.graph.nodes[0].label == "Review"
    assert definition.graph.nodes[0].position is not None
    assert (Workflow("n", concurrency=3).heading["settings"]) == {"concurrency": {"limit": 3}}


def test_several_ways_of_wiring_mean_the_same() -> None:
    def flow() -> tuple[Workflow, list[Any]]:
        made = Workflow("fan")
        return made, [made.compute(name, 1) for name in "abcd"]

    one, (a, b, c, d) = flow()
    a >> [b, c] >> d
    other, (a, b, c, d) = flow()
    a.done >> b >> d
    a["done"] >> c
    [c.done] >> d
    assert one.hash == other.hash
    assert [edge["target"] for edge in one.edges] == ["b", "c", "d", "d"]


def test_ports_of_a_switch_are_there_by_name_and_by_attribute() -> None:
    flow = Workflow("ways")
    way = flow.switch("way", "input").case(1, port="one").when("input > 5", port="a-b")
    ends = [flow.end(name) for name in ("x", "y", "z")]
    way.one >> ends[0]
    way["a-b"] >> ends[1]
    way >> ends[2]
    assert [edge["port"] for edge in flow.edges] == ["one", "a-b", "default"]
    assert flow.check().ok


class Count(msgspec.Struct):
    quantity: int
    stop: bool = False


@dataclass
class Line:
    sku: str


class Size(TypedDict):
    width: int


@pytest.mark.parametrize("kind", [Count, Line, Size])
def test_types_become_their_schemas(kind: Any) -> None:
    flow = Workflow("counting", input=kind)
    flow.form("count", schema=kind) >> flow.approval("review", schema=kind)
    definition = flow.definition
    schema = msgspec.json.schema(kind)
    (described,) = schema["$defs"].values()
    assert definition.input == described
    assert [node.schema for node in definition.graph.nodes] == [described, described]  # type: ignore[attr-defined]


def test_start_names_several_first_nodes() -> None:
    flow = Workflow("two")
    a, b = flow.compute("a", 1), flow.compute("b", 2)
    assert [problem.code for problem in flow.check().problems] == ["several_starts"]
    flow.start(a, b)
    assert flow.definition.graph.start == ("a", "b")


def test_a_wrong_build_raises_on_its_line() -> None:
    flow = Workflow("order")
    big = flow.condition("big", "input > 1")
    end = flow.end("end")
    review = flow.approval("review")
    lines = flow.loop("lines", times=2)
    inside = lines.body.compute("inside", 1)
    big.true >> review
    for wrong, message in [
        (lambda: big >> end, r"`big` is a condition .* write `big.true >> …` or `big.false >> …`"),
        (lambda: big.true >> review, r"`big.true >> review` is wired already"),
        (lambda: end >> review, r"`end` ends the execution: nothing comes after it"),
        (lambda: end.error >> review, r"`end` ends the execution: it has no ports"),
        (lambda: review["aproved"], r"`review` has no port `aproved`; it leaves by .* Did you mean `approved`"),
        (lambda: flow.compute("big", 1), r"`order` has a node `big` already"),
        (lambda: lines.body.compute("big", 1), r"`order` has a node `big` already"),
        (lambda: review >> inside, r"`inside` is a node of `lines`, not of `order`"),
        (lambda: flow.start(inside), r"`inside` is a node of `lines`"),
        (lambda: review >> "end", r"An edge leads to a node, not to 'end'"),  # type: ignore[operator]
        (lambda: review >> big.true, r"An edge leads to a node, not to <port true of big>"),  # type: ignore[operator]
        (lambda: ["big"] >> end, r"An edge comes from a node or a port, not from 'big'"),  # type: ignore[operator]
        (lambda: flow["revew"], r"`order` has no node `revew`. Did you mean `review`"),
        (lambda: flow.form("f", schema=Path), r"is neither a type for a form"),
        (lambda: flow.delay("d", timedelta(seconds=-1)), r"it is negative"),
        (lambda: flow.form("f", approvers=People(), roles=["a"]), r"put `roles` into them"),
        (lambda: flow.end("e", extra={"owner": 1}), r"begin with `x-`"),
    ]:
        with pytest.raises(BadBuild, match=message):
            wrong()  # type: ignore[no-untyped-call]
    with pytest.raises(UnknownPort):
        review["x"]
    with pytest.raises(AttributeError, match=r"`review` has no port `aproved`; .* Did you mean `approved`"):
        _ = review.aproved  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"`e` has no field `outcom`. Did you mean `outcome`"):
        flow.end("e", outcom="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"The workflow `w` has no field `max_pase`. Did you mean `max_pause`"):
        Workflow("w", max_pase="1d")  # type: ignore[call-arg]


def test_a_parallel_has_branches_or_a_body() -> None:
    flow = Workflow("many")
    each, named = flow.parallel("each", for_each="input"), flow.parallel("named")
    each.body.compute("a", "${item}")
    assert each.body is each.body
    assert named.branch("x") is named.branch("x")
    with pytest.raises(BadBuild, match="has a body for each item"):
        each.branch("x")
    with pytest.raises(BadBuild, match="has named branches"):
        _ = named.body


def test_two_functions_with_one_name_are_refused() -> None:
    flow = Workflow("two")
    flow.call("a", charge)
    flow.parallel("p").branch("x").callback("b", charge)
    assert flow.functions == (charge,)
    other = node(name="charge")(lambda amount: amount)
    with pytest.raises(BadBuild, match="Two functions are called `charge`"):
        flow.parallel("q").branch("x").call("c", other)


def test_problems_name_the_node_and_not_its_number() -> None:
    flow = Workflow("order", max_pause="soon")
    lines = flow.loop("lines", times=2)
    lines.body.form("count", title="${nope}", deadline="3")
    checks = flow.parallel("checks")
    pay = checks.branch("pay")
    pay.call("charge", charge, retry=Retry(delay="x"), input={"deep": [{"a b": "${nodes.nope}"}]})
    lines >> checks
    found = {problem.path for problem in flow.check().problems}
    assert found == {
        "settings.max_pause",
        "lines.count.deadline",
        "lines.count.title",
        "checks.pay.charge.retry.delay",
        "checks.pay.charge.input.deep[0].a b",
    }
    with pytest.raises(InvalidDefinition, match=r"checks\.pay\.charge\.retry\.delay: "):
        flow.plan()
    assert [problem.path for problem in Workflow("empty").check().problems] == ["empty"]


def test_an_edge_with_a_problem_is_shown_as_it_was_written() -> None:
    flow = Workflow("ways")
    way = flow.switch("way", "input").case(1, port="not a port")
    way["not a port"] >> flow.end("end")
    assert {problem.path for problem in flow.check().problems} >= {"way.not a port >> end.port"}


def hostile() -> list[object]:
    endless: list[object] = []
    endless.append(endless)
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    return [endless, deep, object(), {1: 2}, "\udc80", float("nan"), 2**70, {"a": {1, 2}}, b"x", "x" * 5_000_000]


@pytest.mark.parametrize("value", hostile(), ids=lambda value: type(value).__name__)
def test_hostile_values_are_problems_and_nothing_worse(value: Any) -> None:
    flow = Workflow("flow", variables={"v": value})
    flow.compute("a", value, label=value, extra={"x-a": value})
    flow.call("b", charge, input=value, timeout=value)
    flow.set("c", v=value)
    flow.form(value if isinstance(value, str) else "d", title=value, schema={"default": value})
    checked = flow.check()
    assert not checked.ok
    assert all(len(str(problem)) < 2_000 for problem in checked.problems)
    with pytest.raises(InvalidDefinition):
        flow.to_yaml()


def test_a_workflow_from_text_can_be_changed() -> None:
    flow = Workflow.from_yaml("name: a\nnodes: [{id: ask, type: approval, next: {approved: x}}, {id: x, type: end}]")
    refused = flow.end("refused", outcome="refused")
    flow["ask"]["rejected"] >> refused
    assert "ask" in flow
    assert [step.id for step in flow] == ["ask", "x", "refused"]
    assert flow.check().ok
    assert repr(flow) == "<workflow a: 3 nodes>"


def test_a_text_may_name_unknown_functions_with_a_warning() -> None:
    flow = Workflow.from_yaml("name: a\nnodes: [{id: x, type: nobodys}]")
    assert [(problem.path, problem.severity) for problem in flow.check().problems] == [("x.type", "warning")]
    assert flow.check().ok


def test_bodies_inside_of_bodies_come_to_an_end() -> None:
    def nest(body: GraphBuilder) -> None:
        for index in range(1_000):
            body = body.loop(f"l{index}", times=1).body

    with pytest.raises(BadBuild, match="nested deeper than"):
        nest(Workflow("deep"))


def test_thousands_of_nodes_are_wired_without_looking_at_each_edge_again() -> None:
    flow = Workflow("long")
    steps = [flow.compute(f"n{index}", index) for index in range(4_000)]
    for one, following in pairwise(steps):
        one >> following
    assert flow.check().ok


def test_building_and_checking_a_workflow_loads_no_engine_and_no_yaml() -> None:
    program = (
        "import sys; from layover import Workflow, node; flow = Workflow('a'); flow.compute('x', 1); flow.plan();"
        "print([name for name in ('asyncio', 'yaml', 'rich', 'cyclopts', 'aiohttp', 'apsw', 'layover.runtime')"
        " if name in sys.modules])"
    )
    words = [sys.executable, "-c", program]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout == "[]\n"  # noqa: S603 - ours
