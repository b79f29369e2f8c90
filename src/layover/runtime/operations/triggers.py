"""What operators do to triggers: pause, resume, fire, backfill; and to inputs that were rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from layover.core.calendar import next_occurrence, starts_at
from layover.core.definitions.trigger_types import PollTrigger, ScheduleTrigger
from layover.core.expressions.errors import ExpressionError
from layover.core.moments import Moment, moment
from layover.core.payloads import plain
from layover.core.poll_cursors import encode_poll_cursor
from layover.core.schedules import cursor_at, decode_cursor, encode_cursor, first_start, schedule_of
from layover.core.trigger_inputs import passes, render_start
from layover.errors import InvalidInput, LimitReached, NotFound, WrongState
from layover.model.triggers import Backfilled, Fired, TriggerOccurrence
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.trigger_records import InputChange, NewEvent, Reception, TriggerMove
from layover.runtime.triggers.planned import planned_of
from layover.runtime.triggers.poller import ADVANCED
from layover.runtime.triggers.received import Payload, decode_payload, new_input, trigger_object
from layover.runtime.triggers.registration import execution_id_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.calendar import Occurrence
    from layover.core.plan import PlannedTrigger
    from layover.ports.records import AuditRow
    from layover.ports.trigger_records import InputRow, TriggerRow, TriggerState
    from layover.runtime.instance import Instance

MOST_BACKFILLED = 1_000
MOST_NEXT = 100
_AT_ONCE = 100
_TRIES = 10  # to change a trigger that others change at the same moment


class Fire(NamedTuple):
    """An input that is given by hand."""

    data: object
    id: str | None = None
    dry_run: bool = False
    key: str | None = None  # of the request: without an id, it is the same input when it comes again


class Backfill(NamedTuple):
    """The range of a backfill, in milliseconds; the end is not part of it."""

    begin: int
    end: int
    again: bool = False
    dry_run: bool = False
    key: str | None = None  # of the request: what it starts once more, it starts once


class Triggers:
    """Operates triggers."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._store = instance.store
        self._clock = instance.clock

    async def find(self, trigger_id: str) -> TriggerRow:
        """Return a trigger; NotFound if there is none."""
        row = await self._store.triggers.find(trigger_id)
        if row is None:
            raise NotFound("There is no such trigger.", code="unknown_trigger")
        return row

    # States

    async def pause(self, trigger_id: str, reason: str, audit: AuditRow | None) -> TriggerRow:
        """Let nothing start: occurrences are skipped, and signals wait as pending inputs."""
        for _ in range(_TRIES):
            row = await self.find(trigger_id)
            if row.state == "paused":
                return row
            _check_alive(row)
            move = _changed(row, "paused", reason, self._clock.now(), audit)
            if await self._store.triggers.move(msgspec.structs.replace(move, held=True)):
                return await self.find(trigger_id)
        raise _contended()

    async def resume(self, trigger_id: str, audit: AuditRow | None, *, catch_up: bool) -> TriggerRow:
        """Let it go on: from now, or behind the last occurrence before the pause."""
        for _ in range(_TRIES):
            row = await self.find(trigger_id)
            if row.state != "paused":
                raise WrongState(f"The trigger is not paused: it is {row.state}.", row.state)
            now = self._clock.now()
            move = _changed(row, "active", "", now, audit)
            planned = await self._planned(row)
            if isinstance(planned.trigger, ScheduleTrigger):
                move = _going_on(row, planned.trigger, move, now, catch_up=catch_up)
            elif isinstance(planned.trigger, PollTrigger):
                move = msgspec.structs.replace(move, next_at=now)
            if await self._store.triggers.move(msgspec.structs.replace(move, held=False)):
                self._instance.trigger_runner.changed()
                return await self.find(trigger_id)
        raise _contended()

    async def rewind(self, trigger_id: str, cursor: str | None, audit: AuditRow | None) -> TriggerRow:
        """Set the cursor of a poll, None for the beginning; what is being polled meanwhile is not kept."""
        stored = encode_poll_cursor(cursor)
        for _ in range(_TRIES):
            row, now = await self.find(trigger_id), self._clock.now()
            _check_alive(row)
            if row.type != "poll":
                raise WrongState(f"The trigger is no poll but a {row.type}.", row.state, code="not_a_poll")
            body = {"cursor": cursor, "processed_count": 0, "by": _user(audit)}
            event = NewEvent(kind=ADVANCED, body=msgspec.json.encode(body))
            move = msgspec.structs.replace(
                _with_events(row, (event,), now, audit), cursor=stored, next_at=None if row.state == "paused" else now
            )
            if await self._store.triggers.move(move):
                self._instance.trigger_runner.changed()
                return await self.find(trigger_id)
        raise _contended()

    # Inputs by hand

    async def fire(self, trigger_id: str, fire: Fire, audit: AuditRow | None) -> Fired:
        """Give a trigger an input; it starts as any other does."""
        row = await self.find(trigger_id)
        _check_alive(row)
        planned, now = await self._planned(row), self._clock.now()
        data = plain(fire.data)
        if data is None and isinstance(planned.trigger, ScheduleTrigger):
            data = planned.trigger.data
        input_id = fire.id if fire.id is not None else f"fire:{fire.key or self._instance.machine.ids.new(now)}"
        event = new_input(
            row, Payload(input_id=input_id, data=data, by=_user(audit)), now=now, dedup=planned.trigger.dedup, at=now
        )
        tried = self._try(row, planned, event, now)
        if fire.dry_run or tried.status == "filtered":
            return tried
        if event.input is None:
            raise TypeError("an input by hand is an input")
        most = planned.trigger.max_pending
        reception = Reception(input=event.input, event=event, most_pending=most, audit=audit)
        received = await self._store.triggers.receive(reception)
        if received.input is None:
            raise LimitReached(f"The trigger has {most} pending inputs already.", code="trigger_full")
        known = received.input
        if received.repeated and fire.id is None:
            return await self._start(row, known, tried)  # the request has come again
        if received.repeated:
            return msgspec.structs.replace(tried, status="repeated", execution_id=known.execution_id or None)
        reached(CommitPoint.INPUT_KEPT)
        return await self._start(row, known, tried)

    def _try(self, row: TriggerRow, planned: PlannedTrigger, event: NewEvent, now: int) -> Fired:
        """Return what would become of an input."""
        if event.input is None:
            raise TypeError("an input by hand is an input")
        trigger = trigger_object(row, event.input, decode_payload(event.body))
        id_ = execution_id_of(row.id, event.input.input_id)
        shown = Fired(input_id=event.input.input_id, execution_id=id_, status="dry_run")
        try:
            if not passes(planned, trigger, now):
                return msgspec.structs.replace(shown, status="filtered", passes=False, execution_id=None)
            return msgspec.structs.replace(shown, input=render_start(planned, trigger, now).input)
        except ExpressionError as error:
            return msgspec.structs.replace(shown, reason=error.message)

    async def _start(self, row: TriggerRow, one: InputRow, shown: Fired) -> Fired:
        """Start an input here, or leave it to an instance that drives."""
        if self._instance.settings.executions <= 0:
            return msgspec.structs.replace(shown, status="pending")
        outcome = await self._instance.trigger_runner.start_input(row, one)
        known = await self._store.triggers.find_input(one.trigger_id, one.input_id)
        state = known.state if known is not None else "started"
        reason = known.reason if known is not None else ""
        if outcome == "filtered":
            return msgspec.structs.replace(shown, status="filtered", passes=False, execution_id=None)
        if state in ("started", "delivered", "pending", "rejected"):
            return msgspec.structs.replace(shown, status=state, reason=reason)
        return shown

    # Schedules

    async def next_occurrences(self, trigger_id: str, count: int) -> tuple[TriggerOccurrence, ...]:
        """Return the next occurrences of a schedule."""
        row = await self.find(trigger_id)
        trigger = await self._schedule(row)
        cursor, schedule = decode_cursor(row.cursor), schedule_of(trigger)
        now = self._clock.now()
        found: list[TriggerOccurrence] = []
        after, done = (cursor if cursor.at > now else cursor_at(now)).after, cursor.count
        while len(found) < min(count, MOST_NEXT):
            occurrence = next_occurrence(schedule, after, done)
            if occurrence is None:
                break
            found.append(_shown(trigger, row.id, occurrence))
            after, done = occurrence, done + 1
        return tuple(found)

    async def backfill(self, trigger_id: str, wanted: Backfill, audit: AuditRow | None) -> Backfilled:
        """Start the occurrences of a schedule in a range of the past; those that are known are passed over."""
        row = await self.find(trigger_id)
        _check_alive(row)
        trigger, now = await self._schedule(row), self._clock.now()
        if wanted.end > now:
            raise InvalidInput("`to` lies in the future: a backfill is about what is past.", (("to", "in the future"),))
        occurrences = _within(trigger, wanted)
        fresh = [one for one in occurrences if wanted.again or not await self._is_known(row.id, one)]
        items = tuple(_shown(trigger, row.id, one) for one in fresh)
        passed_over = len(occurrences) - len(fresh)
        if not wanted.dry_run:
            for begin in range(0, len(fresh), _AT_ONCE):
                await self._keep(trigger_id, trigger, fresh[begin : begin + _AT_ONCE], wanted, audit)
        return Backfilled(items=items, passed_over=passed_over, dry_run=wanted.dry_run)

    async def _is_known(self, trigger_id: str, occurrence: Occurrence) -> bool:
        return await self._store.triggers.find_input(trigger_id, moment(occurrence.at)) is not None

    async def _keep(
        self,
        trigger_id: str,
        trigger: ScheduleTrigger,
        occurrences: list[Occurrence],
        wanted: Backfill,
        audit: AuditRow | None,
    ) -> None:
        """Write inputs for occurrences; the cursor of the schedule stays where it is."""
        for _ in range(_TRIES):
            row, now = await self.find(trigger_id), self._clock.now()
            again = f"#{wanted.key or row.seq}" if wanted.again else ""
            events = tuple(
                new_input(
                    row,
                    Payload(input_id=f"{moment(one.at)}{again}", data=trigger.data, by=_user(audit)),
                    now=now,
                    dedup=trigger.dedup,
                    at=one.at,
                    due_at=now,
                )
                for one in occurrences
            )
            if await self._store.triggers.move(_with_events(row, events, now, audit)):
                reached(CommitPoint.INPUT_KEPT)
                self._instance.trigger_runner.changed()
                return
        raise _contended()

    # Rejected inputs

    async def replay(self, trigger_id: str, input_id: str, audit: AuditRow | None) -> InputRow:
        """Try a rejected input once more, with the newest version of its workflow."""
        return await self._change(trigger_id, input_id, "pending", audit)

    async def discard(self, trigger_id: str, input_id: str, audit: AuditRow | None) -> InputRow:
        """Have a rejected or pending input never start."""
        return await self._change(trigger_id, input_id, "discarded", audit)

    async def find_input(self, trigger_id: str, input_id: str) -> InputRow:
        """Return an input of a trigger; NotFound if there is none."""
        row = await self.find(trigger_id)
        found = await self._store.triggers.find_input(trigger_id, input_id)
        if found is None:
            raise NotFound(f"The trigger `{row.name}` has no input `{input_id[:100]}`.", code="unknown_input")
        return found

    async def _change(
        self, trigger_id: str, input_id: str, state: Literal["pending", "discarded"], audit: AuditRow | None
    ) -> InputRow:
        await self.find(trigger_id)
        is_changed = await self._is_changed(trigger_id, input_id, state, audit)
        found = await self.find_input(trigger_id, input_id)
        if not is_changed:
            raise WrongState(f"The input is {found.state}.", found.state)
        self._instance.trigger_runner.changed()
        return found

    async def replay_all(self, inputs: Sequence[InputRow], audit: AuditRow | None) -> int:
        """Try rejected inputs once more; return how many there were, as some may have changed meanwhile."""
        replayed = 0
        for one in inputs:
            replayed += await self._is_changed(one.trigger_id, one.input_id, "pending", audit)
        if replayed:
            self._instance.trigger_runner.changed()
        return replayed

    async def _is_changed(
        self, trigger_id: str, input_id: str, state: Literal["pending", "discarded"], audit: AuditRow | None
    ) -> bool:
        change = InputChange(
            trigger_id=trigger_id,
            input_id=input_id,
            of=("rejected",) if state == "pending" else ("rejected", "pending"),
            state=state,
            due_at=self._clock.now() if state == "pending" else None,
            audit=audit,
        )
        return await self._store.triggers.change_input(change)

    # What it is made of

    async def _planned(self, row: TriggerRow) -> PlannedTrigger:
        plan = await self._instance.plans.latest(row.workflow, self._clock.now())
        found = planned_of(plan, row) if plan is not None else None
        if found is None:
            raise WrongState("The trigger was removed from its workflow.", row.state)
        return found

    async def _schedule(self, row: TriggerRow) -> ScheduleTrigger:
        trigger = (await self._planned(row)).trigger
        if not isinstance(trigger, ScheduleTrigger):
            raise WrongState(f"The trigger is no schedule but a {row.type}.", row.state, code="not_a_schedule")
        return trigger


def _check_alive(row: TriggerRow) -> None:
    if row.state == "stopped":
        raise WrongState(f"The trigger is stopped: {row.reason or 'it has ended'}.", "stopped")


def _contended() -> WrongState:
    return WrongState("The trigger changes all the time; try again.", "active")


def _user(audit: AuditRow | None) -> str:
    """Return who acts, if that is a user."""
    return audit.user if audit is not None and audit.credential != "program" else ""


def _changed(row: TriggerRow, state: TriggerState, reason: str, now: int, audit: AuditRow | None) -> TriggerMove:
    body = msgspec.json.encode({"state": state, "reason": reason, "by": _user(audit)})
    return TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=now,
        state=state,
        reason=reason,
        cursor=row.cursor,
        events=(NewEvent(kind="TriggerStateChanged", body=body),),
        audit=audit,
    )


def _going_on(row: TriggerRow, trigger: ScheduleTrigger, move: TriggerMove, now: int, *, catch_up: bool) -> TriggerMove:
    """Return how a schedule goes on after a pause."""
    known = decode_cursor(row.cursor)
    cursor = known if catch_up else msgspec.structs.replace(cursor_at(now), count=known.count)
    next_at = first_start(trigger, row.id, cursor)
    state: TriggerState = "active" if next_at is not None else "stopped"
    return msgspec.structs.replace(
        move, state=state, reason="" if next_at is not None else "ended", cursor=encode_cursor(cursor), next_at=next_at
    )


def _with_events(row: TriggerRow, events: tuple[NewEvent, ...], now: int, audit: AuditRow | None) -> TriggerMove:
    return TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=now,
        state=row.state,
        reason=row.reason,
        next_at=row.next_at,
        cursor=row.cursor,
        failures=row.failures,
        events=events,
        audit=audit,
    )


def _within(trigger: ScheduleTrigger, wanted: Backfill) -> list[Occurrence]:
    """Return the occurrences of a range, whatever its bounds and times say: those are about what starts by itself."""
    schedule = msgspec.structs.replace(schedule_of(trigger), begin=None, end=None, times=None)
    found: list[Occurrence] = []
    after: int | Occurrence = wanted.begin - 1
    while (one := next_occurrence(schedule, after)) is not None and one.at < wanted.end:
        found.append(one)
        after = one
        if len(found) > MOST_BACKFILLED:
            message = f"A backfill has at most {MOST_BACKFILLED} occurrences: choose a shorter range."
            raise InvalidInput(message, (("to", message),))
    return found


def _shown(trigger: ScheduleTrigger, trigger_id: str, occurrence: Occurrence) -> TriggerOccurrence:
    at = starts_at(schedule_of(trigger), trigger_id, occurrence)
    return TriggerOccurrence(at=Moment.of(occurrence.at), starts_at=Moment.of(at) if at != occurrence.at else None)
