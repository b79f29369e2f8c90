"""The door: everything that a program can ask, the same of an engine in its own process and of a server.

`Engine` and `Client` add construction and lifecycle, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.core.ids import trigger_id
from layover.errors import BadUse, ExecutionCancelled, ExecutionFailed, Failure, WaitTimeout
from layover.interface.arguments import (
    EXECUTION_STATUSES,
    ON_CONFLICT,
    ORDERS,
    POINT_KINDS,
    POINT_STATUSES,
    UNTIL,
    WAITS_ON,
    OnConflict,
    Order,
    Until,
    check_word,
    check_words,
)
from layover.interface.batches_door import BatchesDoor
from layover.interface.bounds import (
    CONDITION,
    MOST_CONDITIONS,
    MOST_ROLES,
    MOST_TAGS,
    PRIORITY,
    SHORT,
    check_key,
    check_name_in_filter,
    check_number,
    check_text,
    check_texts,
    checked_flag,
    checked_map,
    checked_name,
    checked_part,
)
from layover.interface.callback_handle import CallbackHandle
from layover.interface.deliveries_door import DeliveriesDoor
from layover.interface.durations import Duration, instant_of, milliseconds_of, seconds_of
from layover.interface.execution_handle import ExecutionHandle
from layover.interface.listing import Listing
from layover.interface.monitoring_door import MonitoringDoor
from layover.interface.nodes_door import NodesDoor
from layover.interface.pause_point_handle import PausePointHandle, handles_of, listed_points
from layover.interface.requests import AuditSearch, ExecutionQuery, PointQuery, StartRequest
from layover.interface.sources import Definition, source_of
from layover.interface.trigger_handle import TriggerHandle, trigger_document
from layover.interface.views_door import ViewsDoor
from layover.interface.workflow_handle import WorkflowHandle
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from layover.core.definitions.problems import Problem
    from layover.core.engine.state import ExecutionStatus
    from layover.interface.backend import Backend
    from layover.model.access import ApiKey, AuditEntry, Caller, NewApiKey, OpenSession, SecretStatus, SignInLink
    from layover.model.deploy_plans import DeployPlan
    from layover.model.executions import Execution, ExecutionCounts, ExecutionSummary
    from layover.model.proofs import AuditKeySet
    from layover.model.scheduled_retries import ScheduledRetry
    from layover.model.signals import SignalReceipt
    from layover.model.workflows import Bundle, DryRun, NodeType, WorkflowVersion

_UNNAMED: Final = ("reject", None, None, None)  # what most starts give of what `_check_named` checks


class Door(DeliveriesDoor, BatchesDoor, NodesDoor, MonitoringDoor, ViewsDoor):
    """Everything that a program can ask, of whatever does the work."""

    _backend: Backend

    # Workflows

    async def register(self, workflow: Definition, *, allow_unknown: bool = False) -> WorkflowHandle:
        """Store a workflow as its newest version: as built in Python, YAML or JSON text, a path, a mapping or a plan.

        A node type that is neither built in nor a function of the engine is refused, unless `allow_unknown`.
        """
        found = await self._backend.workflows.register(source_of(workflow), allow_unknown=allow_unknown)
        return WorkflowHandle(self._backend, found)

    async def check(self, workflow: Definition, *, allow_unknown: bool = False) -> tuple[Problem, ...]:
        """Return everything that is wrong with a workflow; nothing is stored."""
        return await self._backend.workflows.check(source_of(workflow), allow_unknown=allow_unknown)

    async def node_types(self) -> tuple[NodeType, ...]:
        """Return the types that a node may have: those that are built in, and the functions of the engine."""
        return await self._backend.workflows.node_types()

    async def definition_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of definitions, for editors."""
        return await self._backend.workflows.schema()

    async def dry_run(
        self,
        workflow: Definition,
        input: object = None,  # noqa: A002 - as everywhere
        *,
        outputs: Mapping[str, object] | None = None,
        answers: Mapping[str, object] | None = None,
    ) -> DryRun:
        """Play a workflow that is stored nowhere, with given outputs and answers: nothing is called or waited for."""
        return await self._backend.workflows.dry_run_of(source_of(workflow), input, outputs or {}, answers or {})

    async def plan(
        self,
        workflow: Definition,
        *,
        map: Mapping[str, str] | None = None,  # noqa: A002 - as everywhere
        allow_unknown: bool = False,
    ) -> DeployPlan:
        """Return what a new version would mean to the open executions of its workflow; nothing is stored or changed.

        `map` has the new ids of nodes by their old ones. To move executions afterwards, register the version, and make
        a batch of the act `move`.
        """
        names = checked_map(map)
        return await self._backend.workflows.plan(source_of(workflow), names, allow_unknown=allow_unknown)

    async def workflow(self, name: str, *, version: int | None = None) -> WorkflowHandle:
        """Return a workflow at its newest version, or at one by its number."""
        check_number("version", version, 1)
        return WorkflowHandle(self._backend, await self._backend.workflows.get(checked_name(name), version))

    def workflows(self) -> Listing[WorkflowVersion]:
        """Return all workflows by name, each with its newest version."""
        return Listing(self._backend.workflows.list)

    async def export_workflows(self, *names: str) -> Bundle:
        """Return the newest definitions of some workflows, or of all, to be imported elsewhere."""
        return await self._backend.workflows.export([*map(checked_name, names)])

    async def import_workflows(self, bundle: Bundle, *, allow_unknown: bool = False) -> tuple[WorkflowVersion, ...]:
        """Store all definitions of a bundle, or none if one of them cannot be used."""
        return await self._backend.workflows.import_(bundle, allow_unknown=allow_unknown)

    # Executions

    async def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str | WorkflowHandle,
        input: object = None,  # noqa: A002 - as everywhere
        *,
        id: str | None = None,  # noqa: A002 - as everywhere
        idempotency_key: str | None = None,
        on_conflict: OnConflict = "reject",
        version: int | None = None,
        tags: Sequence[str] = (),
        priority: int = 0,
        correlation_id: str | None = None,
        trigger: object = None,
        delay: Duration | None = None,
        until: Until | None = None,
        timeout: Duration | None = None,  # noqa: ASYNC109 - the backend keeps to it
    ) -> ExecutionHandle:
        """Start an execution of a workflow; it is durable when this returns.

        With `until`, wait for that state first, at most for `timeout`. The same idempotency key with the same input is
        the same execution.
        """
        check_word("until", until, UNTIL)
        check_number("priority", priority, -PRIORITY, PRIORITY)
        named = on_conflict, idempotency_key, version, correlation_id
        if named != _UNNAMED:
            _check_named(*named)
        request = StartRequest(
            workflow=checked_name(workflow.info.name if isinstance(workflow, WorkflowHandle) else workflow),
            input=input,
            id=id,
            idempotency_key=idempotency_key,
            on_conflict=on_conflict,
            version=version,
            tags=check_texts("tags", tags, MOST_TAGS) if tags != () else (),
            priority=priority,
            correlation_id=correlation_id,
            trigger=trigger,
            delay=milliseconds_of("delay", delay) if delay is not None else None,
            until=until,
            timeout=seconds_of("timeout", timeout) if timeout is not None else None,
        )
        return ExecutionHandle(self._backend, await self._backend.executions.start(request))

    async def run(
        self,
        workflow: str | WorkflowHandle,
        input: object = None,  # noqa: A002 - as everywhere
        *,
        timeout: Duration | None = None,  # noqa: ASYNC109 - the backend keeps to it
        **start_options: Any,
    ) -> Any:
        """Start an execution and return its result: `start`, then `result`."""
        started = await self.start(workflow, input, until="end", timeout=timeout, **start_options)
        if timeout is None and not started.info.closed:  # such as for want of a function, which `result` tells
            return await started.result()
        return result_of(started.info)

    async def execution(self, id: str) -> ExecutionHandle:  # noqa: A002 - as everywhere
        """Return an execution."""
        return ExecutionHandle(self._backend, await self._backend.executions.get(id))

    def executions(  # noqa: PLR0913 - each is named where it is given
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
    ) -> Listing[ExecutionSummary]:
        """Return executions, the newest first, or those that are paused, the one paused longest first.

        `where` are conditions such as `input.total>100`; `contains` is a part of the input. They were created from
        `since` on and before `until`; those with a duration have ended. `q` is the beginning of an id (eight
        characters or more) or of a correlation id, or a tag. `user` has started them.

        `on` is what they wait for: `person`, or the kind of an open pause point; `retry` (another attempt) or
        `operator` (a pause). Their graph has a node of `node_type`.
        """
        check_word("order", order, ORDERS)
        check_name_in_filter(workflow)
        texts = {"tag": tag, "correlation_id": correlation_id, "error_code": error_code, "q": q}
        texts |= {"user": user, "node_type": node_type}
        for name, text in texts.items():
            check_text(name, text, SHORT, 1)
        check_number("min_resumes", min_resumes, 0)
        wanted = ExecutionQuery(
            workflow=workflow,
            status=check_words("status", status, EXECUTION_STATUSES),
            tag=tag,
            parent_id=parent_id,
            where=check_texts("where", [where] if isinstance(where, str) else where, MOST_CONDITIONS, CONDITION),
            contains=checked_part("contains", contains),
            correlation_id=correlation_id,
            error_code=error_code,
            since=instant_of("since", since),
            until=instant_of("until", until),
            min_duration=milliseconds_of("min_duration", min_duration),
            max_duration=milliseconds_of("max_duration", max_duration),
            min_resumes=min_resumes,
            resumed=checked_flag("resumed", resumed),
            user=user,
            on=check_words("on", on, WAITS_ON),
            node_type=node_type,
            q=q,
            order=order,
        )
        executions = self._backend.executions
        return Listing(lambda limit, cursor: executions.list(wanted, limit, cursor))

    async def counts(self) -> dict[ExecutionStatus, int]:
        """Return how many executions there are, by status."""
        return await self._backend.executions.counts()

    async def waiting_counts(self) -> ExecutionCounts:
        """Return how many executions there are, by status and by what they wait on, as the filter `on` has it."""
        return await self._backend.executions.waiting_counts()

    # Pause points

    async def point(self, id: str) -> PausePointHandle:  # noqa: A002 - as everywhere
        """Return a pause point."""
        return PausePointHandle(self._backend, await self._backend.points.get(id))

    def points(
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        status: str | Sequence[str] = ("open",),
    ) -> Listing[PausePointHandle]:
        """Return pause points, the oldest first."""
        check_word("kind", kind, POINT_KINDS)
        check_name_in_filter(workflow)
        statuses = check_words("status", status, POINT_STATUSES)
        wanted = PointQuery(execution_id=execution_id, workflow=workflow, kind=kind, status=statuses)
        return listed_points(self._backend, wanted)

    def inbox(
        self, *, user: str | None = None, roles: Sequence[str] = (), workflow: str | None = None
    ) -> Listing[PausePointHandle]:
        """Return the open pause points that I may answer, the oldest first; those of another user need `admin`."""
        if user is None and roles:
            raise BadUse("`roles` are those of a user: give `user` as well.")
        check_text("user", user, SHORT, 1)
        check_name_in_filter(workflow)
        backend, having = self._backend, check_texts("roles", roles, MOST_ROLES)

        async def read(limit: int, cursor: str | None) -> Page[PausePointHandle]:
            return handles_of(backend, await backend.points.inbox(user, having, workflow, limit, cursor))

        return Listing(read)

    def retries(self, *, workflow: str | None = None) -> Listing[ScheduledRetry]:
        """Return the attempts that open executions are to make later, those of the newest execution first.

        A page looks at a hundred executions, and may be empty although there are more.
        """
        check_name_in_filter(workflow)
        executions = self._backend.executions
        return Listing(lambda limit, cursor: executions.retries(workflow, limit, cursor))

    # Systems outside

    async def signal(
        self,
        name: str,
        data: object = None,
        *,
        key: str = "",
        id: str | None = None,  # noqa: A002 - as everywhere
    ) -> SignalReceipt:
        """Send a signal: executions that wait for it go on. The same id again is the same signal."""
        check_text("name", name, SHORT, 1)
        check_text("key", key, SHORT)
        check_text("id", id, SHORT, 1)
        return await self._backend.signals.send(name, data, key, id)

    def callback(self, token: str | None = None, *, point_id: str | None = None) -> CallbackHandle:
        """Return the callback that a token belongs to, to reply to it; an engine also knows it by `point_id`."""
        return CallbackHandle(self._backend.signals, token, point_id)

    # Triggers

    async def trigger(self, name: str) -> TriggerHandle:
        """Return a trigger by its name, `WORKFLOW/NAME`, or by its id."""
        check_text("name", name, 2 * SHORT + 1, 1)
        workflow, slash, of_trigger = name.partition("/")
        id_ = trigger_id(workflow, of_trigger) if slash else name
        return TriggerHandle(self._backend, await self._backend.triggers.get(id_))

    async def create_trigger(
        self,
        workflow: str | WorkflowHandle,
        definition: Mapping[str, object],
        *,
        idempotency_key: str | None = None,
        allow_unknown: bool = False,
    ) -> TriggerHandle:
        """Make a trigger that belongs to no definition: it starts the newest version of the workflow.

        The address of a webhook with `scheme: token` is shown this once, as `address`. A source that the engine does
        not have is refused, unless `allow_unknown`.
        """
        check_key(idempotency_key)
        named = checked_name(workflow.info.name if isinstance(workflow, WorkflowHandle) else workflow)
        given = trigger_document(definition)
        found = await self._backend.triggers.create(named, given, idempotency_key, allow_unknown=allow_unknown)
        return TriggerHandle(self._backend, found)

    def triggers(self, *, workflow: str | None = None) -> Listing[TriggerHandle]:
        """Return triggers by workflow and name."""
        check_name_in_filter(workflow)
        backend = self._backend

        async def read(limit: int, cursor: str | None) -> Page[TriggerHandle]:
            page = await backend.triggers.list(workflow, limit, cursor)
            return Page(items=tuple(TriggerHandle(backend, one) for one in page.items), next=page.next)

        return Listing(read)

    # Access

    async def me(self) -> Caller:
        """Return who I am, and what I may do."""
        return await self._backend.access.me()

    async def audit_keys(self) -> AuditKeySet:
        """Return the public keys that prove seals and receipts, with when each was valid."""
        return await self._backend.access.audit_keys()

    def audit(
        self,
        *,
        user: str | None = None,
        act: str | None = None,
        target: str | None = None,
        execution_id: str | None = None,
    ) -> Listing[AuditEntry]:
        """Return what was done by whom, the newest first."""
        wanted = AuditSearch(user=user, act=act, target=target, execution_id=execution_id)
        access = self._backend.access
        return Listing(lambda limit, cursor: access.audit(wanted, limit, cursor))

    def api_keys(self) -> Listing[ApiKey]:
        """Return all API keys, the oldest first, also those that have ended; never the keys themselves."""
        return Listing(self._backend.access.api_keys)

    async def create_api_key(
        self,
        name: str,
        *,
        user: str,
        roles: Sequence[str],
        scopes: Sequence[str] | None = None,
        expires_in: Duration | None = None,
    ) -> NewApiKey:
        """Create an API key for a user; the key itself is shown this once."""
        lasts = milliseconds_of("expires_in", expires_in)
        having = check_texts("roles", roles, MOST_ROLES)
        chosen = None if scopes is None else check_texts("scopes", scopes, MOST_ROLES)
        return await self._backend.access.create_api_key(name, user, having, chosen, lasts)

    async def rotate_api_key(self, id: str, *, grace: Duration | None = None) -> NewApiKey:  # noqa: A002 - as everywhere
        """Create an API key in the place of another, which ends after `grace`."""
        return await self._backend.access.rotate_api_key(id, milliseconds_of("grace", grace))

    async def delete_api_key(self, id: str) -> None:  # noqa: A002 - as everywhere
        """End an API key at once."""
        await self._backend.access.delete_api_key(id)

    async def create_sign_in_link(
        self,
        user: str,
        *,
        roles: Sequence[str],
        scopes: Sequence[str] | None = None,
        expires_in: Duration | None = None,
    ) -> SignInLink:
        """Create a link that signs one browser in as a user, once, and ends after ten minutes or `expires_in`."""
        lasts = milliseconds_of("expires_in", expires_in)
        having = check_texts("roles", roles, MOST_ROLES)
        chosen = None if scopes is None else check_texts("scopes", scopes, MOST_ROLES)
        return await self._backend.access.create_sign_in_link(user, having, chosen, lasts)

    def sessions(self, *, user: str | None = None) -> Listing[OpenSession]:
        """Return the sessions of browsers that have not ended, the oldest first: all, or those of one user.

        Without the permission `admin` these are my own.
        """
        access = self._backend.access
        return Listing(lambda limit, cursor: access.sessions(user, limit, cursor))

    async def end_session(self, id: str) -> None:  # noqa: A002 - as everywhere
        """End a session of a browser at once: one of my own, or with the permission `admin` any."""
        await self._backend.access.end_session(id)

    def secrets(self) -> Listing[SecretStatus]:
        """Return the secrets that workflows declare: where each is from, and who may have it; never values."""
        return Listing(self._backend.access.secrets)


def result_of(execution: Execution) -> Any:
    """Return the output of an execution; raise what it failed with, or that it has none yet."""
    match execution.status:
        case "completed":
            return execution.output
        case "failed":
            unknown = Failure(code="unknown", message="It is not known why.")
            raise ExecutionFailed(execution.id, execution.error or unknown)
        case "cancelled":
            raise ExecutionCancelled(execution.id, execution.outcome_reason)
        case status:
            raise WaitTimeout(f"The execution {execution.id} has not ended in time: it is {status}.")


def _check_named(
    on_conflict: str, idempotency_key: str | None, version: int | None, correlation_id: str | None
) -> None:
    """Refuse what a start cannot be given."""
    check_word("on_conflict", on_conflict, ON_CONFLICT)
    check_key(idempotency_key)
    check_number("version", version, 1)
    check_text("correlation_id", correlation_id, SHORT)
