"""A definition means the same after it has been written out and read again, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given

from layover.core.definitions import Definition, GraphDefinition, Node, check, content_hash, document
from layover.core.definitions.model import Edge
from layover.core.definitions.node_types import Branch, End, Loop, Parallel, nested, ports
from layover.core.definitions.yaml_write import write_yaml
from layover.core.plan import compile_plan, load

from .changes import changed, meaningful_fields
from .dice import Dice, dice
from .parts_of import declaring, parts_of, said, wanted_fields
from .strategies import definition, definitions, examples
from .surface import pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.plan import PlannedGraph

EXAMPLES = Path(__file__).parents[3] / "examples"


def read(source: str | Mapping[str, object]) -> Definition:
    return check(source).definition


@examples(60)
@given(definitions())
def test_a_definition_survives_being_written_as_a_document_as_yaml_and_as_json(source: dict[str, Any]) -> None:
    first = read(source)
    for defaults in (False, True):
        written = document(first, defaults=defaults)
        for again in (read(written), read(write_yaml(written)), read(json.dumps(written))):
            assert again == first
            assert content_hash(again) == content_hash(first)
            assert document(again, defaults=defaults) == written


@examples(40)
@given(definitions())
def test_text_in_any_script_survives_unescaped_json(source: dict[str, Any]) -> None:
    first = read(source)
    assert read(json.dumps(document(first), ensure_ascii=False, indent=1)) == first


@examples(40)
@given(definitions())
def test_builder_fields_and_metadata_survive_a_round_trip(source: dict[str, Any]) -> None:
    again = read(write_yaml(document(read(source))))
    assert again.extra == {key: value for key, value in source.items() if key.startswith("x-")}
    assert again.description == source.get("description", "")
    assert list(again.tags) == source.get("tags", [])
    for node, written in zip(again.graph.nodes, source["nodes"], strict=True):
        position = written.get("position")
        assert (node.position and {"x": node.position.x, "y": node.position.y}) == position
        assert node.extra == {key: value for key, value in written.items() if key.startswith("x-")}
        assert (node.label, node.description) == (written.get("label", ""), written.get("description", ""))


@examples(60)
@given(pairs())
def test_every_way_of_writing_a_definition_has_the_same_hash(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    plain, other = map(read, pair)
    assert content_hash(plain) == content_hash(other)
    assert load(document(other)).hash == load(write_yaml(document(plain))).hash == content_hash(plain)


def without_what_people_see(graph: GraphDefinition) -> GraphDefinition:
    """Return a graph in another order, without labels, positions and other metadata."""
    edges = [msgspec.structs.replace(edge, id="other", extra={}) for edge in reversed(graph.edges)]
    nodes = tuple(_without_what_people_see(node) for node in reversed(graph.nodes))
    return GraphDefinition(nodes=nodes, edges=tuple(edges), start=graph.start[::-1])


def _without_what_people_see(node: Node) -> Node:
    node = msgspec.structs.replace(node, label="", description="", position=None, extra={})
    match node:
        case Loop(body=body) | Parallel(body=GraphDefinition() as body):
            return msgspec.structs.replace(node, body=without_what_people_see(body))
        case Parallel(branches=branches):
            bare = [Branch(id=branch.id, body=without_what_people_see(branch.body)) for branch in branches]
            return msgspec.structs.replace(node, branches=tuple(bare))
        case _:
            return node


@examples(40)
@given(definitions())
def test_the_hash_ignores_metadata_and_the_order_of_nodes_and_edges(source: dict[str, Any]) -> None:
    first = read(source)
    bare = msgspec.structs.replace(
        first, description="", tags=("other",), extra={"x-new": 1}, graph=without_what_people_see(first.graph)
    )
    assert content_hash(bare) == content_hash(first)


@examples(100)
@given(dice())
def test_the_hash_changes_with_anything_that_matters(drawn: Dice) -> None:
    first = read(definition(drawn))
    path, field = drawn.pick(list(meaningful_fields(first)))
    other = changed(first, path, field, drawn)
    assert content_hash(other) != content_hash(first), f"{path} {field}"


@examples(40)
@given(definitions())
def test_a_plan_is_wired_as_the_edges_say(source: dict[str, Any]) -> None:
    checked = check(source)
    plan = compile_plan(checked)
    assert plan.hash == content_hash(checked.definition)
    assert_wired(plan.graph, checked.definition.graph)


def assert_wired(planned: PlannedGraph, graph: GraphDefinition) -> None:
    ids = [node.id for node in graph.nodes]
    assert [node.id for node in planned.nodes] == ids
    assert sorted(planned.order) == list(range(len(ids)))
    assert {ids[index] for index in planned.starts} == set(graph.start)
    assert {node.id for node in planned.nodes if node.incoming == 0} == set(graph.start)
    for index, node in enumerate(planned.nodes):
        leaving = [edge for edge in graph.edges if edge.source == node.id]
        assert set(node.ports) == {edge.port for edge in leaving} <= set(ports(node.node))
        for port in node.ports:
            assert [ids[target] for target in node.targets(port)] == [e.target for e in leaving if e.port == port]
            assert all(planned.order.index(index) < planned.order.index(target) for target in node.targets(port))
        assert node.incoming == sum(edge.target == node.id for edge in graph.edges)
        assert node.targets("no such port") == ()
        assert_bodies_are_wired(node.bodies, node.node)


def assert_bodies_are_wired(planned: Mapping[str, PlannedGraph], node: Node) -> None:
    assert set(planned) == {branch for branch, _ in nested(node)}
    for branch, graph in nested(node):
        assert_wired(planned[branch], graph)


# A stored execution names the version that it runs by this hash, and so do the versions of every workflow that was ever
# published. If one of these changes, every definition becomes a new version after an upgrade, and no execution that was
# started before finds its own. So a new field must keep the hash of definitions without it: name it in `later`. Where
# that is impossible, the change is a breaking one: say so in the changelog and migrate what is stored. These files stay
# as they are: an example that changes is another definition.
PUBLISHED = Path(__file__).with_name("golden")
GOLDEN = {
    "order.yaml": "384a3a8ab012c13e860e7bfe7aeb1719cfd581ecb550039ba3cfa3e65b75a2be",
    "everything.yaml": "6eb4777d557f10556df0122a9ad7a90bb67e14ea227faf677fcf9330e0cd00e2",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_hash_of_a_published_definition_never_changes(name: str) -> None:
    assert load((PUBLISHED / name).read_text("utf-8"), stored=True).hash == GOLDEN[name]


class NewerEnd(End, frozen=True, kw_only=True):
    """An `end` as a later version might have it."""

    later = frozenset({"loudly"})

    loudly: bool = False


def test_a_field_that_came_later_leaves_older_hashes_alone() -> None:
    def hash_with(node: End) -> str:
        return content_hash(Definition(name="w", graph=GraphDefinition(nodes=(node,), start=("e",))))

    assert hash_with(NewerEnd(id="e")) == hash_with(End(id="e"))
    assert hash_with(NewerEnd(id="e", loudly=True)) != hash_with(End(id="e"))


def test_the_example_of_everything_uses_every_node_type_and_field() -> None:
    found = read((EXAMPLES / "everything.yaml").read_text("utf-8"))
    seen = {(declaring(type(part), field), field) for _, part in parts_of(found) for field in said(part)}
    assert wanted_fields() - seen == set()


@pytest.mark.parametrize("name", GOLDEN)
def test_an_example_survives_being_written_out(name: str) -> None:
    first = read((EXAMPLES / name).read_text("utf-8"))
    assert read(write_yaml(document(first))) == first


def test_the_id_of_an_edge_is_not_part_of_the_hash() -> None:
    nodes = [{"id": "a", "type": "compute", "output": 1}, {"id": "b", "type": "compute", "output": 2}]
    edge = {"source": "a", "target": "b"}
    plain, named = ({"name": "w", "nodes": nodes, "edges": [{**edge, **more}]} for more in ({}, {"id": "e-1"}))
    assert read(named).graph.edges == (Edge(source="a", target="b", port="done", id="e-1"),)
    assert content_hash(read(plain)) == content_hash(read(named))
