# Written by tools/sync_stub.py from the signatures of the async classes: change those.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from ssl import SSLContext
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, overload

from layover.client.request_policy import RequestPolicy
from layover.core.definitions.problems import Problem
from layover.core.engine.events import PointKind
from layover.core.engine.state import ExecutionStatus
from layover.core.moments import Moment
from layover.errors import Failure
from layover.interface.arguments import EventOrder, OnConflict, Order, Until
from layover.interface.durations import Duration
from layover.interface.sources import Definition
from layover.model.access import ApiKey, AuditEntry, Caller, NewApiKey, OpenSession, SecretStatus, SignInLink
from layover.model.batches import BatchCanary, BatchInfo, BatchItem
from layover.model.deliveries import Delivery, DeliveryAttempt, Destination, DestinationKind, Redelivered
from layover.model.deploy_plans import DeployPlan
from layover.model.diagnosis import Diagnosis
from layover.model.executions import (
    Event,
    Execution,
    ExecutionCounts,
    ExecutionSummary,
    Graph,
    Lease,
    Leg,
    LogLine,
    NodeExecution,
    Progress,
    ReplayStep,
    WaitingOn,
    Why,
)
from layover.model.forks import ForkPlan
from layover.model.monitoring import DueTimer, RunningInstance, Stats, StatsSpan
from layover.model.node_searches import FoundNode
from layover.model.pause_ends import ResumeSignal
from layover.model.people import Person
from layover.model.points import Approvers, Decision, LoopScope, May, ParallelScope, PausePoint, PointLink, Question
from layover.model.proofs import AuditKeySet, Receipt
from layover.model.repeat_plans import RepeatPlan
from layover.model.resumes import ResumeEntry
from layover.model.scheduled_retries import ScheduledRetry
from layover.model.shared import Page
from layover.model.signals import SignalReceipt
from layover.model.triggers import Backfilled, Fired, Replayed, TriggerEvent, TriggerInput, TriggerOccurrence
from layover.model.user_settings import UserSettings
from layover.model.views import SavedView
from layover.model.workflows import (
    Bundle,
    Differences,
    DryRun,
    NodeType,
    Resting,
    WorkflowChange,
    WorkflowSource,
    WorkflowVersion,
)
from layover.nodes.notifier import NotifierFunction, P, R
from layover.nodes.registry import AnyFunction
from layover.ports.directory import Directory
from layover.ports.secrets import Secrets
from layover.settings import Settings

__all__ = [
    "SyncBatchHandle",
    "SyncCallbackHandle",
    "SyncClient",
    "SyncDeliveryHandle",
    "SyncDestinationHandle",
    "SyncDoor",
    "SyncEngine",
    "SyncExecutionHandle",
    "SyncListing",
    "SyncPausePointHandle",
    "SyncTriggerHandle",
    "SyncWorkflowHandle",
]

_T = TypeVar("_T")

class SyncListing(Generic[_T]):
    def page(self, limit: int = 50, cursor: str | None = None) -> Page[_T]: ...
    def __iter__(self) -> Iterator[_T]: ...
    def all(self) -> list[_T]: ...

class SyncExecutionHandle:
    id: str
    workflow: str
    version: int | None
    status: str
    outcome: str
    outcome_reason: str
    input: Any
    output: Any
    error: Failure | None
    variables: dict[str, Any]
    tags: tuple[str, ...]
    priority: int
    correlation_id: str | None
    parent_id: str | None
    forked_from: str | None
    forked_at: int | None
    trigger: Any
    trigger_cursors: dict[str, str]
    user: str | None
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    duration_ms: int | None
    paused_at: Moment | None
    paused_reason: str | None
    paused_node: str | None
    resume_at: Moment | None
    resume_on: ResumeSignal | None
    breakpoints: dict[str, str]
    next_nodes: tuple[str, ...]
    resume_count: int
    last_resumed_at: Moment | None
    resume_data: Any
    nodes_executed: int
    notifications_sent: int | None
    last_seq: int
    waiting_on: tuple[WaitingOn, ...]
    lease: Lease | None
    hash: str
    response: Any
    closed: bool
    info: Execution
    def refresh(self) -> Self: ...
    def result(self, *, timeout: Duration | None = None) -> Any: ...
    def wait(self, until: Until = "end", *, timeout: Duration | None = None) -> Self: ...
    def pause(
        self,
        reason: str = "",
        *,
        before: str | None = None,
        until: datetime | None = None,
        until_cron: str | None = None,
        zone: str | None = None,
        resume_on: ResumeSignal | Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> Self: ...
    def clear_breakpoint(self, node: str | None = None) -> Self: ...
    def resume(
        self,
        data: Mapping[str, object] | None = None,
        *,
        approved: bool | None = None,
        reason: str = "",
        at: datetime | None = None,
        cron: str | None = None,
        zone: str | None = None,
        on: ResumeSignal | Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> Self: ...
    def clear_resume(self) -> Self: ...
    def cancel(self, reason: str = "", *, idempotency_key: str | None = None) -> Self: ...
    def retry(self, *, reason: str = "", idempotency_key: str | None = None) -> Self: ...
    def rewind(self, to: str, *, reason: str = "", idempotency_key: str | None = None) -> Self: ...
    def fork(
        self,
        from_: str | int | None = None,
        *,
        input: object = ...,
        version: int | None = None,
        id: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> SyncExecutionHandle: ...
    def plan_fork(self, from_: str | int | None = None, *, version: int | None = None) -> ForkPlan: ...
    def run_now(
        self, context_id: str | None = None, *, reason: str = "", idempotency_key: str | None = None
    ) -> Self: ...
    def cancel_retry(self, context_id: str, *, reason: str = "", idempotency_key: str | None = None) -> Self: ...
    def move(
        self,
        version: int,
        *,
        map: Mapping[str, str] | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Self: ...
    def plan_retry(self) -> RepeatPlan: ...
    def plan_rewind(self, to: str) -> RepeatPlan: ...
    def point(self, context_id: str) -> SyncPausePointHandle: ...
    def points(
        self, *, status: str | Sequence[str] = ("open",), children: bool = False
    ) -> SyncListing[SyncPausePointHandle]: ...
    def answer(self, context_id: str, data: object = None, *, comment: str = "") -> SyncPausePointHandle: ...
    def history(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        context_id: str | None = None,
        type: str | Sequence[str] = (),
        order: EventOrder = "oldest",
    ) -> SyncListing[Event]: ...
    def events(self, *, since: int = 0) -> Iterator[Event]: ...
    def watch(self, *, since: int = 0) -> Iterator[Event | Progress | LogLine]: ...
    def logs(self, *, node: str | None = None, follow: bool = False) -> Iterator[LogLine]: ...
    def nodes(
        self, *, parent: str | None = None, status: str | Sequence[str] = (), context_id: str | None = None
    ) -> SyncListing[NodeExecution]: ...
    def legs(self) -> SyncListing[Leg]: ...
    def resume_queue(self) -> SyncListing[ResumeEntry]: ...
    def replay(self, *, since: int = 0) -> SyncListing[ReplayStep]: ...
    def graph(self) -> Graph: ...
    def why(self) -> Why: ...

class SyncPausePointHandle:
    id: str
    execution_id: str
    workflow: str
    context_id: str
    node: str
    kind: PointKind
    status: str
    title: str
    schema: Any
    shown: Any
    response: Any
    failure: Failure | None
    opened_at: Moment
    deadline: Moment | None
    on_deadline: str | None
    leads_to: dict[str, str]
    view: str | None
    approvers: Approvers | None
    need: int | None
    reject_need: int | None
    order: Literal["any", "sequence"] | None
    comment_required: bool
    decisions: tuple[Decision, ...]
    answered_by: str | None
    answered_at: Moment | None
    seen: str | None
    final_at: Moment | None
    taken_back_by: tuple[str, ...]
    applied_at: Moment | None
    queue_position: int | None
    snapshot_ready: bool
    parallel_scope: ParallelScope | None
    loop_scope: LoopScope | None
    requester: str | None
    claimed_by: str | None
    claimed_until: Moment | None
    questions: tuple[Question, ...]
    may: May | None
    info: PausePoint
    def refresh(self) -> Self: ...
    def receipt(self, user: str | None = None) -> Receipt: ...
    def why(self) -> Why: ...
    def answer(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self: ...
    def approve(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self: ...
    def reject(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self: ...
    def delegate(self, to: str, *, comment: str = "", idempotency_key: str | None = None) -> Self: ...
    def take_back(self, reason: str = "", *, idempotency_key: str | None = None) -> Self: ...
    def claim(self, *, take: bool = False, idempotency_key: str | None = None) -> Self: ...
    def release(self) -> Self: ...
    def ask(self, question: str, *, to: str | None = None, idempotency_key: str | None = None) -> Self: ...
    def reply(self, text: str, *, number: int | None = None, idempotency_key: str | None = None) -> Self: ...
    def cancel(self, reason: str = "", *, idempotency_key: str | None = None) -> Self: ...
    def create_link(self, user: str, *, expires_in: Duration | None = None) -> PointLink: ...
    def revoke_links(self, user: str | None = None) -> int: ...

class SyncWorkflowHandle:
    name: str
    version: int
    hash: str
    state: str
    state_reason: str
    resume_at: Moment | None
    resume_on: ResumeSignal | None
    breakpoints: dict[str, str]
    description: str
    tags: tuple[str, ...]
    created_at: Moment
    definition: dict[str, Any] | None
    addresses: dict[str, str]
    info: WorkflowVersion
    def refresh(self) -> Self: ...
    def pause(
        self,
        reason: str = "",
        *,
        before: str | None = None,
        running: bool = False,
        until: datetime | None = None,
        until_cron: str | None = None,
        zone: str | None = None,
        resume_on: ResumeSignal | Mapping[str, object] | None = None,
    ) -> WorkflowChange: ...
    def clear_breakpoint(self, node: str | None = None) -> WorkflowChange: ...
    def resume(
        self,
        *,
        at: datetime | None = None,
        cron: str | None = None,
        zone: str | None = None,
        on: ResumeSignal | Mapping[str, object] | None = None,
    ) -> WorkflowChange: ...
    def clear_resume(self) -> WorkflowChange: ...
    def activate(self) -> WorkflowChange: ...
    def deactivate(self, reason: str = "") -> WorkflowChange: ...
    def delete(self) -> None: ...
    def versions(self) -> SyncListing[WorkflowVersion]: ...
    def graph(self) -> Graph: ...
    def source(self) -> WorkflowSource: ...
    def diff(self, before: int | None = None, after: int | None = None) -> Differences: ...
    def compare(self, definition: Definition) -> Differences: ...
    def resting(self) -> Resting: ...
    def dry_run(
        self,
        input: object = None,
        *,
        outputs: Mapping[str, object] | None = None,
        answers: Mapping[str, object] | None = None,
    ) -> DryRun: ...

class SyncTriggerHandle:
    id: str
    workflow: str
    name: str
    type: str
    state: str
    reason: str
    next_at: Moment | None
    failures: int
    cursor: str | None
    definition: dict[str, Any]
    managed: bool
    address: str | None
    def refresh(self) -> Self: ...
    def pause(self, reason: str = "", *, idempotency_key: str | None = None) -> Self: ...
    def resume(self, *, catch_up: bool = False, idempotency_key: str | None = None) -> Self: ...
    def rewind(self, cursor: str | None, *, idempotency_key: str | None = None) -> Self: ...
    def fire(self, data: object = None, *, id: str | None = None, dry_run: bool = False) -> Fired: ...
    def backfill(
        self,
        begin: str | date,
        end: str | date,
        *,
        again: bool = False,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Backfilled: ...
    def next(self, count: int = 5) -> tuple[TriggerOccurrence, ...]: ...
    def why(self) -> Why: ...
    def inputs(self, *, state: str | None = None) -> SyncListing[TriggerInput]: ...
    def history(self) -> SyncListing[TriggerEvent]: ...
    def replay(self, input_id: str, *, idempotency_key: str | None = None) -> TriggerInput: ...
    def replay_all(self, *, limit: int = 100, cursor: str | None = None) -> Replayed: ...
    def discard(self, input_id: str, *, idempotency_key: str | None = None) -> TriggerInput: ...
    def update(self, definition: Mapping[str, object], *, allow_unknown: bool = False) -> Self: ...
    def delete(self) -> None: ...
    def rotate_token(self, *, grace: Duration | None = None) -> Self: ...

class SyncBatchHandle:
    id: str | None
    act: str
    status: str
    code: str | None
    reason: str
    user: str | None
    where: dict[str, Any]
    options: dict[str, Any]
    rate: str | None
    canary: BatchCanary | None
    created_at: Moment
    ended_at: Moment | None
    total: int
    more: bool
    done: int
    failed: int
    skipped: int
    pending: int
    sample: tuple[BatchItem, ...]
    info: BatchInfo
    def refresh(self) -> Self: ...
    def wait(self, *, timeout: Duration | None = None) -> Self: ...
    def stop(self, reason: str = "") -> Self: ...
    def continue_(self) -> Self: ...
    def items(self, *, status: str | None = None) -> SyncListing[BatchItem]: ...
    def delete(self) -> None: ...

class SyncDeliveryHandle:
    id: str
    destination: str
    kind: str
    state: str
    reason: str
    execution_id: str | None
    workflow: str | None
    point_id: str | None
    user: str | None
    created_at: Moment
    due_at: Moment | None
    settled_at: Moment | None
    attempts: tuple[DeliveryAttempt, ...]
    info: Delivery
    def refresh(self) -> Self: ...
    def redeliver(self, *, idempotency_key: str | None = None) -> Self: ...
    def discard(self, *, idempotency_key: str | None = None) -> Self: ...

class SyncDestinationHandle:
    name: str
    kind: DestinationKind | None
    state: str
    reason: str
    managed: bool
    definition: dict[str, Any]
    failures: int
    open_until: Moment | None
    info: Destination
    def refresh(self) -> Self: ...
    def update(self, definition: Mapping[str, object]) -> Self: ...
    def delete(self) -> None: ...
    def test(self, *, to: str | None = None) -> SyncDeliveryHandle: ...
    def enable(self, *, idempotency_key: str | None = None) -> Self: ...
    def disable(self, reason: str = "", *, idempotency_key: str | None = None) -> Self: ...

class SyncCallbackHandle:
    def complete(self, output: object = None) -> None: ...
    def fail(self, message: str = "", *, retryable: bool = True) -> None: ...
    def heartbeat(self) -> None: ...

class SyncDoor:
    def register(self, workflow: Definition, *, allow_unknown: bool = False) -> SyncWorkflowHandle: ...
    def check(self, workflow: Definition, *, allow_unknown: bool = False) -> tuple[Problem, ...]: ...
    def node_types(self) -> tuple[NodeType, ...]: ...
    def definition_schema(self) -> dict[str, Any]: ...
    def dry_run(
        self,
        workflow: Definition,
        input: object = None,
        *,
        outputs: Mapping[str, object] | None = None,
        answers: Mapping[str, object] | None = None,
    ) -> DryRun: ...
    def plan(
        self, workflow: Definition, *, map: Mapping[str, str] | None = None, allow_unknown: bool = False
    ) -> DeployPlan: ...
    def workflow(self, name: str, *, version: int | None = None) -> SyncWorkflowHandle: ...
    def workflows(self) -> SyncListing[WorkflowVersion]: ...
    def export_workflows(self, *names: str) -> Bundle: ...
    def import_workflows(self, bundle: Bundle, *, allow_unknown: bool = False) -> tuple[WorkflowVersion, ...]: ...
    def start(
        self,
        workflow: str | SyncWorkflowHandle,
        input: object = None,
        *,
        id: str | None = None,
        idempotency_key: str | None = None,
        on_conflict: OnConflict = "reject",
        version: int | None = None,
        tags: Sequence[str] = (),
        priority: int = 0,
        correlation_id: str | None = None,
        trigger: object = None,
        delay: Duration | None = None,
        until: Until | None = None,
        timeout: Duration | None = None,
    ) -> SyncExecutionHandle: ...
    def run(
        self,
        workflow: str | SyncWorkflowHandle,
        input: object = None,
        *,
        timeout: Duration | None = None,
        **start_options: Any,
    ) -> Any: ...
    def execution(self, id: str) -> SyncExecutionHandle: ...
    def executions(
        self,
        *,
        workflow: str | None = None,
        status: str | Sequence[str] = (),
        tag: str | None = None,
        parent_id: str | None = None,
        where: Sequence[str] = (),
        contains: Mapping[str, object] | None = None,
        correlation_id: str | None = None,
        error_code: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_duration: Duration | None = None,
        max_duration: Duration | None = None,
        min_resumes: int | None = None,
        resumed: bool | None = None,
        user: str | None = None,
        on: str | Sequence[str] = (),
        node_type: str | None = None,
        q: str | None = None,
        order: Order = "created",
    ) -> SyncListing[ExecutionSummary]: ...
    def counts(self) -> dict[ExecutionStatus, int]: ...
    def waiting_counts(self) -> ExecutionCounts: ...
    def point(self, id: str) -> SyncPausePointHandle: ...
    def points(
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        status: str | Sequence[str] = ("open",),
    ) -> SyncListing[SyncPausePointHandle]: ...
    def inbox(
        self, *, user: str | None = None, roles: Sequence[str] = (), workflow: str | None = None
    ) -> SyncListing[SyncPausePointHandle]: ...
    def retries(self, *, workflow: str | None = None) -> SyncListing[ScheduledRetry]: ...
    def signal(self, name: str, data: object = None, *, key: str = "", id: str | None = None) -> SignalReceipt: ...
    def callback(self, token: str | None = None, *, point_id: str | None = None) -> SyncCallbackHandle: ...
    def trigger(self, name: str) -> SyncTriggerHandle: ...
    def create_trigger(
        self,
        workflow: str | SyncWorkflowHandle,
        definition: Mapping[str, object],
        *,
        idempotency_key: str | None = None,
        allow_unknown: bool = False,
    ) -> SyncTriggerHandle: ...
    def triggers(self, *, workflow: str | None = None) -> SyncListing[SyncTriggerHandle]: ...
    def me(self) -> Caller: ...
    def audit_keys(self) -> AuditKeySet: ...
    def audit(
        self,
        *,
        user: str | None = None,
        act: str | None = None,
        target: str | None = None,
        execution_id: str | None = None,
    ) -> SyncListing[AuditEntry]: ...
    def api_keys(self) -> SyncListing[ApiKey]: ...
    def create_api_key(
        self,
        name: str,
        *,
        user: str,
        roles: Sequence[str],
        scopes: Sequence[str] | None = None,
        expires_in: Duration | None = None,
    ) -> NewApiKey: ...
    def rotate_api_key(self, id: str, *, grace: Duration | None = None) -> NewApiKey: ...
    def delete_api_key(self, id: str) -> None: ...
    def create_sign_in_link(
        self,
        user: str,
        *,
        roles: Sequence[str],
        scopes: Sequence[str] | None = None,
        expires_in: Duration | None = None,
    ) -> SignInLink: ...
    def sessions(self, *, user: str | None = None) -> SyncListing[OpenSession]: ...
    def end_session(self, id: str) -> None: ...
    def secrets(self) -> SyncListing[SecretStatus]: ...
    def close(self, grace: Duration | None = None) -> None: ...
    def open(self) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def destination(self, name: str) -> SyncDestinationHandle: ...
    def destinations(self) -> SyncListing[SyncDestinationHandle]: ...
    def create_destination(
        self, definition: Mapping[str, object], *, idempotency_key: str | None = None
    ) -> SyncDestinationHandle: ...
    def delivery(self, id: str) -> SyncDeliveryHandle: ...
    def deliveries(
        self, *, state: str | None = None, destination: str | None = None, execution_id: str | None = None
    ) -> SyncListing[SyncDeliveryHandle]: ...
    def redeliver(
        self,
        *,
        state: str = "dead",
        destination: str | None = None,
        execution_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Redelivered: ...
    def person(self, user: str) -> Person: ...
    def people(self) -> SyncListing[Person]: ...
    def save_person(
        self,
        user: str,
        *,
        roles: Sequence[str] = (),
        addresses: Mapping[str, str] | None = None,
        language: str = "",
        zone: str = "",
        away: Mapping[str, object] | None = None,
        mute: Sequence[str] = (),
    ) -> Person: ...
    def delete_person(self, user: str) -> None: ...
    def batch(
        self,
        act: str,
        where: Mapping[str, Any],
        *,
        dry_run: bool = False,
        rate: str | None = None,
        canary: Mapping[str, Any] | None = None,
        reason: str | None = None,
        to: str | None = None,
        version: int | None = None,
        map: Mapping[str, str] | None = None,
        data: Any = ...,
        approved: bool | None = None,
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> SyncBatchHandle: ...
    def find_batch(self, id: str) -> SyncBatchHandle: ...
    def batches(self, *, status: str | None = None) -> SyncListing[SyncBatchHandle]: ...
    def node_executions(
        self,
        *,
        workflow: str | None = None,
        tag: str | None = None,
        node: str | None = None,
        type: str | None = None,
        where: str | Sequence[str] = (),
        status: str | Sequence[str] = (),
        error_code: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_duration: Duration | None = None,
        max_duration: Duration | None = None,
        min_resumes: int | None = None,
    ) -> SyncListing[FoundNode]: ...
    def instances(self) -> tuple[RunningInstance, ...]: ...
    def timers(self) -> SyncListing[DueTimer]: ...
    def doctor(self) -> Diagnosis: ...
    def stats(self, span: StatsSpan = "hour") -> Stats: ...
    def views(self) -> tuple[SavedView, ...]: ...
    def view(self, name: str) -> SavedView: ...
    def save_view(self, name: str, **filter: Any) -> SavedView: ...
    def delete_view(self, name: str) -> None: ...
    def my_settings(self) -> UserSettings: ...
    def save_my_settings(self, **settings: Any) -> UserSettings: ...

class SyncEngine(SyncDoor):
    def __init__(
        self,
        db: str = ...,
        *,
        nodes: Iterable[AnyFunction] = (),
        workflows: Iterable[Definition] = (),
        probes: Mapping[str, AnyFunction] | None = None,
        undos: Mapping[str, AnyFunction] | None = None,
        secrets: Iterable[Secrets] = (),
        directory: Directory | None = None,
        settings: Settings | None = None,
        user: str | None = None,
        roles: Sequence[str] = (),
        drive: bool = True,
    ) -> None: ...
    def as_user(self, user: str, roles: Sequence[str] = ()) -> Self: ...
    @overload
    def notifier(self, function: Callable[P, R], /) -> NotifierFunction[P, R]: ...
    @overload
    def notifier(
        self, /, *, name: str | None = None, on: Sequence[str] = ()
    ) -> Callable[[Callable[P, R]], NotifierFunction[P, R]]: ...
    def close(self, grace: Duration | None = None) -> None: ...
    def hook_addresses(self) -> dict[str, str]: ...
    def serve(self) -> None: ...

class SyncClient(SyncDoor):
    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        policy: RequestPolicy | None = None,
        ssl: SSLContext | None = None,
    ) -> None: ...
    def close(self, grace: Duration | None = None) -> None: ...
    def callback(self, token: str | None = None, *, point_id: str | None = None) -> SyncCallbackHandle: ...
