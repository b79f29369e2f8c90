"""Starts executions, waits for them, and lists them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from layover.core.definitions.durations import LONGEST_DURATION, parse_duration
from layover.core.engine import commands as cmd
from layover.core.engine.codec import decode_events
from layover.core.engine.events import AnyEvent
from layover.core.payloads import own, plain
from layover.ports.errors import StoreUnavailable
from layover.ports.records import CLOSED, ExecutionFilter, Head, NewExecution
from layover.runtime.errors import (
    AlreadyExists,
    ExecutionCancelled,
    ExecutionFailed,
    InvalidArgument,
    InvalidInput,
    LimitReached,
    UnknownWorkflow,
    WorkflowInactive,
)
from layover.runtime.ids import checked_id, id_from_key
from layover.runtime.operations.start_options import check_options
from layover.runtime.operations.starter import check_input
from layover.runtime.operations.stuck_executions import until_unless_stuck
from layover.runtime.plans import held_because
from layover.runtime.queries.queries import Queries
from layover.runtime.queries.search import SearchPage, find
from layover.runtime.queries.views import Execution, execution_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.core.engine.state import Execution as State
    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry, ExecutionRow, Outcome
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.instance import Instance
    from layover.runtime.operations.starter import StartedExecution

Until: TypeAlias = Literal["rest", "people", "end"]

_AT_REST = frozenset({"waiting", "paused"})


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a new execution, besides its input."""

    user: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    trigger: object = None
    delay: int | str | None = None  # milliseconds, or a duration such as `1h30m`


_NO_OPTIONS = Options()


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a log, with its number and its time."""

    seq: int
    at: int
    event: AnyEvent


class StartRequest(NamedTuple):
    """A start that may be a repeat: its key and its input."""

    key: str | None
    input: object


class Executions(Queries):
    """The operations of an engine that start, wait for and list executions."""

    async def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - it is what everybody calls it
        key: str | None = None,
        version: int | None = None,
        on_conflict: Literal["reject", "return"] = "reject",
        wait: Until | None = None,
        options: Options | None = None,
        audit: AuditEntry | None = None,
    ) -> Execution:
        """Begin an execution, under an id of its own or one that belongs to an idempotency key.

        It is durable when this returns, and so is the `audit` entry. If the id is in use, that is refused, or the
        execution that has it is returned; but a key that was used with another input is refused. It runs the newest
        version of the workflow, or one by its number; if the workflow is paused, it is held until that is resumed.
        """
        _check_until("wait", wait)
        instance, chosen = self.instance, options or _NO_OPTIONS
        execution_id = _id_for(instance, workflow, id, key)
        now = instance.clock.now()
        try:
            plan, number, held = await instance.plans.startable(workflow, version, now)
        except (UnknownWorkflow, WorkflowInactive):  # it may have been started while the workflow could be
            if on_conflict == "reject" or await instance.store.get(execution_id) is None:
                raise
            return await self._existing(execution_id, on_conflict, wait, StartRequest(key, plain(given)))
        value = plain(given)
        check_input(plan, value)
        delay = _milliseconds(chosen.delay)
        check_options(chosen)
        new = NewExecution(
            workflow=workflow,
            hash=plan.hash,
            created_at=now,
            priority=chosen.priority,
            user=chosen.user,
            correlation_id=chosen.correlation_id,
            tags=chosen.tags,
        )
        create = cmd.Create(
            id=execution_id,
            input=value,
            trigger=plain(chosen.trigger) if chosen.trigger is not None else None,
            user=chosen.user,
            version=number,
            tags=chosen.tags,
            priority=chosen.priority,
            correlation_id=chosen.correlation_id,
            instance=instance.id,
            start_at=now + delay if delay else None,
            paused=held_because(held),
            paused_by=held.by or None if held is not None else None,
        )
        driver = instance.driver
        asked = StartRequest(key, value)
        if execution_id in driver.active and await driver.is_begun(execution_id):
            return await self._existing(execution_id, on_conflict, wait, asked)
        begun = instance.starter.begin(plan, new, create, audit)
        active = begun.active
        active.on_confirmed = confirmed = _Confirmed(new, number, wait)
        if begun.wish is None and held is None:
            outcome = await _creation_of(active)
        else:
            outcome = await instance.critical.run(self._held_back(begun, held, delayed=bool(delay)))
        if outcome.verdict == "exists":
            return await self._existing(execution_id, on_conflict, wait, asked)
        if outcome.verdict == "fenced":  # it is begun, and somebody else went on with it before that was known here
            return await self._existing(execution_id, "return", wait)
        if wait is not None:
            await active.at_rest()
        if confirmed.view is None:
            return await self._existing(execution_id, "return", wait)  # it goes on later, or elsewhere
        return confirmed.view

    async def _held_back(self, begun: StartedExecution, held: Standing | None, *, delayed: bool) -> Outcome:
        """Wait until an execution exists that limits or a paused workflow hold back; see whether it may start now."""
        starter = self.instance.starter
        outcome = await begun.active.created
        if outcome.verdict != "passed":
            return outcome
        if begun.wish is not None and begun.message is not None and not delayed:
            try:
                admission = await starter.apply(begun.wish, begun.message)
            except StoreUnavailable:  # it exists, and is asked for again by the message that it left for that
                return outcome
            if admission.state == "rejected" and admission.name:  # without a name it was ended before it asked
                raise LimitReached(
                    f"`{admission.name}` is at its concurrency limit. Start it again when one finishes.",
                    admission.holders,
                )
        if held is not None:
            await starter.look_again(begun.active.id, held)
        return outcome

    async def _existing(
        self, execution_id: str, on_conflict: str, wait: Until | None, asked: StartRequest | None = None
    ) -> Execution:
        """Return the execution that has an id already, or refuse to begin another."""
        if on_conflict == "reject":
            raise AlreadyExists(f"The execution {execution_id} exists already.")
        if asked is not None and asked.key is not None:
            check_same_input(await self.get(execution_id), asked.input)
        return await (self.get(execution_id) if wait is None else self.wait(execution_id, wait))

    async def wait(self, execution_id: str, until: Until = "end") -> Execution:
        """Return an execution once it has come to rest, or to its end.

        With `people`, what only waits for time or for machines is waited for as well, unless it has a `response` for
        whoever started it. If it cannot go on for want of functions, and there is no other instance that might have
        them, that is MissingFunctions; an execution that waits for them is at rest.
        """
        _check_until("until", until)
        id_ = checked_id(execution_id)
        listeners = self.instance.listeners
        if until == "people":
            await self._until_people(id_)
        elif until == "rest":
            await listeners.until(id_, _is_at_rest)
        else:
            await until_unless_stuck(self.instance, id_, _is_closed)
        return await listeners.patiently(lambda: self.get(id_))

    async def _until_people(self, execution_id: str) -> None:
        seen = -1

        def is_as_wanted(head: Head) -> bool:
            return _is_at_rest(head) and (head.status != "waiting" or head.last_seq > seen)

        while True:
            head = await until_unless_stuck(self.instance, execution_id, is_as_wanted)
            if head is None or head.status != "waiting":
                return
            points = await self.instance.listeners.patiently(lambda: self._points_of(execution_id, ("open",)))
            if any("response" in row.point.details for row in points):
                return
            seen = head.last_seq

    async def result(self, execution_id: str) -> object:
        """Return what an execution gives, once it has; raise what it failed with, or that it lacks functions."""
        id_ = checked_id(execution_id)
        listeners = self.instance.listeners
        head = await until_unless_stuck(self.instance, id_, _is_closed)
        known = self.instance.driver.known(head) if head is not None else None
        if known is None:
            known = (await listeners.patiently(lambda: self._load(id_)))[1]
        facts = known.state.facts
        if facts.closed == "failed" and facts.error is not None:
            raise ExecutionFailed(id_, facts.error)
        if facts.closed == "cancelled":
            raise ExecutionCancelled(f"The execution {id_} was cancelled: {facts.outcome_reason}")
        return own(facts.output)

    async def list(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; `after` goes on behind one that was seen: its `created_at` and id.

        With `where`, only those whose input contains it: every member of an object, every element of an array. With
        `conditions` such as `output.total>=12`, only those that fulfil all of them, however long it takes to find them.
        """
        wanted = ExecutionFilter(workflow=workflow, status=tuple(status), tag=tag, after=after, limit=limit)
        found = await find(self.instance, wanted, where, conditions)
        rows = [*found.rows]
        while found.after is not None and len(rows) < limit:
            wanted = replace(wanted, after=found.after, limit=limit - len(rows))
            found = await find(self.instance, wanted, where, conditions)
            rows += found.rows
        return rows

    async def find(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        parent_id: str | None = None,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> SearchPage:
        """Return executions as `list` does, but look only for so long: there may be fewer of them, or none.

        What is found says where to go on; if it does not, nothing is left.
        """
        parent = checked_id(parent_id) if parent_id is not None else None
        wanted = ExecutionFilter(
            workflow=workflow, status=tuple(status), tag=tag, parent_id=parent, after=after, limit=limit
        )
        return await find(self.instance, wanted, where, conditions)

    async def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""
        entries = await self.instance.store.history(checked_id(execution_id), since, limit)
        found = [
            HistoryEntry(seq=entry.seq + index, at=entry.at, event=event)
            for entry in entries
            for index, event in enumerate(decode_events(entry.events))
        ]
        return [one for one in found if one.seq >= since][:limit]


async def _creation_of(active: ActiveExecution) -> Outcome:
    """Wait until it is known what became of a creation; it goes on if the caller gives up."""
    try:
        return await active.created
    except asyncio.CancelledError:
        if active.created.cancelled():  # others under the same id wait for it too
            active.created = active.created.get_loop().create_future()
        raise


class _Confirmed:
    """The view that `start` returns, made at the moment at which the store has confirmed the state that it shows.

    A moment later the state may be ahead of the log, and belong to the next leg.
    """

    __slots__ = ("_new", "_version", "_wait", "view")

    def __init__(self, new: NewExecution, version: int, wait: Until | None) -> None:
        self._new = new
        self._version = version
        self._wait = wait
        self.view: Execution | None = None

    def __call__(self, active: ActiveExecution) -> None:
        """Keep the view of the first confirmed state that the caller waits for."""
        if self.view is None and (self._wait is None or _is_over(active.state, self._wait)):
            head, finished_at = active.head(), active.finished_at
            self.view = execution_view(self._new, active.state, finished_at, head=head, version=self._version)


def _id_for(instance: Instance, workflow: str, id_: str | None, key: str | None) -> str:
    if id_ is not None:
        return checked_id(id_)
    if key is not None:
        return id_from_key(workflow, key)
    return instance.machine.ids.new(instance.clock.now())


def _milliseconds(delay: int | str | None) -> int:
    """Return how long to wait before the start; what lies in the past is no wait at all."""
    if not isinstance(delay, str):
        if delay is not None and delay > LONGEST_DURATION:
            raise InvalidInput(f"`delay`: {delay} ms is longer than a hundred years.", (("delay", "too long"),))
        return max(delay or 0, 0)
    try:
        return parse_duration(delay)
    except ValueError as error:
        raise InvalidInput(f"`delay`: {error}.", (("delay", str(error)),)) from error


def _is_over(state: State, wait: Until) -> bool:
    """Return whether nothing more is to be waited for; if that cannot be told by the state alone, it is not."""
    if state.facts.closed:
        return True
    rests = bool(state.facts.started_at) and state.resting
    return rests and (wait == "rest" or (wait == "people" and state.status == "paused"))


def _is_closed(head: Head) -> bool:
    return head.status in CLOSED


def _is_at_rest(head: Head) -> bool:
    """Return whether nothing is about to happen: what was sent to an execution at rest wakes it."""
    return head.status in CLOSED or (head.status in _AT_REST and head.commands_done >= head.commands_seq)


def _check_until(name: str, until: str | None) -> None:
    """Refuse a word that names no state to wait for: it would be taken for another one."""
    allowed = get_args(Until)
    if until is not None and until not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed)
        raise InvalidArgument(f"`{name}` is one of {words}, not {until!r:.100}.")


def check_same_input(existing: Execution, value: object) -> None:
    """Refuse an idempotency key that was used for an execution with another input."""
    # Compared as JSON: to Python, true is 1.
    if msgspec.json.encode(existing.input, order="sorted") != msgspec.json.encode(value, order="sorted"):
        message = f"This idempotency key was used with another input, for the execution {existing.id}."
        raise AlreadyExists(message, code="idempotency_mismatch")
