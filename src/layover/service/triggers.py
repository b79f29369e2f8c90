"""Triggers as one user reads and operates them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.calendar import zone_named
from layover.core.definitions.instants import parse_instant
from layover.core.ids import trigger_id as id_of
from layover.errors import InvalidInput
from layover.model.shared import Page
from layover.model.triggers import Replayed, TriggerOccurrences
from layover.ports.trigger_records import InputFilter
from layover.runtime.ids import checked_id
from layover.runtime.operations.triggers import Backfill, Fire
from layover.runtime.queries.trigger_why import why_trigger
from layover.runtime.results.triggers import event_of, input_of, trigger_of
from layover.service.cursors import malformed_cursor
from layover.service.keyed_acts import keyed_act
from layover.service.pages import MOST

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from layover.model.executions import Why
    from layover.model.triggers import Backfilled, Fired, Trigger, TriggerEvent, TriggerInput
    from layover.ports.records import AuditRow
    from layover.ports.trigger_records import InputRow, TriggerRow
    from layover.runtime.operations.trigger_resources import MadeTrigger
    from layover.service.actor import Actor
    from layover.service.keyed_acts import KeyedAct

    _InputAct = Callable[[str, str, AuditRow | None], Awaitable[InputRow]]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}/[A-Za-z][A-Za-z0-9_-]{0,254}")
_LONGEST: Final = 255
_LONGEST_IN_AUDIT: Final = 1_000  # characters of a cursor
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")


class TriggerService:
    """What starts executions by itself."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    # Reading

    async def list(self, workflow: str | None, limit: int, cursor: str | None) -> Page[Trigger]:
        """Return a page of triggers by workflow and name."""
        self._actor.require("workflow:read")
        if cursor and not _NAME.fullmatch(cursor):
            raise malformed_cursor()
        most, store = min(limit, MOST), self._actor.runtime.instance.store
        of_workflow, _, name = (cursor or "").partition("/")
        rows = await store.triggers.list_triggers(workflow, (of_workflow, name), most + 1)
        listed = [await self._shown(row) for row in rows[:most]]
        following = f"{listed[-1].workflow}/{listed[-1].name}" if len(rows) > most else None
        return Page(items=tuple(listed), next=following)

    async def get(self, trigger_id: str) -> Trigger:
        """Return a trigger."""
        self._actor.require("workflow:read")
        return await self._shown(await self._find(trigger_id))

    async def inputs(self, trigger_id: str, state: str | None, limit: int, cursor: str | None) -> Page[TriggerInput]:
        """Return a page of the inputs of a trigger, the newest first."""
        self._actor.require("workflow:read")
        after = _parsed(cursor) if cursor else None
        row, most = await self._find(trigger_id), min(limit, MOST)
        wanted = InputFilter(trigger_id=row.id, state=state, after=after, limit=most + 1)
        found = await self._actor.runtime.instance.store.triggers.list_inputs(wanted)
        last = found[most - 1] if len(found) > most else None
        following = _cursor(last.received_at, last.input_id) if last is not None else None
        return Page(items=tuple(input_of(one) for one in found[:most]), next=following)

    async def history(self, trigger_id: str, limit: int, cursor: str | None) -> Page[TriggerEvent]:
        """Return a page of the log of a trigger, the oldest first."""
        self._actor.require("workflow:read")
        if cursor and not _NUMBER.fullmatch(cursor):
            raise malformed_cursor()
        row, most = await self._find(trigger_id), min(limit, MOST)
        store = self._actor.runtime.instance.store
        found = await store.triggers.list_events(row.id, int(cursor or 0), most + 1)
        following = str(found[most - 1].seq) if len(found) > most else None
        return Page(items=tuple(event_of(one) for one in found[:most]), next=following)

    async def next(self, trigger_id: str, count: int) -> TriggerOccurrences:
        """Return the next occurrences of a schedule."""
        self._actor.require("workflow:read")
        found = await self._actor.runtime.triggers.next_occurrences(checked_id(trigger_id, "a trigger id"), count)
        return TriggerOccurrences(items=found)

    async def why(self, trigger_id: str) -> Why:
        """Return why a trigger does not fire, or when it will."""
        self._actor.require("workflow:read")
        row = await self._find(trigger_id)
        runtime = self._actor.runtime
        return await why_trigger(runtime.instance, runtime.queries, row, await self._shown(row))

    # Acts

    async def pause(self, trigger_id: str, reason: str, idempotency_key: str | None) -> Trigger:
        """Let a trigger start nothing."""
        act = await self._act("trigger.pause", trigger_id, idempotency_key, reason=reason or None)
        triggers = self._actor.runtime.triggers
        return await act.once(
            lambda: self._show(triggers.pause(act.id, reason, act.entry)), lambda: self._show(triggers.find(act.id))
        )

    async def resume(self, trigger_id: str, *, catch_up: bool, idempotency_key: str | None) -> Trigger:
        """Let a trigger go on."""
        act = await self._act("trigger.resume", trigger_id, idempotency_key, catch_up=catch_up or None)
        triggers = self._actor.runtime.triggers
        return await act.once(
            lambda: self._show(triggers.resume(act.id, act.entry, catch_up=catch_up)),
            lambda: self._show(triggers.find(act.id)),
        )

    async def rewind(self, trigger_id: str, cursor: str | None, idempotency_key: str | None) -> Trigger:
        """Set the cursor of a poll; None is the beginning."""
        self._actor.require("workflow:write")
        id_, shown = checked_id(trigger_id, "a trigger id"), cursor[:_LONGEST_IN_AUDIT] if cursor else cursor
        act = await keyed_act(self._actor, "trigger.rewind", id_, idempotency_key, data=cursor, cursor=shown)
        triggers = self._actor.runtime.triggers
        return await act.once(
            lambda: self._show(triggers.rewind(act.id, cursor, act.entry)), lambda: self._show(triggers.find(act.id))
        )

    async def fire(
        self, trigger_id: str, data: object, input_id: str | None, *, dry_run: bool, idempotency_key: str | None = None
    ) -> Fired:
        """Give a trigger an input by hand. Without an id, the same idempotency key again is the same input."""
        self._actor.require("execution:start")
        id_ = checked_id(trigger_id, "a trigger id")
        entry = None if dry_run else self._actor.entry("trigger.fire", id_, input=input_id)
        key = self._actor.key("trigger.fire", id_, idempotency_key)
        return await self._actor.runtime.triggers.fire(id_, Fire(data, input_id, dry_run, key), entry)

    async def backfill(
        self, trigger_id: str, begin: str, end: str, *, again: bool, dry_run: bool, idempotency_key: str | None
    ) -> Backfilled:
        """Start the occurrences of a schedule in a range of the past."""
        self._actor.require("workflow:write")
        act, id_ = "trigger.backfill", checked_id(trigger_id, "a trigger id")
        row = await self._actor.runtime.triggers.find(id_)
        zone = str(msgspec.json.decode(row.config).get("zone", "UTC"))
        first, last = _instant("from", begin, zone), _instant("to", end, zone)
        await self._actor.check_key(act, id_, idempotency_key, first, last, again, dry_run)
        wanted = Backfill(first, last, again, dry_run, self._actor.key(act, id_, idempotency_key))
        entry = None if dry_run else self._actor.entry(act, id_, begin=begin, end=end)
        return await self._actor.runtime.triggers.backfill(id_, wanted, entry)

    async def replay(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Try a rejected input once more."""
        act = await self._act("trigger.replay", trigger_id, idempotency_key, input=input_id)
        return await self._change_input(act, input_id, self._actor.runtime.triggers.replay)

    async def replay_all(self, trigger_id: str, limit: int, cursor: str | None) -> Replayed:
        """Try rejected inputs once more, the newest first; the same again goes on from the cursor."""
        self._actor.require("workflow:write")
        row, after = await self._find(trigger_id), _parsed(cursor) if cursor else None
        wanted = InputFilter(trigger_id=row.id, state="rejected", after=after, limit=limit + 1)
        found = await self._actor.runtime.instance.store.triggers.list_inputs(wanted)
        entry = self._actor.entry("trigger.replay_all", row.id, limit=limit)
        replayed = await self._actor.runtime.triggers.replay_all(found[:limit], entry)
        last = found[limit - 1] if len(found) > limit else None
        following = _cursor(last.received_at, last.input_id) if last is not None else None
        return Replayed(replayed=replayed, next=following)

    async def discard(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Have an input never start."""
        act = await self._act("trigger.discard", trigger_id, idempotency_key, input=input_id)
        return await self._change_input(act, input_id, self._actor.runtime.triggers.discard)

    # Triggers that belong to no definition

    async def create(
        self,
        workflow: str,
        definition: Mapping[str, object],
        idempotency_key: str | None,
        *,
        allow_unknown: bool = False,
    ) -> Trigger:
        """Make a trigger for a workflow, which has none of this name."""
        self._actor.require("workflow:write")
        id_ = id_of(workflow, str(definition.get("name", ""))[:_LONGEST])
        act = await keyed_act(self._actor, "trigger.create", id_, idempotency_key, data=definition)
        resources, triggers = self._actor.runtime.trigger_resources, self._actor.runtime.triggers
        return await act.once(
            lambda: self._made(resources.create(workflow, definition, act.entry, allow_unknown=allow_unknown)),
            lambda: self._show(triggers.find(id_)),
        )

    async def update(
        self, trigger_id: str, definition: Mapping[str, object], *, allow_unknown: bool = False
    ) -> Trigger:
        """Replace a trigger that belongs to no definition by another one of its name."""
        self._actor.require("workflow:write")
        row = await self._find(trigger_id)
        entry = self._actor.entry("trigger.update", row.id)
        resources = self._actor.runtime.trigger_resources
        return await self._made(resources.replace(row, definition, entry, allow_unknown=allow_unknown))

    async def delete(self, trigger_id: str) -> None:
        """Stop a trigger that belongs to no definition."""
        self._actor.require("workflow:write")
        row = await self._find(trigger_id)
        await self._actor.runtime.trigger_resources.delete(row, self._actor.entry("trigger.delete", row.id))

    async def rotate_token(self, trigger_id: str, grace: int | None) -> Trigger:
        """Make a new token for the address of a webhook; the tokens before end after `grace`."""
        self._actor.require("workflow:write")
        row = await self._find(trigger_id)
        entry = self._actor.entry("trigger.rotate_token", row.id, grace=grace)
        return await self._made(self._actor.runtime.trigger_resources.rotate_token(row, grace or 0, entry))

    async def _made(self, making: Awaitable[MadeTrigger]) -> Trigger:
        made = await making
        return await self._shown(made.row, made.address)

    async def _change_input(self, act: KeyedAct, input_id: str, change: _InputAct) -> TriggerInput:
        triggers = self._actor.runtime.triggers
        found = await act.once(
            lambda: change(act.id, input_id, act.entry), lambda: triggers.find_input(act.id, input_id)
        )
        return input_of(found)

    async def _act(self, name: str, trigger_id: str, key: str | None, **details: object) -> KeyedAct:
        self._actor.require("workflow:write")
        return await keyed_act(self._actor, name, checked_id(trigger_id, "a trigger id"), key, **details)

    async def _show(self, found: Awaitable[TriggerRow]) -> Trigger:
        return await self._shown(await found)

    async def _find(self, trigger_id: str) -> TriggerRow:
        return await self._actor.runtime.triggers.find(checked_id(trigger_id, "a trigger id"))

    async def _shown(self, row: TriggerRow, address: str | None = None) -> Trigger:
        instance = self._actor.runtime.instance
        return trigger_of(row, await instance.plans.status(row.workflow, instance.clock.now()), address)


def _instant(name: str, text: str, zone: str) -> int:
    try:
        return parse_instant(text, zone_named(zone))
    except ValueError as error:
        message = "it is a date or a time such as `2027-01-31T08:00`"
        raise InvalidInput(f"`{name}`: {message}.", ((name, message),)) from error


def _cursor(at: int, id_: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode([at, id_])).decode().rstrip("=")


def _parsed(cursor: str) -> tuple[int, str]:
    try:
        written = base64.b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}", altchars=b"-_", validate=True)
        return msgspec.json.decode(written, type=tuple[int, str])
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise malformed_cursor() from error
