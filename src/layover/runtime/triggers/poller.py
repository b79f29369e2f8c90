"""Polls the sources of triggers that are due.

An instance leases a trigger before it polls (`poll_leases.py`), so that another one polls if this one does not come
back. What was found is written in one transaction with the cursor, which lands only if number, epoch and cursor are as
they were read: an instance whose lease is over writes nothing. Of items that are known by their ids, nothing is
written.

A cursor is acknowledged once it is durable. Whether that was done is not kept: an instance that polls a trigger for the
first time acknowledges its cursor again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from layover.core.definitions.trigger_types import PollTrigger
from layover.core.expressions.errors import ExpressionError
from layover.core.poll_cursors import decode_poll_cursor
from layover.errors import LayoverError
from layover.nodes.errors import message_of
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.trigger_records import NewEvent, PollLease, TriggerMove
from layover.runtime.secrets.errors import SecretMissing, SecretNotAllowed
from layover.runtime.triggers.back_off import state_changed
from layover.runtime.triggers.batches import check_batch
from layover.runtime.triggers.poll_leases import PollLeases, unchanged
from layover.runtime.triggers.received import Payload, named_input, new_input, note_filtered
from layover.runtime.triggers.source_calls import MOST_AT_ONCE, SourceCalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.plan import PlannedTrigger
    from layover.nodes.registry import PolledSource, Registry
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputRow, TriggerRow
    from layover.runtime.calls.threads import Threads
    from layover.runtime.clock import Clock
    from layover.runtime.metrics import Metrics
    from layover.runtime.settings import RuntimeSettings
    from layover.runtime.triggers.batches import CheckedBatch
    from layover.runtime.triggers.notes import FilteredNotes
    from layover.runtime.triggers.poll_arguments import PollArgumentMaker, PollArguments
    from layover.runtime.triggers.schedule_claimer import ScheduleClaimer
    from layover.runtime.triggers.trigger_errors import TriggerErrors

ADVANCED = "TriggerCursorAdvanced"
_LOOK_AGAIN = 10_000  # milliseconds, while the workflow is not active, or no instance has the source or a secret
_WHILE_FULL = 5_000  # before it is looked again whether inputs have started
_LONGEST_BESIDE = 1_000  # bytes of a cursor that is kept with each input; a longer one stands once, in the event behind
_MOST_ACKNOWLEDGED = 10_000  # triggers of which the acknowledged cursor is remembered

_log = logging.getLogger("layover.triggers")


class StartableInput(NamedTuple):
    """An input that was just stored here, with its data."""

    row: InputRow
    payload: Payload


class InputRunner(Protocol):
    """Starts inputs, and looks for what is due."""

    def hint(self, at: int = 0) -> None:
        """Look at a moment at the latest."""

    def filtered(self, row: TriggerRow, count: int) -> None:
        """Count items that the filter did not let pass."""

    async def start_new(self, row: TriggerRow, inputs: Sequence[StartableInput]) -> None:
        """Start inputs that were just stored here."""


class _Poll(NamedTuple):
    """One poll under way: the trigger as it was leased."""

    row: TriggerRow
    planned: PlannedTrigger
    trigger: PollTrigger
    source: PolledSource
    arguments: PollArguments
    began: int

    @property
    def lease(self) -> PollLease:
        return PollLease(epoch=self.row.epoch, cursor=self.row.cursor)


class Poller:
    """Polls sources, each trigger by one task at a time."""

    def __init__(  # noqa: PLR0913 - the parts of an instance that it needs
        self,
        *,
        name: str,
        store: Store,
        clock: Clock,
        settings: RuntimeSettings,
        registry: Registry,
        claimer: ScheduleClaimer,
        errors: TriggerErrors,
        arguments: PollArgumentMaker,
        threads: Threads,
        metrics: Metrics,
        runner: InputRunner,
        notes: FilteredNotes,
    ) -> None:
        self._notes = notes
        self._runner = runner
        self._store = store
        self._clock = clock
        self._leases = PollLeases(name, store, clock, settings.lease_ttl)
        self._registry = registry
        self._claimer = claimer
        self._errors = errors
        self._arguments = arguments
        self._metrics = metrics
        self._tasks: dict[str, asyncio.Task[bool]] = {}
        self._acknowledged: OrderedDict[str, bytes] = OrderedDict()
        self._stopped = False
        self.calls = SourceCalls(clock, threads)

    def begin(self, row: TriggerRow) -> None:
        """Poll a trigger that is due, unless it is being polled here, or too many are."""
        if self._stopped or row.id in self._tasks or len(self._tasks) >= MOST_AT_ONCE:
            return
        task = asyncio.get_running_loop().create_task(self._serve(row), name=f"poll {row.workflow}/{row.name}")
        self._tasks[row.id] = task
        task.add_done_callback(partial(self._ended, row.id))

    def _ended(self, trigger_id: str, task: asyncio.Task[bool]) -> None:
        """Look at once for what is due, unless the trigger was not polled here: it may be due as before."""
        self._tasks.pop(trigger_id, None)
        if not self._stopped and not task.cancelled() and task.result():
            self._runner.hint()

    async def stop(self) -> None:
        """Give up what is under way: nothing of it is kept, and another instance polls at once."""
        tasks = list(self._tasks.values())
        self.dismiss()
        await asyncio.gather(*tasks, return_exceptions=True)

    def dismiss(self) -> None:
        """Give up what is under way, without waiting for anything; leases run out."""
        self._stopped = True
        for task in self._tasks.values():
            task.cancel()
        self.calls.stop()

    async def _serve(self, row: TriggerRow) -> bool:
        """Poll a trigger; return whether it was polled, so that it may be due again."""
        poll: _Poll | None = None
        try:
            poll = await self._lease(row)
            if poll is not None:
                await self._poll(poll)
        except asyncio.CancelledError:
            if poll is not None:
                await self._leases.release(poll.row)
            raise
        except StoreError as error:  # it is due as before, or when its lease has run out
            _log.warning("poll_failed trigger=%s/%s error=%s", row.workflow, row.name, error.message)
            return False
        except Exception as error:  # noqa: BLE001 - one trigger that cannot work must not hold up the others
            _log.exception("poll_failed trigger=%s/%s error=%s", row.workflow, row.name, type(error).__name__)
            return await self._give_up(row, f"{type(error).__name__}: {message_of(error)}")
        finally:
            if poll is not None:
                poll.arguments.release()
        return poll is not None

    async def _give_up(self, row: TriggerRow, message: str) -> bool:
        try:
            return await self._errors.note(row, message, self._clock.now())
        except StoreError:
            return False

    # Before

    async def _lease(self, row: TriggerRow) -> _Poll | None:
        """Lease a trigger; None if it is not polled now, or not here."""
        now = self._clock.now()
        planned = await self._claimer.planned(row, now)
        if planned is None or not isinstance(planned.trigger, PollTrigger):
            return None  # an instance with the newest version serves it
        trigger = planned.trigger
        source = self._registry.find_source(trigger.source)
        if not await self._claimer.is_active(row.workflow, now):
            await self._rest(row, now + _LOOK_AGAIN)
            return None
        if source is None:
            if await self._leave(row, f"No instance has the source `{trigger.source}`.", now):
                _log.warning("source_missing trigger=%s/%s source=%s", row.workflow, row.name, trigger.source)
            return None
        if await self._store.triggers.count_pending(row.id, trigger.max_pending) >= trigger.max_pending:
            await self._rest(row, now + _WHILE_FULL)
            return None
        arguments = await self._arguments_of(row, planned, now)
        if arguments is None:
            return None
        leased: TriggerRow | None = None
        try:
            leased = await self._leases.take(row)
        finally:
            if leased is None:
                arguments.release()
        return _Poll(leased, planned, trigger, source, arguments, now) if leased is not None else None

    async def _arguments_of(self, row: TriggerRow, planned: PlannedTrigger, now: int) -> PollArguments | None:
        """Return what the source is asked with; None if a secret is missing here, or an expression cannot work."""
        try:
            return await self._arguments.make(row, planned, now)
        except (SecretMissing, SecretNotAllowed) as error:
            if await self._leave(row, error.message, now):
                _log.warning("poll_secret_missing trigger=%s/%s error=%s", row.workflow, row.name, error.message)
        except ExpressionError as error:
            if await self._give_up(row, f"`with`: {error.message}"):
                self._runner.hint()
        return None

    async def _rest(self, row: TriggerRow, until: int) -> None:
        """Look at a trigger again at a moment."""
        if await self._store.triggers.move(unchanged(row, self._clock.now(), until)):
            self._runner.hint(until)

    async def _leave(self, row: TriggerRow, reason: str, now: int) -> bool:
        """Leave a trigger to an instance that has what this one lacks; if none comes to it, say so, once."""
        if row.next_at is not None and now - row.next_at < _LOOK_AGAIN and await self._store.instances.list_others():
            return False
        known = (row.state, row.reason) == ("initialized", reason)
        move = msgspec.structs.replace(
            unchanged(row, now, now + _LOOK_AGAIN),
            state="initialized",
            reason=reason,
            events=() if known else (state_changed("initialized", reason),),
        )
        if not await self._store.triggers.move(move):
            return False
        self._runner.hint(now + _LOOK_AGAIN)
        return not known

    # Polling

    async def _poll(self, poll: _Poll) -> None:
        """Poll under a lease, and keep what is found; a failure advances nothing."""
        try:
            async with self._leases.renewed(poll.row):
                batch = await self._ask(poll)
                events, filtered = await self._new_inputs(poll, batch)
        except StoreError:
            raise
        except LayoverError as error:
            await self._failed(poll, poll.arguments.masked_text(error.message))
            return
        await self._keep(poll, batch, events, filtered)

    async def _ask(self, poll: _Poll) -> CheckedBatch:
        """Return what the source has found."""
        row, trigger, source = poll.row, poll.trigger, poll.source
        await self._acknowledge(poll, row.cursor)  # an instance that died may have not
        began = self._clock.running()
        try:
            ask = partial(source.poll, decode_poll_cursor(row.cursor), poll.arguments.make())
            returned = await self.calls.call(source.function, ask, trigger.timeout)
        finally:
            self._metrics.trigger_poll.observe((self._clock.running() - began) / 1000)
        return poll.arguments.masked(trigger.source, check_batch(trigger.source, returned))

    async def _failed(self, poll: _Poll, message: str) -> None:
        row = poll.row
        _log.warning(
            "trigger_failed trigger=%s/%s failures=%d error=%s", row.workflow, row.name, row.failures + 1, message
        )
        if not await self._errors.note(row, message, self._clock.now(), poll.lease):
            await self._leases.release(poll.row)

    # Keeping

    async def _keep(self, poll: _Poll, batch: CheckedBatch, events: Sequence[NewEvent], filtered: int) -> None:
        """Write what was found with the cursor, then start it."""
        row = poll.row
        cursor = row.cursor if batch.cursor is None else batch.cursor
        now = self._clock.now()
        advanced = cursor != row.cursor or bool(events)
        changed = (row.state, row.reason) != ("active", "")
        move = TriggerMove(
            trigger_id=row.id,
            expected_seq=row.seq,
            at=now,
            state="active",
            next_at=now if batch.more and advanced else max(now, poll.began + poll.trigger.every),
            cursor=cursor,
            lease=poll.lease,
            events=(
                *events,
                *((_advanced(cursor, len(batch.items)),) if advanced else ()),
                *((state_changed("active", ""),) if changed else ()),
            ),
        )
        if not await self._store.triggers.move(move):
            await self._leases.release(row)  # something else has happened to the trigger: it is polled again
            return
        reached(CommitPoint.CURSOR_ADVANCED)
        self._runner.filtered(row, filtered)
        inputs = [
            StartableInput(msgspec.structs.replace(event.input, seq=seq), msgspec.json.decode(event.body, type=Payload))
            for seq, event in enumerate(events, row.seq + 1)
            if event.input is not None
        ]
        if inputs:
            reached(CommitPoint.INPUT_KEPT)
        both = self._acknowledged_after(poll, cursor), self._runner.start_new(row, inputs)
        for outcome in await asyncio.gather(*both, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _new_inputs(self, poll: _Poll, batch: CheckedBatch) -> tuple[list[NewEvent], int]:
        """Return an input for each item that is new and passes the filter, and how many do not pass."""
        row, now, found = poll.row, self._clock.now(), dict[str, NewEvent]()
        kept = row.cursor if batch.cursor is None else batch.cursor
        cursor = decode_poll_cursor(kept) if len(kept) <= _LONGEST_BESIDE else None
        filtered = 0
        for item in batch.items:
            payload = Payload(input_id=item.id, data=item.data, cursor=cursor)
            event = new_input(row, payload, now=now, dedup=poll.trigger.dedup)
            named = named_input(row, poll.planned, event, payload, now)
            if named is None:
                filtered += 1
                note_filtered(self._notes, row, poll.planned, event, payload, now)
            elif named.input is not None:
                found.setdefault(named.input.input_id, named)
        # What is added meanwhile changes the number of the trigger, and then nothing of this is written.
        known = await self._store.triggers.find_known(row.id, list(found)) if found else frozenset()
        return [event for id_, event in found.items() if id_ not in known], filtered

    # Acknowledging

    async def _acknowledge(self, poll: _Poll, cursor: bytes) -> None:
        """Acknowledge a cursor that is durable, unless this instance has done so."""
        source, id_ = poll.source, poll.row.id
        if source.acknowledging is None or not cursor or self._acknowledged.get(id_) == cursor:
            return
        tell = partial(source.acknowledge, decode_poll_cursor(cursor), poll.arguments.make())
        await self.calls.call(source.acknowledging, tell, poll.trigger.timeout)
        self._acknowledged[id_] = cursor
        self._acknowledged.move_to_end(id_)
        if len(self._acknowledged) > _MOST_ACKNOWLEDGED:
            self._acknowledged.popitem(last=False)

    async def _acknowledged_after(self, poll: _Poll, cursor: bytes) -> None:
        """Acknowledge what was just written; if that fails, it is done before the next poll."""
        try:
            await self._acknowledge(poll, cursor)
        except LayoverError as error:
            row = poll.row
            _log.warning("acknowledge_failed trigger=%s/%s error=%s", row.workflow, row.name, error.message)


def _advanced(cursor: bytes, count: int) -> NewEvent:
    body = {"cursor": decode_poll_cursor(cursor), "processed_count": count}
    return NewEvent(kind=ADVANCED, body=msgspec.json.encode(body))
