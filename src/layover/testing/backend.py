"""What stands behind the door of a test: the operations of an engine, which settle before they return.

Reading goes to the engine that is alive, as it is. What changes something is done again if the engine dies over it.
Waiting lets the time of the test pass.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from layover.core.ids import uuid8
from layover.core.suggest import did_you_mean
from layover.errors import AlreadyExists, NotFound, WaitTimeout
from layover.interface.batch_wait import AT_REST, not_at_rest
from layover.interface.requests import EventQuery, PointQuery
from layover.runtime.execution.callback_tokens import hash_of
from layover.runtime.ids import checked_id, id_from_key, is_point_id
from layover.service.permissions import PROGRAM
from layover.testing.errors import NotFinished
from layover.testing.playing import check_played, named_destinations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from layover.interface.arguments import Until
    from layover.interface.requests import StartRequest
    from layover.model.access import Caller
    from layover.model.batches import BatchInfo
    from layover.model.deliveries import DestinationBody
    from layover.model.executions import Event, Execution
    from layover.model.points import PausePoint
    from layover.model.signals import SignalReceipt
    from layover.model.workflows import Bundle, WorkflowVersion
    from layover.service.service import UserService
    from layover.testing.world import KitWorld

_AT_REST = ("waiting", "paused")
_PAGE = 100


class _Family:
    """One family of operations as one user does them; what is not written out here is asked of the engine alone."""

    name = ""
    changing: frozenset[str] = frozenset()  # what changes something, and may be done twice
    acts: frozenset[str] = frozenset()  # what is done to one thing, which is read again afterwards

    def __init__(self, world: KitWorld, caller: Caller) -> None:
        self._world = world
        self._caller = caller

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):
            raise AttributeError(name)

        async def ask(*args: Any, **named: Any) -> Any:
            if name in self.acts:
                return await self._operate(name, *args, **named)
            found = await self._world.ask(self._caller, lambda service: self._method(service, name)(*args, **named))
            if name in self.changing:
                await self._world.settle()
            return found

        return ask

    def _method(self, service: UserService, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(getattr(service, self.name), name)
        return method

    async def _delete(self, name: str, what: str) -> None:
        """Delete something; what an engine deleted that died over it is gone when it is done again."""
        crashes = self._world.engines.plan.crashes
        try:
            await self._world.ask(self._caller, lambda service: self._method(service, name)(what))
        except NotFound:
            if self._world.engines.plan.crashes == crashes:
                raise
        await self._world.settle()

    async def _operate(self, name: str, id_: str, *args: Any, **named: Any) -> Any:
        """Do something to an execution or a point, and read it again."""
        await self._act(await self._execution_of(id_), name, id_, *args, **named)
        return await self.get(id_)

    async def _execution_of(self, id_: str) -> str:
        """Return the execution that something is done to."""
        return checked_id(id_)

    async def _act(self, about: str | None, name: str, *args: Any, **named: Any) -> None:
        """Do something to an execution."""
        await self._world.act(self._caller, lambda service: self._method(service, name)(*args, **named), about)


class _Executions(_Family):
    name = "executions"
    acts = frozenset(
        {
            "pause",
            "resume",
            "cancel",
            "retry",
            "rewind",
            "move",
            "run_now",
            "cancel_retry",
            "set_breakpoint",
            "clear_breakpoint",
        }
    )

    async def start(self, request: StartRequest) -> Execution:
        """Start an execution and go on until it rests, or until it is as asked for."""
        world, key = self._world, request.idempotency_key
        plan = world.plans.get(request.workflow)
        if plan is None:
            hint = did_you_mean(request.workflow, world.plans)
            message = f"There is no workflow `{request.workflow}` in this test; register it first.{hint}"
            raise NotFound(message, code="unknown_workflow")
        check_played(plan, world.played, world.plans)
        if request.id is None and key is None:
            request = replace(request, id=uuid8(f"layover/{world.starts}"))  # the same in every run
        id_ = checked_id(request.id) if request.id is not None else id_from_key(request.workflow, key or "")
        world.starts += 1
        await self._act(id_, "start", replace(request, until=None, timeout=None))
        if request.until is not None:
            await self._pass_until(id_, request.until, request.timeout)
        found = await self.get(id_)
        shown: Execution = await self.describe_start(found)
        return shown

    async def wait(self, execution_id: str, until: Until, timeout: float | None) -> Execution:  # noqa: ASYNC109 - as the interface
        """Let time pass until an execution is as asked for."""
        found = await self._pass_until(execution_id, until, timeout)
        if found is not None:
            return found
        found = await self.get(execution_id)
        why = (await self.why(execution_id)).summary
        if timeout is not None:
            raise WaitTimeout(f"The execution of `{found.workflow}` was not as wanted in time: {why}")
        not_yet = "has not ended" if until == "end" else "does not rest" if until == "rest" else "asks no person"
        raise NotFinished(f"The execution of `{found.workflow}` {not_yet}: {why}")

    async def result(self, execution_id: str, timeout: float | None) -> Any:  # noqa: ASYNC109 - as the interface
        """Let time pass until an execution has ended, and return its output; raise what it failed with.

        Without a timeout, one that waits for a person fails the test, as does one that time does not bring on.
        """
        await self.wait(execution_id, "end", timeout)
        return await self._world.ask(self._caller, lambda service: service.executions.result(execution_id, None))

    async def events(self, execution_id: str, since: int) -> AsyncIterator[Event]:
        """Return events, and let time pass for more of them until the execution closes."""
        while True:
            page = await self.history(execution_id, EventQuery(since=since), _PAGE, None)
            for event in page.items:
                yield event
                since = event.seq + 1
            if page.items:
                continue
            found = await self.get(execution_id)
            if found.closed:
                return
            if found.status == "paused" or not await self._world.step():
                await self.wait(execution_id, "end", None)  # which says why that does not come

    async def _pass_until(self, execution_id: str, until: Until, timeout: float | None) -> Execution | None:  # noqa: ASYNC109 - of the time of the test
        """Let time pass until an execution is as wanted; None if that does not come, or not in time."""
        world = self._world
        limit = world.time.now + round(timeout * 1000) if timeout is not None else None
        while True:
            found: Execution = await self.get(execution_id)
            if await self._is_as_wanted(found, until):
                return found
            if limit is None and found.status == "paused":
                return None
            if not await world.step(limit):
                if limit is not None:
                    await world.skip(limit - world.time.now)
                return None

    async def _is_as_wanted(self, found: Execution, until: Until) -> bool:
        if found.closed or until == "end":
            return found.closed
        if until == "rest" or found.status == "paused":
            return found.status in _AT_REST
        if found.status != "waiting":
            return False
        wanted = PointQuery(execution_id=found.id, status=("open",))
        page = await self._world.ask(self._caller, lambda service: service.points.list(wanted, _PAGE, None))
        return any(one.response is not None for one in page.items)


class _Points(_Family):
    name = "points"
    acts = frozenset({"answer", "delegate", "take_back", "cancel", "claim", "release", "ask", "reply"})

    async def _execution_of(self, id_: str) -> str:
        found: PausePoint = await self.get(id_)
        return found.execution_id

    async def _operate(self, name: str, id_: str, *args: Any, **named: Any) -> Any:
        """Do something to a point; a substitute writes down first for whom, which is an act of its own."""
        if name in ("answer", "claim", "ask"):
            await self._act(await self._execution_of(id_), "stand_in", id_)
        return await super()._operate(name, id_, *args, **named)


class _Workflows(_Family):
    name = "workflows"
    changing = frozenset(
        {"activate", "deactivate", "pause", "resume", "schedule_resume", "set_breakpoint", "clear_breakpoint"}
    )

    async def register(self, definition: str | Mapping[str, object], *, allow_unknown: bool) -> WorkflowVersion:
        """Store a definition."""
        found = await self._world.ask(
            self._caller, lambda service: service.workflows.register(definition, allow_unknown=allow_unknown)
        )
        await self._keep_plan(found.name)
        return found

    async def import_(self, bundle: Bundle, *, allow_unknown: bool) -> tuple[WorkflowVersion, ...]:
        """Store all definitions of a bundle."""
        found = await self._world.ask(
            self._caller, lambda service: service.workflows.import_(bundle, allow_unknown=allow_unknown)
        )
        for one in found:
            await self._keep_plan(one.name)
        return found

    async def delete(self, name: str) -> None:
        """Delete a workflow."""
        await self._delete("delete", name)
        self._world.plans.pop(name, None)

    async def _keep_plan(self, name: str) -> None:
        plan = self._world.plans[name] = await self._world.ask(
            self._caller, lambda service: service.actor.runtime.workflows.plan_of(name)
        )
        for body in named_destinations(plan):
            await self._make(body)

    async def _make(self, body: DestinationBody) -> None:
        """Make a destination that a workflow names, unless the test has it."""
        with suppress(AlreadyExists):
            await self._world.ask(PROGRAM, lambda service: service.destinations.create(body, None))


class _Signals(_Family):
    name = "signals"

    async def send(self, name: str, data: object, key: str, id: str | None) -> SignalReceipt:  # noqa: A002 - as the interface
        """Send a signal."""
        world = self._world
        world.signals += 1
        chosen = id or uuid8(f"layover/signal/{world.signals}")  # so it can be sent again after a crash
        found = await world.ask(self._caller, lambda service: service.signals.send(name, data, key, chosen))
        await world.settle()
        return found

    async def complete(self, token: str | None, point_id: str | None, output: object) -> None:
        """Give the output that a callback node waits for."""
        await self._act(await self._about(token, point_id), "complete", token, point_id, output)

    async def fail(self, token: str | None, point_id: str | None, message: str, *, retryable: bool) -> None:
        """Say that what a callback node waits for has failed."""
        await self._act(await self._about(token, point_id), "fail", token, point_id, message, retryable=retryable)

    async def heartbeat(self, token: str | None, point_id: str | None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        await self._act(await self._about(token, point_id), "heartbeat", token, point_id)

    async def _about(self, token: str | None, point_id: str | None) -> str | None:
        """Return the execution that waits for a callback."""

        async def find(service: UserService) -> str | None:
            store = service.actor.runtime.instance.store
            if token is not None:
                wait = await store.queries.find_token(hash_of(token))
                return wait.execution_id if wait is not None else None
            row = await store.queries.find_point(point_id) if point_id is not None and is_point_id(point_id) else None
            return row.execution_id if row is not None else None

        return await self._world.ask(self._caller, find)


class _Triggers(_Family):
    name = "triggers"
    changing = frozenset(
        {
            "pause",
            "resume",
            "rewind",
            "fire",
            "backfill",
            "replay",
            "replay_all",
            "discard",
            "create",
            "update",
            "delete",
        }
    )


class _Destinations(_Family):
    name = "destinations"
    changing = frozenset({"create", "update", "test", "enable", "disable"})

    async def delete(self, name: str) -> None:
        """Delete a destination."""
        await self._delete("delete", name)


class _Deliveries(_Family):
    name = "deliveries"
    changing = frozenset({"redeliver", "redeliver_all", "discard"})


class _Batches(_Family):
    name = "batches"
    changing = frozenset({"create", "stop", "continue_"})

    async def wait(self, batch_id: str, timeout: float | None) -> BatchInfo:  # noqa: ASYNC109 - of the time of the test
        """Let time pass until a batch is completed or stopped."""
        world = self._world
        limit = world.time.now + round(timeout * 1000) if timeout is not None else None
        while (found := cast("BatchInfo", await self.get(batch_id))).status not in AT_REST:
            if not await world.step(limit):
                raise not_at_rest(found)
        return found

    async def delete(self, batch_id: str) -> None:
        """Delete a batch."""
        await self._delete("delete", batch_id)


class _People(_Family):
    name = "people"
    changing = frozenset({"save"})

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
        await self._delete("delete", user)


class _Monitoring(_Family):
    name = "monitoring"
    changing = frozenset[str]()


class _Views(_Family):
    name = "views"
    changing = frozenset({"save"})

    async def delete(self, name: str) -> None:
        """Delete a saved view."""
        await self._delete("delete", name)


class _UserSettings(_Family):
    name = "user_settings"
    changing = frozenset({"save"})


class _Access(_Family):
    name = "access"
    changing = frozenset({"create_api_key", "rotate_api_key"})

    async def delete_api_key(self, key_id: str) -> None:
        """End an API key at once."""
        await self._delete("delete_api_key", key_id)


class BackendInTest:
    """All families, as one user in the world of a test."""

    def __init__(self, world: KitWorld, caller: Caller) -> None:
        self.executions = _Executions(world, caller)
        self.points = _Points(world, caller)
        self.workflows = _Workflows(world, caller)
        self.signals = _Signals(world, caller)
        self.triggers = _Triggers(world, caller)
        self.destinations = _Destinations(world, caller)
        self.deliveries = _Deliveries(world, caller)
        self.batches = _Batches(world, caller)
        self.people = _People(world, caller)
        self.monitoring = _Monitoring(world, caller)
        self.views = _Views(world, caller)
        self.user_settings = _UserSettings(world, caller)
        self.access = _Access(world, caller)
