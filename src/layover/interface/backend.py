"""What the door needs of whatever does the work: an engine in this process, or a server.

Each family is one protocol. All of them speak the same structs, units and errors: an id is text, a length of time is
milliseconds or seconds as its name says, a list is a page with a cursor. Identity is part of the backend: it acts as
one user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from layover.core.engine.state import ExecutionStatus
    from layover.interface.arguments import Until
    from layover.interface.batches_backend import BatchesBackend
    from layover.interface.deliveries_backend import DeliveriesBackend, DestinationsBackend, PeopleBackend
    from layover.interface.monitoring_backend import MonitoringBackend
    from layover.interface.requests import (
        AuditSearch,
        EventQuery,
        ExecutionQuery,
        ForkRequest,
        NodeQuery,
        NodeSearch,
        PointAnswer,
        PointQuery,
        ResumeTime,
        StartRequest,
    )
    from layover.interface.triggers_backend import TriggersBackend
    from layover.interface.user_settings_backend import UserSettingsBackend
    from layover.interface.views_backend import ViewsBackend
    from layover.interface.workflows_backend import WorkflowsBackend
    from layover.model.access import ApiKey, AuditEntry, Caller, NewApiKey, OpenSession, SecretStatus, SignInLink
    from layover.model.executions import (
        Event,
        Execution,
        ExecutionCounts,
        ExecutionSummary,
        Graph,
        Leg,
        LogLine,
        NodeExecution,
        Progress,
        ReplayStep,
        Why,
    )
    from layover.model.forks import ForkPlan
    from layover.model.node_searches import FoundNode
    from layover.model.points import PausePoint, PointLink
    from layover.model.proofs import AuditKeySet, Receipt
    from layover.model.repeat_plans import RepeatPlan
    from layover.model.resumes import ResumeEntry
    from layover.model.scheduled_retries import ScheduledRetry
    from layover.model.shared import Page
    from layover.model.signals import SignalReceipt


class ExecutionsBackend(Protocol):
    """Executions: starting, reading, waiting, and what operators do."""

    async def start(self, request: StartRequest) -> Execution:
        """Start an execution; return it when it is as asked for, or when the time for that is over."""

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""

    async def wait(self, execution_id: str, until: Until, timeout: float | None) -> Execution:  # noqa: ASYNC109 - the server or the runtime keeps to it
        """Return an execution once it is as asked for; raise WaitTimeout when that takes too long."""

    async def result(self, execution_id: str, timeout: float | None) -> Any:  # noqa: ASYNC109 - the server or the runtime keeps to it
        """Return the output of an execution once it is there; raise what it failed with."""

    async def list(self, wanted: ExecutionQuery, limit: int, cursor: str | None) -> Page[ExecutionSummary]:
        """Return a page of executions, the newest first, or the one paused longest first."""

    async def counts(self) -> dict[ExecutionStatus, int]:
        """Return how many executions there are, by status."""

    async def waiting_counts(self) -> ExecutionCounts:
        """Return how many executions there are, by status and by what they wait on."""

    async def pause(
        self, execution_id: str, reason: str, idempotency_key: str | None, until: ResumeTime | None = None
    ) -> Execution:
        """Hold an execution, perhaps until a time."""

    async def schedule_resume(
        self, execution_id: str, when: ResumeTime | None, reason: str, idempotency_key: str | None
    ) -> Execution:
        """Set when an execution that is held goes on by itself; None: it no longer does."""

    async def resume(
        self,
        execution_id: str,
        data: Mapping[str, object] | None,
        approved: bool | None,  # noqa: FBT001 - a field of the request
        reason: str,
        idempotency_key: str | None,
    ) -> Execution:
        """Let an execution go on; `approved` decides its only open approval."""

    async def cancel(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """End an execution."""

    async def retry(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """Go on from what failed."""

    async def rewind(self, execution_id: str, to: str, reason: str, idempotency_key: str | None) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""

    async def fork(self, execution_id: str, request: ForkRequest) -> Execution:
        """Begin an execution with results of another one."""

    async def plan_fork(self, execution_id: str, request: ForkRequest) -> ForkPlan:
        """Return what a fork would keep and repeat; nothing is changed."""

    async def run_now(self, execution_id: str, node: str | None, reason: str, idempotency_key: str | None) -> Execution:
        """Let a node go on that waits for time; without one, all of them, or the start."""

    async def set_breakpoint(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Pause an execution before a node, once."""

    async def clear_breakpoint(self, execution_id: str, node: str | None) -> Execution:
        """Do not pause an execution before a node, or before any."""

    async def cancel_retry(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Make no further attempt of a node that is to be tried again."""

    async def retries(self, workflow: str | None, limit: int, cursor: str | None) -> Page[ScheduledRetry]:
        """Return a page of the attempts that open executions are to make later."""

    async def plan_retry(self, execution_id: str) -> RepeatPlan:
        """Return what a retry would repeat; nothing is changed."""

    async def move(
        self, execution_id: str, version: int, map_: Mapping[str, str], reason: str, idempotency_key: str | None
    ) -> Execution:
        """Go on by another version of the workflow."""

    async def plan_rewind(self, execution_id: str, to: str) -> RepeatPlan:
        """Return what a rewind to a node would repeat and drop; nothing is changed."""

    async def history(self, execution_id: str, wanted: EventQuery, limit: int, cursor: str | None) -> Page[Event]:
        """Return a page of the log."""

    def events(self, execution_id: str, since: int) -> AsyncIterator[Event]:
        """Return events as they are written, until the execution closes."""

    async def logs(self, execution_id: str, node: str | None, cursor: str | None) -> Page[LogLine]:
        """Return a page of what nodes have logged; an empty one is behind all that there is so far."""

    def watch(self, execution_id: str, since: int) -> AsyncIterator[Event | Progress | LogLine]:
        """Return events as they are written, and progress as it is reported, until the execution closes."""

    async def nodes(self, execution_id: str, wanted: NodeQuery, limit: int, cursor: str | None) -> Page[NodeExecution]:
        """Return a page of the nodes that were reached."""

    async def search_nodes(self, wanted: NodeSearch, limit: int, cursor: str | None) -> Page[FoundNode]:
        """Return a page of nodes of all executions."""

    async def legs(self, execution_id: str, limit: int, cursor: str | None) -> Page[Leg]:
        """Return a page of the legs."""

    async def resume_queue(self, execution_id: str, limit: int, cursor: str | None) -> Page[ResumeEntry]:
        """Return a page of the resume queue."""

    async def replay(self, execution_id: str, since: int, limit: int, cursor: str | None) -> Page[ReplayStep]:
        """Return a page of the states after each event."""

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution runs, with the states of its nodes."""

    async def why(self, execution_id: str) -> Why:
        """Return why an execution stands still."""


class PointsBackend(Protocol):
    """Pause points: reading and answering."""

    async def get(self, point_id: str) -> PausePoint:
        """Return a pause point."""

    async def at(self, execution_id: str, context_id: str) -> PausePoint:
        """Return the newest pause point of an execution at a context id."""

    async def list(self, wanted: PointQuery, limit: int, cursor: str | None) -> Page[PausePoint]:
        """Return a page of pause points, the oldest first."""

    async def inbox(
        self, user: str | None, roles: Sequence[str], workflow: str | None, limit: int, cursor: str | None
    ) -> Page[PausePoint]:
        """Return a page of the open points that a user may answer; without one, the user of this backend."""

    async def receipt(self, point_id: str, user: str | None) -> Receipt:
        """Return the proof of what a user has decided at a point; without a user, of one's own decision."""

    async def why(self, point_id: str) -> Why:
        """Return what a pause point waits for, and whom it told."""

    async def answer(self, point_id: str, answer: PointAnswer) -> PausePoint:
        """Answer a pause point."""

    async def delegate(self, point_id: str, to: str, comment: str, idempotency_key: str | None) -> PausePoint:
        """Let another user decide at an approval."""

    async def take_back(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Take back what the user of this backend has answered, while that is not final."""

    async def claim(self, point_id: str, *, take: bool, idempotency_key: str | None) -> PausePoint:
        """Claim a pause point for the user."""

    async def release(self, point_id: str) -> PausePoint:
        """Give back the claim of the user."""

    async def ask(self, point_id: str, question: str, to: str | None, idempotency_key: str | None) -> PausePoint:
        """Ask back before answering."""

    async def reply(self, point_id: str, text: str, number: int | None, idempotency_key: str | None) -> PausePoint:
        """Reply to a question that was asked back."""

    async def cancel(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""

    async def create_link(self, point_id: str, user: str, expires_in: int | None) -> PointLink:
        """Make a link by which a user reaches the page of a point."""

    async def revoke_links(self, point_id: str, user: str | None) -> int:
        """Revoke the links to a point, all or those of one user; return how many."""


class SignalsBackend(Protocol):
    """What systems outside tell: signals, and replies to callback nodes by token or by point."""

    async def send(self, name: str, data: object, key: str, id: str | None) -> SignalReceipt:  # noqa: A002 - as everywhere
        """Send a signal."""

    async def complete(self, token: str | None, point_id: str | None, output: object) -> None:
        """Give the output that a callback node waits for."""

    async def fail(self, token: str | None, point_id: str | None, message: str, *, retryable: bool) -> None:
        """Say that what a callback node waits for has failed."""

    async def heartbeat(self, token: str | None, point_id: str | None) -> None:
        """Say that what a callback node waits for is still being worked at."""


class AccessBackend(Protocol):
    """Who acts, what was done, and API keys."""

    async def me(self) -> Caller:
        """Return the user that this backend acts as."""

    async def audit_keys(self) -> AuditKeySet:
        """Return the public keys of seals and receipts."""

    async def audit(self, wanted: AuditSearch, limit: int, cursor: str | None) -> Page[AuditEntry]:
        """Return a page of what was done, the newest first."""

    async def api_keys(self, limit: int, cursor: str | None) -> Page[ApiKey]:
        """Return a page of API keys, the oldest first."""

    async def create_api_key(
        self, name: str, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> NewApiKey:
        """Create an API key, which is shown this once."""

    async def create_sign_in_link(
        self, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> SignInLink:
        """Create a link that signs one browser in, once."""

    async def rotate_api_key(self, key_id: str, grace: int | None) -> NewApiKey:
        """Create an API key in the place of another, which ends after a while."""

    async def delete_api_key(self, key_id: str) -> None:
        """End an API key at once."""

    async def sessions(self, user: str | None, limit: int, cursor: str | None) -> Page[OpenSession]:
        """Return a page of the sessions that have not ended, the oldest first."""

    async def end_session(self, session_id: str) -> None:
        """End a session at once."""

    async def secrets(self, limit: int, cursor: str | None) -> Page[SecretStatus]:
        """Return a page of the secrets that workflows declare, by name."""


class Backend(Protocol):
    """All families."""

    @property
    def executions(self) -> ExecutionsBackend:
        """Executions."""

    @property
    def points(self) -> PointsBackend:
        """Pause points."""

    @property
    def workflows(self) -> WorkflowsBackend:
        """Workflows."""

    @property
    def signals(self) -> SignalsBackend:
        """Signals and callbacks."""

    @property
    def triggers(self) -> TriggersBackend:
        """Triggers."""

    @property
    def destinations(self) -> DestinationsBackend:
        """Destinations."""

    @property
    def batches(self) -> BatchesBackend:
        """Batches."""

    @property
    def deliveries(self) -> DeliveriesBackend:
        """Deliveries."""

    @property
    def views(self) -> ViewsBackend:
        """Saved views."""

    @property
    def user_settings(self) -> UserSettingsBackend:
        """Settings of the user."""

    @property
    def people(self) -> PeopleBackend:
        """People."""

    @property
    def monitoring(self) -> MonitoringBackend:
        """Instances, timers, figures."""

    @property
    def access(self) -> AccessBackend:
        """Users, audit and API keys."""
