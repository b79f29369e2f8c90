"""The definition of a workflow, as everything behind the reader sees it.

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
    Duration,
    Extra,
    Id,
    Number,
    Positive,
    Schema,
    ShortText,
    Text,
    WorkflowName,
)

DEFAULT_MAX_PAUSE = 7 * 86_400_000


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a definition.

    `noun` is what a sentence calls it, if not by the name of its class; `aliases` are other names that a field has.
    `later` are the fields that came after the first release: the hash leaves them out while they have their default, so
    that definitions written before them keep theirs.
    """

    noun: ClassVar[str] = ""
    aliases: ClassVar[Mapping[str, str]] = {}
    later: ClassVar[frozenset[str]] = frozenset()


class Position(Part, frozen=True, kw_only=True):
    """Where a builder draws a node."""

    x: Number
    y: Number


class Retry(Part, frozen=True, kw_only=True):
    """How often and how patiently a failed node is tried again; `max_attempts` counts every call."""

    max_attempts: Positive | Literal["forever"] = 3
    delay: Duration = 1_000
    multiplier: Annotated[float, Meta(ge=1, le=1_000)] = 2.0
    max_delay: Duration = 3_600_000
    jitter: Annotated[float, Meta(ge=0, le=1)] = 0.1
    retry_on: tuple[ShortText, ...] = ()
    ignore: tuple[ShortText, ...] = ()
    on_exhausted: Literal["fail", "pause"] = "fail"


class Concurrency(Part, frozen=True, kw_only=True):
    """How many executions of a workflow (with the same key) may run at once, and what happens to one more."""

    limit: Positive
    key: Text = ""
    on_conflict: Literal["queue", "reject", "cancel_running"] = "queue"


class Rate(Part, frozen=True, kw_only=True):
    """How many executions of a workflow (with the same key) may start in a length of time; one more waits."""

    limit: Positive
    per: Duration
    key: Text = ""


class Settings(Part, frozen=True, kw_only=True):
    """How the executions of a workflow behave as a whole."""

    later = frozenset({"rate"})

    durability: Literal["step", "leg"] = "step"
    resume: Literal["sequential", "concurrent"] = "sequential"
    max_pause: Duration | Literal["none"] = DEFAULT_MAX_PAUSE
    timeout: Duration | None = None
    on_resume_failure: Literal["fail", "reopen"] = "fail"
    concurrency: Concurrency | None = None
    rate: Rate | None = None
    max_recoveries: Count = 10
    retention: Duration | None = None


class Node(Part, frozen=True, kw_only=True):
    """What every node has, whatever its type."""

    id: Id
    type: Id
    label: ShortText = ""
    description: str = ""
    join: Literal["all", "any"] = "all"
    on_error: Literal["fail", "continue"] = "fail"
    position: Position | None = None
    extra: Extra = {}


class Edge(Part, frozen=True, kw_only=True):
    """From a port of one node to another node of the same graph."""

    source: Id
    target: Id
    port: Id
    id: ShortText = ""
    extra: Extra = {}


class Graph(Part, frozen=True, kw_only=True):
    """Nodes and the edges between them; `start` names the nodes that begin."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    start: tuple[Id, ...] = ()
    extra: Extra = {}


class Heading(Part, frozen=True, kw_only=True):
    """What a workflow says about itself, beside its graph."""

    noun = "definition"

    name: WorkflowName
    description: str = ""
    input: Schema = {}
    variables: Data = {}
    settings: Settings = Settings()
    tags: tuple[ShortText, ...] = ()
    extra: Extra = {}


class Definition(Heading, frozen=True, kw_only=True):
    """A named workflow."""

    graph: Graph
