"""Creates executions: to start at once, after a delay, when their limits admit them, or as children."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import Error
from layover.core.expressions.errors import ExpressionError
from layover.core.limits import limit_names
from layover.core.schemas import misfits
from layover.core.trigger_limits import trigger_limit
from layover.errors import InvalidInput, LayoverError, NotFound
from layover.ports.errors import StoreUnavailable
from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import Enqueue, NewExecution
from layover.runtime.execution.append_builder import First
from layover.runtime.execution.outbox_messages import OWN_FOR, admit_message, held_message
from layover.runtime.plans import GOES_ON, held_because

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan
    from layover.ports.limit_records import Admission
    from layover.ports.records import AuditRow, InputKey, Message
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.execution.outbox_messages import ChildStart
    from layover.runtime.execution.waiters import Confirmed
    from layover.runtime.plans import Plans, Startable

_log = logging.getLogger("layover.starter")

_LOOK_AGAIN = 60_000
_DEEPEST = 100  # of children of children: a workflow that starts itself for ever would fill the disk

# The number of the message by which it asks: that may be kept for long, and nothing else that it sends waits for it.
_BEHIND_ALL = 2**62


class StartedExecution(NamedTuple):
    """An execution that is being created; with a `request`, it starts when its limits admit it."""

    active: ActiveExecution
    request: AdmissionRequest | None = None
    message: Message | None = None


class Starter:
    """Creates executions."""

    def __init__(self, store: Store, driver: Driver, plans: Plans) -> None:
        self._store = store
        self._driver = driver
        self._plans = plans

    def begin(
        self,
        plan: Plan,
        new: NewExecution,
        create: cmd.Create,
        audit: AuditRow | None = None,
        on_confirmed: Callable[[Confirmed], None] | None = None,
        trigger_input: InputKey | None = None,
    ) -> StartedExecution:
        """Begin an execution whose input fits; it is durable when its `created` says so."""
        request = admission_request(plan, create, new.priority, new.created_at)
        # Its workflow may have gone on meanwhile: that is looked up by whoever delivers the message, if not here.
        held = (held_message(create.id, new.workflow, _BEHIND_ALL - 1, new.created_at),) if create.paused else ()
        if request is None:
            first = First(new, held, audit, trigger_input)
            return StartedExecution(self._driver.create(plan, create, first, on_confirmed))
        due_at = create.start_at if create.start_at is not None else new.created_at + OWN_FOR
        message = admit_message(request, _BEHIND_ALL, due_at)
        first = First(new, (*held, message), audit, trigger_input)
        active = self._driver.create(plan, replace(create, hold=True), first, on_confirmed)
        return StartedExecution(active, request, message)

    def ask_again(self, state: ExecutionState, priority: int) -> Message | None:
        """Return the message by which an execution asks once more that was closed before its limits let it start."""
        facts, now = state.facts, self._driver.clock.now()
        if not facts.hold:
            return None
        request = admission_request(
            state.plan,
            cmd.Create(id=facts.id, input=facts.input, trigger=facts.trigger, user=facts.user),
            priority,
            now,
        )
        if request is None:
            return None
        # It has a number of its own: the message by which it asked before may still be there.
        return admit_message(request, _BEHIND_ALL + state.counts["seq"], max(now, facts.start_at or now))

    async def apply(self, request: AdmissionRequest, message: Message) -> Admission:
        """Ask whether an execution may start; the message by which it asks is kept for as long as it must ask again."""
        store, driver = self._store, self._driver
        now = driver.clock.now()
        found = await store.limits.admit(request, now)
        if found.state == "later" and found.at is not None:
            await store.outbox.postpone(message, found.at)
            return found
        if found.state == "waiting" and request.rate is not None:  # its turn comes first, its moment after that
            await store.outbox.postpone(message, now + _LOOK_AGAIN)
            return found
        cancels = request.slots is not None and request.slots.on_conflict == "cancel_running"
        if found.state == "admitted" or (found.state == "waiting" and cancels):  # those that it cancels are due
            driver.hint(0)
        elif found.state == "rejected":
            reason = (
                f"Only {request.slots.limit if request.slots is not None else 0} may run at once as `{found.name}`."
            )
            kind, body = encode_command(cmd.Cancel(reason=reason))
            await driver.send([Enqueue(execution_id=request.execution_id, kind=kind, body=body, source="limit")])
        await store.outbox.delete_delivered([message])
        return found

    async def look_again(self, execution_id: str, workflow: str) -> None:
        """Let go of an execution that began held, if its workflow has gone on: who resumed that may have missed it.

        The execution is held before this looks, and a workflow is resumed before its held executions are looked up: one
        of the two sees the other.
        """
        noted = await self._store.workflow_status.list_statuses([workflow])
        if noted and noted[0].state == "active":
            self._plans.forget(workflow)
            kind, body = encode_command(cmd.Resume(reason=GOES_ON))
            resume = Enqueue(execution_id=execution_id, kind=kind, body=body, source="standing")
            await self._driver.send([resume], noted[0])

    async def begin_child(self, parent: str, child: str, start: ChildStart) -> None:
        """Begin what another execution wants to be begun; if it cannot be, tell the one that waits for it."""
        try:
            _check_depth(start)
            now = self._driver.clock.now()
            plan, number, held = await self._startable(start, now)
            check_input(plan, start.input)
            new = NewExecution(
                workflow=start.workflow,
                hash=plan.hash,
                created_at=now,
                priority=start.priority,
                user=start.user,
                parent_id=parent,
            )
            create = cmd.Create(
                id=child,
                input=start.input,
                user=start.user,
                parent=parent,
                parent_point=start.point or None,
                depth=start.depth,
                version=number,
                priority=start.priority,
                instance=self._driver.instance,
                paused=held_because(held),
                paused_by=held.by or None if held is not None else None,
                traceparent=start.traceparent,
            )
            if await self._driver.is_begun(child):
                return
            begun = self.begin(plan, new, create)
            outcome = await begun.active.created
        except StoreUnavailable:
            raise
        except LayoverError as error:
            if (
                await self._store.queries.find_execution(child) is None
            ):  # else it could begin when its start came for the first time
                await self._refuse(parent, child, start, error)
            return
        if outcome.verdict == "passed" and begun.request is not None and begun.message is not None:
            await self.apply(begun.request, begun.message)
        if held is not None:
            await self.look_again(child, held.workflow)

    async def _startable(self, start: ChildStart, now: int) -> Startable:
        try:
            return await self._plans.startable(start.workflow, start.version, now)
        except NotFound as error:  # to the parent it is the same
            raise NotFound(error.message, code="unknown_workflow") from error

    async def _refuse(self, parent: str, child: str, start: ChildStart, error: LayoverError) -> None:
        _log.error("child_refused parent=%s workflow=%s error=%s", parent, start.workflow, error.message)
        if start.point:
            told = Error(code=error.code, type=type(error).__name__, message=error.message)
            kind, body = encode_command(cmd.Report(point=start.point, error=told))
            await self._driver.send([Enqueue(execution_id=parent, kind=kind, body=body, source=child)])


def admission_request(plan: Plan, create: cmd.Create, priority: int, now: int) -> AdmissionRequest | None:
    """Return what an execution asks of its limits before it starts; nothing if its workflow has no limits."""
    settings, of_trigger = plan.definition.settings, trigger_limit(create.user, create.trigger)
    if settings.concurrency is None and settings.rate is None and of_trigger is None:
        return None
    try:
        names = limit_names(plan, create.input, create.trigger, now)
    except ExpressionError as error:
        message = f"The key of a limit cannot be worked out: {error.message}"
        raise InvalidInput(message, (("", error.message),)) from error
    slots: ConcurrencyLimit | None = None
    rate: RateLimit | None = None
    if settings.concurrency is not None and names.concurrency is not None:
        limit = settings.concurrency
        slots = ConcurrencyLimit(name=names.concurrency, limit=limit.limit, on_conflict=limit.on_conflict)
    elif of_trigger is not None:
        slots = ConcurrencyLimit(name=of_trigger.name, limit=1, on_conflict=of_trigger.on_conflict)
    if settings.rate is not None and names.rate is not None:
        rate = RateLimit(name=names.rate, limit=settings.rate.limit, per_ms=settings.rate.per)
    return AdmissionRequest(execution_id=create.id, slots=slots, rate=rate, priority=priority)


def check_input(plan: Plan, given: object) -> None:
    """Refuse an input that does not fit the workflow."""
    errors = misfits(plan.definition.input, given)
    if errors:
        raise InvalidInput(f"The input does not fit the workflow: {errors[0][1]}.", errors)


def _check_depth(start: ChildStart) -> None:
    if start.depth > _DEEPEST:
        message = f"It is started by {_DEEPEST} executions, each by the one before: that must have an end."
        raise LayoverError(message, code="too_deep")
