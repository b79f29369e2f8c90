"""Everything in the format can be written in Python: a field that is missing in the builder fails here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from layover.authoring import fields as builder_fields
from layover.authoring import parts
from layover.authoring.fields import NodeFields, WorkflowFields
from layover.authoring.graphs import GraphBuilder
from layover.authoring.steps import LoopStep, ParallelStep, Step, SwitchStep
from layover.authoring.triggers import PollFields, ScheduleFields, SignalFields, WebhookFields
from layover.authoring.workflow import Workflow
from layover.core.definitions import model, node_types, trigger_types
from layover.core.definitions.model import DefinitionPart, Heading, Node, WorkflowSettings
from layover.core.definitions.node_types import TYPES, CallNode, ports
from layover.core.definitions.trigger_types import PollTrigger, ScheduleTrigger, SignalTrigger, WebhookTrigger

if TYPE_CHECKING:
    import msgspec

METHODS: dict[str, type[Node]] = {**TYPES, "call": CallNode}
BY_OTHER_MEANS = {
    "loop": {"body"},  # .body
    "parallel": {"body", "branches"},  # .body, .branch(…)
    "set": {"values"},  # by their names
    "switch": {"cases"},  # .case(…), .when(…)
}


def names(struct: type[msgspec.Struct]) -> set[str]:
    return set(struct.__struct_fields__)


def taken(method: str) -> set[str]:
    """Return the arguments of a method of the builder, by name."""
    signature = inspect.signature(getattr(GraphBuilder, method))
    found = set(signature.parameters) - {"self", "node_id"}
    rest = next((one for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), None)
    if rest is not None and str(rest.annotation).startswith("Unpack["):
        fields = getattr(builder_fields, str(rest.annotation)[7:-1])
        found = (found - {rest.name}) | set(fields.__annotations__)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_every_field_of_every_node_type_can_be_given(method: str) -> None:
    common = names(Node) if method == "set" else set()  # its own are set by .options(…)
    missing = names(METHODS[method]) - {"id", "type"} - common - BY_OTHER_MEANS.get(method, set()) - taken(method)
    assert missing == set()


@pytest.mark.parametrize("method", METHODS)
def test_nothing_can_be_given_that_the_format_does_not_have(method: str) -> None:
    short = {"users", "roles"} if "approvers" in names(METHODS[method]) else set()
    other = {"given", "values"} if method == "set" else {"function"} if method == "call" else set()
    assert taken(method) - names(METHODS[method]) - short - other == set()


def test_options_sets_the_fields_of_every_node() -> None:
    assert set(NodeFields.__annotations__) == names(Node) - {"id", "type"}


def test_every_field_of_a_workflow_can_be_given() -> None:
    given = (names(Heading) - {"name", "settings", "triggers", "notify"}) | names(WorkflowSettings)
    assert set(WorkflowFields.__annotations__) == given


_BY_POSITION = {"signal", "source"}


@pytest.mark.parametrize(
    ("fields", "trigger"),
    [
        (ScheduleFields, ScheduleTrigger),
        (SignalFields, SignalTrigger),
        (WebhookFields, WebhookTrigger),
        (PollFields, PollTrigger),
    ],
)
def test_every_field_of_a_trigger_can_be_given(fields: type, trigger: type[model.TriggerDefinition]) -> None:
    assert {*fields.__annotations__, "name", "type", *_BY_POSITION} == names(trigger) | _BY_POSITION


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (parts.Retry, model.RetryDefinition),
        (parts.Concurrency, model.ConcurrencyDefinition),
        (parts.Rate, model.RateDefinition),
        (parts.People, node_types.PeopleDefinition),
        (parts.Escalation, node_types.EscalationDefinition),
        (parts.AwaitedSignal, node_types.SignalDefinition),
        (parts.CatchUp, trigger_types.CatchUpDefinition),
        (parts.InputDelivery, model.DeliveredSignal),
    ],
)
def test_every_field_of_a_part_can_be_given(ours: type[parts.Part], theirs: type[DefinitionPart]) -> None:
    assert ours.__struct_fields__ == theirs.__struct_fields__


def test_every_kind_of_node_has_the_ports_that_the_format_gives_it() -> None:
    flow = Workflow("all")
    flow.condition("condition", "true")
    flow.switch("switch").when("true", port="x")
    flow.set("set", a=1)
    flow.compute("compute", 1)
    flow.merge("merge")
    flow.end("end")
    flow.loop("loop", times=1).body.compute("inside", 1)
    flow.parallel("parallel").branch("a").compute("within", 1)
    flow.delay("delay", "1s")
    flow.approval("approval")
    flow.form("form")
    flow.wait_signal("wait_signal", "a")
    flow.callback("callback", "work")
    flow.send("send", "mail", text="x")
    flow.workflow("workflow", "other")
    flow.http("http", "https://example.org")
    flow.call("call", "work")
    flow.start(*flow)
    assert {step.id for step in flow} == METHODS.keys()
    for found in flow.definition.graph.nodes:
        assert flow[found.id].ports == ports(found)
        assert _ports_by_attribute(flow[found.id]) == set(ports(found))


def _ports_by_attribute(step: Step) -> set[str]:
    assert not isinstance(step, SwitchStep) or step.x.name == "x"
    if isinstance(step, LoopStep | ParallelStep):
        assert step.bodies()
    return {name for name in step.ports if getattr(step, name).name == name}
