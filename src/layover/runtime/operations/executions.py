"""Starts executions, and waits for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, NamedTuple

from layover.core.payloads import copy_plain, is_same_json, plain
from layover.errors import AlreadyExists, ExecutionCancelled, ExecutionFailed, LimitReached, NotFound, WrongState
from layover.ports.errors import StoreUnavailable
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.ids import checked_id, id_from_key
from layover.runtime.operations.confirmed_view import ConfirmedView
from layover.runtime.operations.start_options import NO_OPTIONS, creation
from layover.runtime.operations.starter import check_input
from layover.runtime.operations.stuck_executions import until_unless_stuck
from layover.runtime.operations.until import check_until, is_at_rest, is_closed
from layover.runtime.results.failures import failure_of

if TYPE_CHECKING:
    from layover.model.executions import Execution
    from layover.ports.access import WorkflowStatus
    from layover.ports.records import AuditRow, Head, Outcome
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.instance import Instance
    from layover.runtime.operations.start_options import Options
    from layover.runtime.operations.starter import StartedExecution
    from layover.runtime.operations.until import Until
    from layover.runtime.queries.points import PointQueries
    from layover.runtime.queries.queries import Queries


class _Asked(NamedTuple):
    """A start that may be a repeat: its key and its input."""

    key: str | None
    input: object


class Executions:
    """Starts executions, and waits for them."""

    def __init__(self, instance: Instance, queries: Queries, points: PointQueries) -> None:
        self._instance = instance
        self._queries = queries
        self._points = points

    async def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - the word of the field
        key: str | None = None,
        version: int | None = None,
        on_conflict: Literal["reject", "return"] = "reject",
        wait: Until | None = None,
        options: Options | None = None,
        audit: AuditRow | None = None,
        points: bool = False,
    ) -> Execution:
        """Begin an execution, under an id of its own or one that belongs to an idempotency key.

        It is durable when this returns, and so is the `audit` entry. If the id is in use, that is refused, or the
        execution that has it is returned; but a key that was used with another input is refused. It runs the newest
        version of the workflow, or one by its number; if the workflow is paused, it is held until that is resumed.
        With `points`, one that has come to rest is returned with its open points where nothing has to be read for it.
        """
        check_until("wait", wait)
        instance, driver = self._instance, self._instance.driver
        execution_id = _id_for(instance, workflow, id, key)
        now = instance.clock.now()
        try:
            startable = await instance.plans.startable(workflow, version, now)
        except (NotFound, WrongState):  # it may have been started while the workflow could be
            if on_conflict == "reject" or await instance.store.queries.find_execution(execution_id) is None:
                raise
            return await self._existing(execution_id, on_conflict, wait, _Asked(key, plain(given)))
        asked, held = _Asked(key, plain(given)), startable.held
        check_input(startable.plan, asked.input)
        chosen = options or NO_OPTIONS
        new, create = creation(startable, execution_id, asked.input, chosen, now=now, instance=instance.id)
        if execution_id in driver.active and await driver.is_begun(execution_id):
            return await self._existing(execution_id, on_conflict, wait, asked)
        confirmed = ConfirmedView(new, startable.number, wait, points)
        create = sent_here(instance.tracer, create)
        begun = instance.starter.begin(startable.plan, new, create, audit, confirmed)
        if begun.request is None and held is None:
            outcome = await _creation_of(begun.active, rests=wait is not None)
        else:
            delayed = create.start_at is not None
            outcome = await instance.critical.run(self._held_back(begun, held, delayed=delayed))
        if outcome.verdict == "exists":
            return await self._existing(execution_id, on_conflict, wait, asked)
        if outcome.verdict == "fenced":  # it is begun, and another instance went on with it before that was known here
            return await self._existing(execution_id, "return", wait)
        if wait is not None:
            await begun.active.at_rest()
        if confirmed.view is None:
            return await self._existing(execution_id, "return", wait)  # it goes on later, or elsewhere
        return confirmed.view

    async def _held_back(self, begun: StartedExecution, held: WorkflowStatus | None, *, delayed: bool) -> Outcome:
        """Wait until an execution exists that limits or a paused workflow hold back; see whether it may start now."""
        starter = self._instance.starter
        outcome = await begun.active.created
        if outcome.verdict != "passed":
            return outcome
        if begun.request is not None and begun.message is not None and not delayed:
            try:
                admission = await starter.apply(begun.request, begun.message)
            except StoreUnavailable:  # it exists, and is asked for again by the message that it left for that
                return outcome
            if admission.state == "rejected" and admission.name:  # without a name it was ended before it asked
                raise LimitReached(
                    f"`{admission.name}` is at its concurrency limit. Start it again when one finishes.",
                    admission.holders,
                )
        if held is not None:
            await starter.look_again(begun.active.id, held.workflow)
        return outcome

    async def _existing(
        self, execution_id: str, on_conflict: str, wait: Until | None, asked: _Asked | None = None
    ) -> Execution:
        """Return the execution that has an id already, or refuse to begin another."""
        if on_conflict == "reject":
            raise AlreadyExists(f"The execution {execution_id} exists already.")
        if asked is not None and asked.key is not None:
            check_same_input(await self._queries.get(execution_id), asked.input)
        return await (self._queries.get(execution_id) if wait is None else self.wait(execution_id, wait))

    async def wait(self, execution_id: str, until: Until = "end") -> Execution:
        """Return an execution once it has come to rest, or to its end.

        With `people`, what only waits for time or for machines is waited for as well, unless it has a `response` for
        its caller. If it cannot go on for want of functions, and there is no other instance that might have
        them, that is MissingFunctions; an execution that waits for them is at rest.
        """
        check_until("until", until)
        id_ = checked_id(execution_id)
        listeners = self._instance.listeners
        if until == "people":
            await self._until_people(id_)
        elif until == "rest":
            await listeners.until(id_, is_at_rest)
        else:
            await until_unless_stuck(self._instance, id_, is_closed)
        return await listeners.patiently(lambda: self._queries.get(id_))

    async def _until_people(self, execution_id: str) -> None:
        seen = -1

        def is_as_wanted(head: Head) -> bool:
            return is_at_rest(head) and (head.status != "waiting" or head.last_seq > seen)

        while True:
            head = await until_unless_stuck(self._instance, execution_id, is_as_wanted)
            if head is None or head.status != "waiting":
                return
            points = await self._instance.listeners.patiently(lambda: self._points.of(execution_id, ("open",)))
            if any("response" in row.point.details for row in points):
                return
            seen = head.last_seq

    async def result(self, execution_id: str) -> object:
        """Return what an execution gives, once it has; raise what it failed with, or that it lacks functions."""
        id_ = checked_id(execution_id)
        listeners = self._instance.listeners
        head = await until_unless_stuck(self._instance, id_, is_closed)
        known = self._instance.driver.known(head) if head is not None else None
        if known is None:
            known = (await listeners.patiently(lambda: self._queries.load(id_)))[1]
        facts = known.state.facts
        if facts.closed == "failed" and facts.error is not None:
            raise ExecutionFailed(id_, failure_of(facts.error))
        if facts.closed == "cancelled":
            raise ExecutionCancelled(id_, facts.outcome_reason)
        return copy_plain(facts.output)


async def _creation_of(active: ActiveExecution, *, rests: bool) -> Outcome:
    """Wait until it is known what became of a creation; it goes on if the caller gives up.

    A caller that waits until the execution `rests` is woken once, and not also when it is created.
    """
    if rests and not active.dropped:
        await active.at_rest()
    try:
        return await active.created
    except asyncio.CancelledError:
        if active.created.cancelled():  # others under the same id wait for it too
            active.waiters.created = active.created.get_loop().create_future()
        raise


def _id_for(instance: Instance, workflow: str, id_: str | None, key: str | None) -> str:
    if id_ is not None:
        return checked_id(id_)
    if key is not None:
        return id_from_key(workflow, key)
    return instance.machine.ids.new(instance.clock.now())


def check_same_input(existing: Execution, value: object) -> None:
    """Refuse an idempotency key that was used for an execution with another input."""
    if not is_same_json(existing.input, value):
        message = f"This idempotency key was used with another input, for the execution {existing.id}."
        raise AlreadyExists(message, code="idempotency_mismatch")
