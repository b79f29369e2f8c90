"""Workflows: definitions, their versions, and whether they may be started."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from layover.core.engine.events import PointKind
from layover.core.engine.state import ExecutionStatus
from layover.core.moments import Moment
from layover.errors import Failure
from layover.model.executions import Graph, NodeExecution, NodeName, WaitingOn
from layover.model.pause_ends import CronLine, MomentText, ResumeSignal, ResumeSignalBody, ZoneName
from layover.model.shared import Body, Reason, Resource, Value, WorkflowName

WorkflowState = Literal["active", "inactive", "paused", "deleted"]


class WorkflowVersion(Resource, frozen=True, kw_only=True):
    """A version of a workflow, and whether the workflow may be started.

    The definition in canonical form is there where one version is read.
    """

    name: WorkflowName
    version: int
    hash: str
    state: WorkflowState
    state_reason: str = ""
    resume_at: Moment | None = None  # when its pause ends by itself
    resume_on: ResumeSignal | None = None  # the signal that ends it
    breakpoints: dict[str, str] = {}  # nodes before which each of its executions pauses, and why
    description: str = ""
    tags: tuple[str, ...] = ()
    created_at: Moment
    definition: dict[str, Value] | None = None
    addresses: dict[str, str] = {}  # of webhooks with tokens, by name: only shown when the tokens are made


class WorkflowSource(Resource, frozen=True, kw_only=True):
    """The text of a version: the newest that was given for it, with its comments and its order.

    Of a version that was never given as text, such as one that is built in Python, it is the definition written as
    YAML; `as_written` tells.
    """

    name: WorkflowName
    version: int
    media_type: Literal["application/yaml", "application/json"]
    text: str
    as_written: bool
    changed_at: Moment


class Difference(Resource, frozen=True, kw_only=True):
    """One difference between two versions: at `path` in the canonical form, what was there and what is."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Value = None
    after: Value = None


class Differences(Resource, frozen=True, kw_only=True):
    """What is different between two versions of a workflow."""

    name: WorkflowName
    before: int
    after: int
    differences: tuple[Difference, ...]


class RestingNode(Resource, frozen=True, kw_only=True):
    """A node at which executions of a workflow wait: its id in the graph, and how many pause points wait there."""

    id: str
    kind: PointKind
    count: int
    since: Moment  # the oldest of them


class Resting(Resource, frozen=True, kw_only=True):
    """Where the executions of a workflow rest that have not ended.

    `more` says that there are many in all, of this workflow or of others, and not all were counted.
    """

    name: WorkflowName
    executions: dict[ExecutionStatus, int]
    nodes: tuple[RestingNode, ...] = ()
    more: bool = False


class DefinitionProblem(Resource, frozen=True, kw_only=True):
    """Something that is wrong with a definition, and where."""

    code: str
    path: str
    message: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None  # where that ends which stands there
    end_column: int | None = None  # behind its last character
    suggestion: str | None = None
    severity: Literal["error", "warning"] = "error"


class CheckedDefinition(Resource, frozen=True, kw_only=True):
    """Everything that is wrong with a definition; its graph and its input if nothing but warnings was found."""

    problems: tuple[DefinitionProblem, ...]
    graph: Graph | None = None
    input: Value = None  # the JSON schema of what its executions begin with; `{}` takes everything


class NodeType(Resource, frozen=True, kw_only=True):
    """A type that a node may have: built in, or a function of the engine that answers.

    `schema` is the name of its fields among the `$defs` of the schema of definitions. A `switch` has a port more for
    each of its cases.
    """

    name: str
    kind: Literal["built_in", "function"]
    description: str = ""
    ports: tuple[str, ...] = ()
    schema: str


class DryRunBody(Body, frozen=True, kw_only=True):
    """A run in which nothing is called: `outputs` are what nodes give, and `answers` what people and systems say.

    Both are by context id, or by node id for all scopes. A node that has no output here gives null; where an answer
    is missing, the run stands still.
    """

    input: Value = None
    version: Annotated[int, Meta(ge=1)] | None = None
    outputs: dict[str, Value] = {}
    answers: dict[str, Value] = {}


class TextDryRunBody(Body, frozen=True, kw_only=True):
    """A dry run of a definition that is stored nowhere: text in YAML or JSON."""

    definition: Annotated[str, Meta(max_length=2_000_000)]
    input: Value = None
    outputs: dict[str, Value] = {}
    answers: dict[str, Value] = {}


class DryRun(Resource, frozen=True, kw_only=True):
    """What a run would have done; `waiting_on` is where it would stand still for want of an answer."""

    status: ExecutionStatus
    outcome: str = ""
    output: Value = None
    error: Failure | None = None
    nodes: tuple[NodeExecution, ...]
    waiting_on: tuple[WaitingOn, ...] = ()


class PauseWorkflowBody(Body, frozen=True, kw_only=True):
    """Hold what starts from now on; with `running`, what is under way, too.

    The pause ends by itself at a moment, at the next time of a cron line in a time zone, or when a signal arrives.
    With `before`, the workflow goes on, and each of its executions pauses before that node whenever it comes there.
    """

    reason: Reason | None = None
    before: NodeName | None = None
    running: bool = False
    until: MomentText | None = None
    until_cron: CronLine | None = None
    zone: ZoneName | None = None
    resume_on: ResumeSignalBody | None = None


class ResumeWorkflowBody(Body, frozen=True, kw_only=True):
    """When the pause of a workflow ends; without anything, now."""

    at: MomentText | None = None
    cron: CronLine | None = None
    zone: ZoneName | None = None
    on: ResumeSignalBody | None = None


class WorkflowChange(Resource, frozen=True, kw_only=True):
    """How a workflow stands, and how many executions were paused or resumed with it.

    `more` says that there are others left, because there were many: the same call again goes on with them.
    """

    name: WorkflowName
    state: WorkflowState
    reason: str = ""
    executions: int = 0
    more: bool = False
    resume_at: Moment | None = None
    resume_on: ResumeSignal | None = None
    breakpoints: dict[str, str] = {}


class Bundle(Resource, frozen=True, kw_only=True):
    """Definitions to be taken elsewhere: the newest version of each workflow, in canonical form.

    Tokens in addresses of webhooks stay where they are: others are made elsewhere.
    """

    format: Literal["layover/1"] = "layover/1"
    exported_at: Moment | None = None
    workflows: tuple[dict[str, Value], ...]
    triggers: tuple[dict[str, Value], ...] = ()  # those that belong to no definition, each with its `workflow`
    sources: dict[str, str] = {}  # the texts of those that were given as text, by name


class BundleBody(Body, frozen=True, kw_only=True):
    """Definitions from elsewhere; if one of them cannot be used, none is kept."""

    format: Literal["layover/1"]
    workflows: Annotated[list[dict[str, Value]], Meta(max_length=1_000)]
    triggers: Annotated[list[dict[str, Value]], Meta(max_length=1_000)] = []
    sources: Annotated[dict[str, str], Meta(max_length=1_000)] = {}
    exported_at: str | None = None


class Imported(Resource, frozen=True, kw_only=True):
    """The versions that definitions have become."""

    workflows: tuple[WorkflowVersion, ...]
