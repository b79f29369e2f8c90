"""Beginning executions, and asking what became of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from layover.core.definitions.durations import parse_duration
from layover.core.documents import fault_of
from layover.core.engine import commands as cmd
from layover.core.engine.codec import decode_events
from layover.core.engine.events import AnyEvent
from layover.core.payloads import plain
from layover.ports.records import CLOSED, ExecutionFilter, NewExecution, PointFilter
from layover.runtime.beginning import check_input
from layover.runtime.errors import (
    AlreadyExists,
    ExecutionCancelled,
    ExecutionFailed,
    InvalidFilter,
    InvalidInput,
    LimitReached,
    UnknownExecution,
)
from layover.runtime.ids import checked_id, id_from_key, new_id
from layover.runtime.node_executions import node_executions
from layover.runtime.views import Execution, execution_view
from layover.runtime.why import Why, summed_up, why
from layover.runtime.workflows import Workflows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.ports.records import ExecutionRow, Head, PointRow
    from layover.runtime.cache import Kept
    from layover.runtime.instance import Instance
    from layover.runtime.node_executions import NodeExecution
    from layover.runtime.why import Reason

_AT_REST = frozenset({"waiting", "paused"})
_DEEPEST = 10  # of the children of children that are asked why


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What can be said about a new execution besides its input."""

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


class Executions(Workflows):
    """What an engine offers about single executions and lists of them."""

    async def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - it is what everybody calls it
        key: str | None = None,
        on_conflict: Literal["reject", "return"] = "reject",
        wait: Literal["rest", "end"] | None = None,
        options: Options | None = None,
    ) -> Execution:
        """Begin an execution, under an id of its own or one that belongs to an idempotency key.

        It is durable when this returns. If the id is in use, that is refused, or the execution that has it is returned.
        """
        instance, chosen = self.instance, options or _NO_OPTIONS
        plan = await self.plan_of(workflow)
        value = plain(given)
        check_input(plan, value)
        execution_id = _id_for(instance, workflow, id, key)
        now = instance.clock.now()
        delay = _milliseconds(chosen.delay)
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
            instance=instance.id,
            start_at=now + delay if delay else None,
        )
        driver = instance.driver
        if execution_id in driver.driven and await driver.is_begun(execution_id):
            return await self._existing(execution_id, on_conflict, wait)
        begun = instance.beginning.begin(plan, new, create)
        driven = begun.driven
        outcome = await driven.created
        if outcome.verdict == "exists":
            return await self._existing(execution_id, on_conflict, wait)
        if outcome.verdict == "fenced":  # it is begun, and somebody else went on with it before that was known here
            return await self._existing(execution_id, "return", wait)
        if begun.wish is not None and begun.message is not None and not delay:
            admission = await instance.beginning.apply(begun.wish, begun.message)
            if admission.state == "rejected" and admission.name:  # without a name it was ended before it asked
                raise LimitReached(f"As many as may already run as `{admission.name}`.", admission.holders)
        if wait is not None:
            await driven.at_rest()
            state = driven.state
            if not (state.facts.closed or (wait == "rest" and state.facts.started_at and state.resting)):
                return await self.wait(execution_id, wait)  # it was begun here, and goes on later
        return execution_view(new, driven.state, driven.finished_at)

    async def _existing(self, execution_id: str, on_conflict: str, wait: Literal["rest", "end"] | None) -> Execution:
        """Return the execution that has an id already, or refuse to begin another."""
        if on_conflict == "reject":
            raise AlreadyExists(f"The execution {execution_id} exists already.")
        return await (self.get(execution_id) if wait is None else self.wait(execution_id, wait))

    async def wait(self, execution_id: str, until: Literal["rest", "end"] = "end") -> Execution:
        """Return an execution once it has come to rest, or to its end."""
        wanted = _is_closed if until == "end" else _is_at_rest
        await self.instance.listeners.until(checked_id(execution_id), wanted)
        return await self.get(execution_id)

    async def result(self, execution_id: str) -> object:
        """Return what an execution gives, once it has; raise what it failed with."""
        execution = await self.wait(execution_id)
        if execution.status == "failed" and execution.error is not None:
            raise ExecutionFailed(execution.id, execution.error)
        if execution.status == "cancelled":
            raise ExecutionCancelled(f"The execution {execution.id} was cancelled: {execution.outcome_reason}")
        return execution.output

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""
        row, kept = await self._load(execution_id)
        return execution_view(row.info, kept.state, row.finished_at)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; `after` goes on behind one that was seen: its `created_at` and id.

        With `where`, only those whose input contains it: every member of an object, every element of an array.
        """
        document = _wanted(where) if where else None
        wanted = ExecutionFilter(
            workflow=workflow, status=tuple(status), tag=tag, where=document, after=after, limit=limit
        )
        return await self.instance.store.page(wanted)

    async def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""
        entries = await self.instance.store.history(checked_id(execution_id), since, limit)
        found = [
            HistoryEntry(seq=entry.seq + index, at=entry.at, event=event)
            for entry in entries
            for index, event in enumerate(decode_events(entry.events))
        ]
        return [one for one in found if one.seq >= since][:limit]

    async def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of every node that was reached."""
        row, _ = await self._load(execution_id)
        entries = await self.instance.store.history(execution_id, 0, row.head.last_seq + 1)
        plan = await self.instance.plans.of(row.info.hash)
        events = [(entry.at, event) for entry in entries for event in decode_events(entry.events)]
        return node_executions(plan, events)

    async def points(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return pause points, the oldest first; with `children`, also those of the executions that one waits for."""
        if execution_id is None:
            return await self.instance.store.points(PointFilter(status=tuple(status)))
        found = await self._points_of(execution_id, status)
        waiting = [one.point.child for one in found if one.point.child] if children else []
        for _ in range(_DEEPEST):
            inner = [row for child in waiting for row in await self._points_of(child, status)]
            found = [*found, *inner]
            waiting = [one.point.child for one in inner if one.point.child]
        return sorted(found, key=lambda one: (one.point.opened_at, one.point.id))

    async def _points_of(self, execution_id: str, status: Sequence[str]) -> Sequence[PointRow]:
        """Return all points of one execution, which may be more than a page of them."""
        wanted = PointFilter(execution_id=execution_id, status=tuple(status))
        found: Sequence[PointRow] = await self.instance.store.points(wanted)
        page = found
        while len(page) == wanted.limit:
            wanted = replace(wanted, after=(page[-1].point.opened_at, page[-1].point.id))
            page = await self.instance.store.points(wanted)
            found = [*found, *page]
        return found

    async def counts(self) -> dict[str, int]:
        """Return how many executions there are, by status."""
        return await self.instance.store.counts()

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for, and what those wait for that it waits for."""
        own, reasons = await self._reasons(execution_id, _DEEPEST)
        return summed_up(reasons) if reasons else own

    async def _reasons(self, execution_id: str, depth: int) -> tuple[Why, tuple[Reason, ...]]:
        """Return why an execution stands still, followed through its children."""
        instance = self.instance
        row, kept = await self._load(execution_id)
        admission = await instance.store.admission(row.head.execution_id) if kept.state.facts.hold else None
        own = why(row.head, kept.state, instance.clock.now(), admission)
        reasons = own.reasons
        for index, reason in enumerate(own.reasons):
            if reason.kind == "child" and reason.execution and depth:
                with suppress(UnknownExecution):  # it is about to be started
                    _, because = await self._reasons(reason.execution, depth - 1)
                    reasons = (*reasons[:index], replace(reason, because=because), *reasons[index + 1 :])
        return own, reasons

    async def _load(self, execution_id: str) -> tuple[ExecutionRow, Kept]:
        """Return the row of an execution and the state that its log adds up to, both of the same moment."""
        store = self.instance.store
        id_ = checked_id(execution_id)
        while True:
            (loaded,) = await store.load([id_])
            row = await store.get(id_)
            if loaded is None or row is None:
                raise UnknownExecution(f"There is no execution {id_}.")
            if row.head.last_seq == loaded.head.last_seq:
                return row, await self.instance.driver.state_of(loaded)
            await asyncio.sleep(0)


def _id_for(instance: Instance, workflow: str, id_: str | None, key: str | None) -> str:
    if id_ is not None:
        return checked_id(id_)
    if key is not None:
        return id_from_key(workflow, key)
    return new_id(instance.clock.now())


def _wanted(where: Mapping[str, object]) -> bytes:
    """Return what to look for as it is written, or raise why it cannot be."""
    try:
        document = msgspec.json.encode(where)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidFilter(f"`where` cannot be written as JSON: {error}.") from error
    fault = fault_of(document)
    if fault is not None:
        raise InvalidFilter(f"`where` cannot be looked for: {fault}.")
    return document


def _milliseconds(delay: int | str | None) -> int:
    """Return how long to wait before the start; what lies in the past is no wait at all."""
    if not isinstance(delay, str):
        return max(delay or 0, 0)
    try:
        return parse_duration(delay)
    except ValueError as error:
        raise InvalidInput(f"`delay`: {error}.", (("delay", str(error)),)) from error


def _is_closed(head: Head) -> bool:
    return head.status in CLOSED


def _is_at_rest(head: Head) -> bool:
    """Return whether nothing is about to happen: what was sent to an execution at rest wakes it."""
    return head.status in CLOSED or (head.status in _AT_REST and head.commands_done >= head.commands_seq)
