"""The definition of a workflow, as everything after the reader sees it.

One canonical form: nodes and edges, every default in its place, durations in milliseconds. The declarations below are
the single description of the format: the reader follows them, the JSON Schema and the reference are made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from layover.core.definitions.kinds import (
    Count,
    Data,
    DestinationName,
    Duration,
    Expression,
    Extra,
    Id,
    Instant,
    Number,
    Positive,
    Priority,
    Schema,
    SecretName,
    ShortText,
    SignalName,
    Text,
    Value,
    WorkflowName,
)
from layover.core.notifications import OCCASIONS, OccasionKind

MOST_RULES = 100
MOST_RECIPIENTS = 100
DEFAULT_MAX_PAUSE = 7 * 86_400_000
DEFAULT_PENDING = 1_000
DEFAULT_DEDUP = 7 * 86_400_000  # senders of webhooks retry for up to three days


class DefinitionPart(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a definition.

    `noun` is its name in sentences, if not the name of its class; `aliases` are other names of its fields. `lists` are
    lists that a single item may stand for. `later` are the fields that came after the first release: the hash leaves
    them out while they have their default, so that definitions written before them keep theirs.
    """

    noun: ClassVar[str] = ""
    aliases: ClassVar[Mapping[str, str]] = {}
    lists: ClassVar[tuple[str, ...]] = ()
    later: ClassVar[frozenset[str]] = frozenset()


class CanvasPosition(DefinitionPart, frozen=True, kw_only=True):
    """Where a builder draws a node."""

    noun = "position"

    x: Number
    y: Number


class RetryDefinition(DefinitionPart, frozen=True, kw_only=True):
    """How often and how patiently a failed node is tried again; `max_attempts` counts every call."""

    noun = "retry"

    max_attempts: Positive | Literal["forever"] = 3
    delay: Duration = 1_000
    multiplier: Annotated[float, Meta(ge=1, le=1_000)] = 2.0
    max_delay: Duration = 3_600_000
    jitter: Annotated[float, Meta(ge=0, le=1)] = 0.1
    retry_on: tuple[ShortText, ...] = ()
    ignore: tuple[ShortText, ...] = ()
    on_exhausted: Literal["fail", "pause"] = "fail"


class ConcurrencyDefinition(DefinitionPart, frozen=True, kw_only=True):
    """How many executions of a workflow (with the same key) may run at once, and what happens to one more."""

    noun = "concurrency"

    limit: Positive
    key: Text = ""
    on_conflict: Literal["queue", "reject", "cancel_running"] = "queue"


class RateDefinition(DefinitionPart, frozen=True, kw_only=True):
    """How many executions of a workflow (with the same key) may start in a length of time; one more waits."""

    noun = "rate"

    limit: Positive
    per: Duration
    key: Text = ""


class WorkflowSettings(DefinitionPart, frozen=True, kw_only=True):
    """How the executions of a workflow behave as a whole."""

    noun = "settings"

    later = frozenset({"rate", "undo", "resume_data"})

    durability: Literal["step", "leg"] = "step"
    resume: Literal["sequential", "concurrent"] = "sequential"
    max_pause: Duration | Literal["none"] = DEFAULT_MAX_PAUSE
    timeout: Duration | None = None
    on_resume_failure: Literal["fail", "reopen"] = "fail"
    concurrency: ConcurrencyDefinition | None = None
    rate: RateDefinition | None = None
    max_recoveries: Count = 10
    retention: Duration | None = None
    undo: Duration | None = None
    resume_data: Schema | None = None


class Node(DefinitionPart, frozen=True, kw_only=True):
    """The fields that every node has."""

    id: Id
    type: Id
    label: ShortText = ""
    description: str = ""
    join: Literal["all", "any"] = "all"
    on_error: Literal["fail", "continue"] = "fail"
    position: CanvasPosition | None = None
    extra: Extra = {}


class Edge(DefinitionPart, frozen=True, kw_only=True):
    """From a port of one node to another node of the same graph."""

    source: Id
    target: Id
    port: Id
    id: ShortText = ""
    extra: Extra = {}


class GraphDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Nodes and the edges between them; `start` names the nodes that begin."""

    noun = "graph"

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    start: tuple[Id, ...] = ()
    extra: Extra = {}


class DeliveredSignal(DefinitionPart, frozen=True, kw_only=True):
    """The signal that a trigger sends for each input, instead of starting an execution."""

    noun = "delivery"

    signal: SignalName
    key: Text = ""


class TriggerDefinition(DefinitionPart, frozen=True, kw_only=True):
    """What starts executions by itself. The fields that every trigger has; its type has the others."""

    noun = "trigger"

    name: Id
    type: Id
    description: str = ""
    filter: Expression | None = None
    input: Value = "${trigger.data}"
    tags: tuple[Text, ...] = ()
    priority: Priority | Text = 0
    correlation_id: Text | None = None
    dedup: Duration = DEFAULT_DEDUP
    max_pending: Annotated[int, Meta(ge=1, le=1_000_000)] = DEFAULT_PENDING
    deliver: DeliveredSignal | None = None
    extra: Extra = {}


AnyTrigger = Annotated[TriggerDefinition, Meta(extra={"kind": "trigger"})]


class HookSecret(DefinitionPart, frozen=True, kw_only=True):
    """A secret that signs deliveries, by its name; one that was replaced counts `until` a moment."""

    noun = "secret of a webhook"

    name: SecretName
    until: Instant | None = None


class InlineDestination(DefinitionPart, frozen=True, kw_only=True):
    """A webhook that has no name of its own; with secrets, what is sent to it is signed."""

    noun = "inline destination"
    lists = ("secret",)

    webhook: Annotated[str, Meta(min_length=1, max_length=2_000)]
    secret: Annotated[tuple[HookSecret, ...], Meta(max_length=10)] = ()


class MessageDefinition(DefinitionPart, frozen=True, kw_only=True):
    """What is said, in the place of the default text of an occasion."""

    noun = "message"

    subject: Text = ""
    text: Text


class NotifyDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Which occasions are told to whom, by which destination."""

    noun = "notification"
    lists = ("on", "to")

    on: Annotated[tuple[OccasionKind, ...], Meta(min_length=1, max_length=len(OCCASIONS))]
    to: Annotated[tuple[ShortText, ...], Meta(max_length=MOST_RECIPIENTS)] = ()
    via: DestinationName | InlineDestination
    message: MessageDefinition | None = None


class Heading(DefinitionPart, frozen=True, kw_only=True):
    """The metadata of a workflow: everything beside its graph."""

    noun = "definition"
    later = frozenset({"secrets", "triggers", "notify"})

    name: WorkflowName
    description: str = ""
    input: Schema = {}
    variables: Data = {}
    secrets: tuple[SecretName, ...] = ()
    settings: WorkflowSettings = WorkflowSettings()
    tags: tuple[ShortText, ...] = ()
    triggers: tuple[AnyTrigger, ...] = ()
    notify: Annotated[tuple[NotifyDefinition, ...], Meta(max_length=MOST_RULES)] = ()
    extra: Extra = {}


class Definition(Heading, frozen=True, kw_only=True):
    """A named workflow."""

    graph: GraphDefinition
