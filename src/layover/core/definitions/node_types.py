"""The built-in node types, each with its fields and its ports.

A type that is not built in is the name of a registered function (`CallNode`). Ports that are left unwired either end
the path quietly or, for `error`, `rejected` and `expired`, fail the execution.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta

from layover.core.definitions.kinds import (
    DestinationName,
    Duration,
    Expression,
    Id,
    Name,
    Positive,
    Schema,
    Span,
    Text,
    Unset,
    Value,
    Values,
    WorkflowName,
)
from layover.core.definitions.model import (
    MOST_RECIPIENTS,
    DefinitionPart,
    GraphDefinition,
    InlineDestination,
    Node,
    RetryDefinition,
)

if TYPE_CHECKING:
    from collections.abc import Container

NestedGraph = Annotated[GraphDefinition, Meta(extra={"kind": "graph"})]


# Control: decided by the engine itself, no call and no commit of their own.


class Condition(Node, frozen=True, kw_only=True):
    """Takes port `true` or `false`."""

    type: Literal["condition"] = "condition"
    if_: Expression = msgspec.field(name="if")


class Case(DefinitionPart, frozen=True, kw_only=True):
    """One way out of a switch: taken if the value equals something, or if (`when`) a condition holds."""

    aliases = MappingProxyType({"when": "if"})

    port: Id
    equals: Value | Unset = UNSET
    if_: Expression | None = msgspec.field(name="if", default=None)


class Switch(Node, frozen=True, kw_only=True):
    """Takes the port of the first case that fits, else `default`."""

    type: Literal["switch"] = "switch"
    value: Expression | None = None
    cases: Annotated[tuple[Case, ...], Meta(min_length=1)]


class Set(Node, frozen=True, kw_only=True):
    """Sets variables of the execution."""

    type: Literal["set"] = "set"
    values: Values


class Compute(Node, frozen=True, kw_only=True):
    """Has a computed value as its output."""

    type: Literal["compute"] = "compute"
    output: Value


class Merge(Node, frozen=True, kw_only=True):
    """Brings branches together and chooses what its output is."""

    type: Literal["merge"] = "merge"
    strategy: Literal["all", "first", "last", "custom"] = "all"
    branches: tuple[Id, ...] = ()
    output: Value | Unset = UNSET


class End(Node, frozen=True, kw_only=True):
    """Ends the execution from any depth and cancels the rest."""

    type: Literal["end"] = "end"
    outcome: Annotated[str, Meta(min_length=1, max_length=255)] = "executed"
    reason: Text = ""
    output: Value | Unset = UNSET


# Containers.


class Loop(Node, frozen=True, kw_only=True):
    """Runs its body once per item, while a condition holds, or a number of times."""

    type: Literal["loop"] = "loop"
    body: NestedGraph
    for_each: Expression | None = None
    while_: Expression | None = msgspec.field(name="while", default=None)
    times: Annotated[int, Meta(ge=0, le=1_000_000)] | Text | None = None
    as_: Name = msgspec.field(name="as", default="item")
    index_as: Name = "index"
    max_iterations: Positive | None = None
    break_if: Expression | None = None
    skip_if: Expression | None = None
    collect: Value | Unset = UNSET


class Branch(DefinitionPart, frozen=True, kw_only=True):
    """One named branch of a parallel."""

    id: Id
    body: NestedGraph


class Parallel(Node, frozen=True, kw_only=True):
    """Runs a body per item, or named branches, side by side."""

    later = frozenset({"max_iterations"})

    type: Literal["parallel"] = "parallel"
    body: NestedGraph | None = None
    for_each: Expression | None = None
    branches: tuple[Branch, ...] = ()
    as_: Name = msgspec.field(name="as", default="item")
    index_as: Name = "index"
    max_iterations: Positive | None = None
    concurrency: Positive | None = None
    on_failure: Literal["fail_fast", "wait", "continue"] = "fail_fast"
    collect: Value | Unset = UNSET


# Pauses.


class Delay(Node, frozen=True, kw_only=True):
    """Waits for a length of time or until a moment."""

    type: Literal["delay"] = "delay"
    duration: Span | None = None
    until: Text | None = None


class PeopleDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Who is asked: users, roles, or an expression that gives user names."""

    noun = "people"

    users: tuple[Text, ...] = ()
    roles: tuple[Text, ...] = ()
    expression: Text | None = None


class EscalationDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Who is asked as well after a while."""

    noun = "escalation"

    after: Duration
    to: PeopleDefinition


class DecisionConsequences(DefinitionPart, frozen=True, kw_only=True):
    """What the ports of an approval lead to, in words for those who decide."""

    noun = "consequences of an approval"

    approved: Text = ""
    rejected: Text = ""
    expired: Text = ""


class AnswerConsequences(DefinitionPart, frozen=True, kw_only=True):
    """What the ports of a form lead to, in words for those who answer."""

    noun = "consequences of a form"

    done: Text = ""
    expired: Text = ""


class ReminderDefinition(DefinitionPart, frozen=True, kw_only=True):
    """A reminder that is due some time before the deadline."""

    noun = "reminder"

    before: Duration


class AskingNode(Node, frozen=True, kw_only=True):
    """The fields that all nodes which ask people have in common."""

    title: Text = ""
    shown: Value | Unset = UNSET
    response: Value | Unset = UNSET
    approvers: PeopleDefinition | None = None
    remind: tuple[Duration | ReminderDefinition, ...] = ()
    escalate: EscalationDefinition | None = None
    deadline: Span | None = None


class Approval(AskingNode, frozen=True, kw_only=True):
    """Waits until enough people have approved or rejected."""

    later = frozenset({"leads_to", "undo"})

    type: Literal["approval"] = "approval"
    need: Positive = 1
    reject_need: Positive = 1
    exclude_requester: bool = False
    order: Literal["any", "sequence"] = "any"
    comment: Literal["optional", "required"] = "optional"
    schema: Schema | None = None
    on_deadline: Literal["approve", "reject", "expired", "fail"] | None = None
    leads_to: DecisionConsequences | None = None
    undo: Duration | None = None


class Form(AskingNode, frozen=True, kw_only=True):
    """Waits for an answer that fits a schema."""

    later = frozenset({"leads_to", "undo"})

    type: Literal["form"] = "form"
    schema: Schema = msgspec.field(default_factory=dict)
    on_deadline: Literal["continue", "partial", "expired", "fail"] | None = None
    leads_to: AnswerConsequences | None = None
    undo: Duration | None = None


class SignalDefinition(DefinitionPart, frozen=True, kw_only=True):
    """One of several signals that a node waits for."""

    noun = "awaited signal"

    alias: Name
    signal: Text
    key: Text = ""
    filter: Expression | None = None
    required: bool = False


class WaitSignal(Node, frozen=True, kw_only=True):
    """Waits for one signal, or for several."""

    type: Literal["wait_signal"] = "wait_signal"
    signal: Text | None = None
    key: Text = ""
    filter: Expression | None = None
    signals: tuple[SignalDefinition, ...] = ()
    need: Positive | Literal["all", "any"] = "all"
    lookback: Duration = 0
    response: Value | Unset = UNSET
    deadline: Span | None = None
    on_deadline: Literal["continue", "partial", "expired", "fail"] | None = None


# Work: something is called, so it can fail, hang and be retried.


class WorkingNode(Node, frozen=True, kw_only=True):
    """The fields that all nodes which call something have in common."""

    retry: RetryDefinition | None = None
    timeout: Span | None = None


class Callback(WorkingNode, frozen=True, kw_only=True):
    """Calls a function with an address to reply to, then waits for the reply."""

    type: Literal["callback"] = "callback"
    call: Id | None = None
    input: Value | Unset = UNSET
    heartbeat: Duration | None = None
    response: Value | Unset = UNSET
    deadline: Span | None = None
    on_deadline: Literal["continue", "partial", "expired", "fail"] | None = None


class ChildWorkflow(WorkingNode, frozen=True, kw_only=True):
    """Starts another workflow and waits for its output, unless it is detached."""

    noun = "workflow node"

    type: Literal["workflow"] = "workflow"
    workflow: WorkflowName
    version: Positive | None = None
    input: Value | Unset = UNSET
    detached: bool = False


class Http(WorkingNode, frozen=True, kw_only=True):
    """Calls an HTTP address."""

    noun = "http node"

    type: Literal["http"] = "http"
    url: Text
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    headers: Values = msgspec.field(default_factory=dict)
    query: Values = msgspec.field(default_factory=dict)
    body: Value | Unset = UNSET
    auth: Value | Unset = UNSET


class Send(WorkingNode, frozen=True, kw_only=True):
    """Sends a message by a destination; done once it was sent, or at once if it does not `wait` for that.

    A node of this type without `via` calls a function that is registered as `send`.
    """

    noun = "send node"
    lists = ("to",)

    type: Literal["send"] = "send"
    via: DestinationName | InlineDestination
    to: Annotated[tuple[Text, ...], Meta(max_length=MOST_RECIPIENTS)] = ()
    subject: Text = ""
    text: Text = ""
    data: Value | Unset = UNSET
    wait: bool = True


class CallNode(WorkingNode, frozen=True, kw_only=True):
    """Calls the registered function that its type names."""

    noun = "function node"

    input: Value | Unset = UNSET
    heartbeat: Duration | None = None
    on_crash: Literal["rerun", "probe", "undo", "pause"] = "rerun"


BUILT_IN: tuple[type[Node], ...] = (
    *(Condition, Switch, Set, Compute, Merge, End),
    *(Loop, Parallel),
    *(Delay, Approval, Form, WaitSignal),
    *(Callback, ChildWorkflow, Http, Send),
)


def _type_name(struct: type[Node]) -> str:
    (name,) = get_args(msgspec.structs.fields(struct)[1].type)
    return str(name)


TYPES: dict[str, type[Node]] = {_type_name(struct): struct for struct in BUILT_IN}


def struct_of(node_type: object, fields: Container[str]) -> type[Node]:
    """Return the struct of a node; a type that is not built in is the name of a function.

    `send` became a node type when functions of that name existed: only with its `via` it is one.
    """
    if not isinstance(node_type, str) or (node_type == "send" and "via" not in fields):
        return CallNode
    return TYPES.get(node_type, CallNode)


def default_port(node_type: str) -> str | None:
    """Return the port that a bare `next` leaves by; a condition has none."""
    return {"approval": "approved", "switch": "default", "condition": None}.get(node_type, "done")


def ports(node: Node) -> tuple[str, ...]:
    """Return every port that an edge may leave this node by, the default one first."""
    if isinstance(node, Switch):
        return (*dict.fromkeys(("default", *(case.port for case in node.cases))), "error")
    return ports_of_type(type(node))


def ports_of_type(struct: type[Node]) -> tuple[str, ...]:
    """Return the ports that all nodes of a type have; a switch has one more for each of its cases."""
    if issubclass(struct, Condition):
        return ("true", "false", "error")
    if issubclass(struct, Switch):
        return ("default", "error")
    if issubclass(struct, Approval):
        return ("approved", "rejected", "expired", "error")
    if issubclass(struct, Form | WaitSignal | Callback):
        return ("done", "expired", "error")
    return () if issubclass(struct, End) else ("done", "error")


def nested(node: Node) -> tuple[tuple[str, GraphDefinition], ...]:
    """Return the graphs inside a container, each with the name of its branch (empty for a body)."""
    match node:
        case Loop():
            return (("", node.body),)
        case Parallel(body=GraphDefinition() as body):
            return (("", body),)
        case Parallel():
            return tuple((branch.id, branch.body) for branch in node.branches)
        case _:
            return ()
