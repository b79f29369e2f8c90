"""Triggers over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import delete, get, path_of, post, put
from layover.core.definitions.durations import format_duration
from layover.core.payloads import plain
from layover.model.executions import Why
from layover.model.shared import Page
from layover.model.triggers import (
    Backfilled,
    Fired,
    Replayed,
    RotateTokenBody,
    Trigger,
    TriggerEvent,
    TriggerInput,
    TriggerOccurrences,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.client.transport import Transport


class HttpTriggers:
    """What starts executions by itself."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, workflow: str | None, limit: int, cursor: str | None) -> Page[Trigger]:
        """Return a page of triggers by workflow and name."""
        path = path_of("triggers", workflow=workflow, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[Trigger])

    async def get(self, trigger_id: str) -> Trigger:
        """Return a trigger."""
        return await self._transport.ask(get(path_of("triggers", trigger_id)), Trigger)

    async def inputs(self, trigger_id: str, state: str | None, limit: int, cursor: str | None) -> Page[TriggerInput]:
        """Return a page of the inputs of a trigger, the newest first."""
        path = path_of("triggers", trigger_id, "inputs", state=state, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[TriggerInput])

    async def history(self, trigger_id: str, limit: int, cursor: str | None) -> Page[TriggerEvent]:
        """Return a page of the log of a trigger, the oldest first."""
        path = path_of("triggers", trigger_id, "history", limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[TriggerEvent])

    async def next(self, trigger_id: str, count: int) -> TriggerOccurrences:
        """Return the next occurrences of a schedule."""
        return await self._transport.ask(get(path_of("triggers", trigger_id, "next", count=count)), TriggerOccurrences)

    async def why(self, trigger_id: str) -> Why:
        """Return why a trigger does not fire, or when it will."""
        return await self._transport.ask(get(path_of("triggers", trigger_id, "why")), Why)

    async def pause(self, trigger_id: str, reason: str, idempotency_key: str | None) -> Trigger:
        """Let a trigger start nothing."""
        body = {"reason": reason} if reason else {}
        return await self._transport.ask(post(path_of("triggers", trigger_id, "pause"), body, idempotency_key), Trigger)

    async def resume(self, trigger_id: str, *, catch_up: bool, idempotency_key: str | None) -> Trigger:
        """Let a trigger go on."""
        body = {"catch_up": catch_up}
        return await self._transport.ask(
            post(path_of("triggers", trigger_id, "resume"), body, idempotency_key), Trigger
        )

    async def rewind(self, trigger_id: str, cursor: str | None, idempotency_key: str | None) -> Trigger:
        """Set the cursor of a poll; None is the beginning."""
        path = path_of("triggers", trigger_id, "rewind")
        return await self._transport.ask(post(path, {"cursor": cursor}, idempotency_key), Trigger)

    async def fire(self, trigger_id: str, data: object, input_id: str | None, *, dry_run: bool) -> Fired:
        """Give a trigger an input by hand."""
        body: dict[str, object] = {"data": plain(data), "dry_run": dry_run}
        if input_id is not None:
            body["id"] = input_id
        return await self._transport.ask(post(path_of("triggers", trigger_id, "fire"), body), Fired)

    async def backfill(
        self, trigger_id: str, begin: str, end: str, *, again: bool, dry_run: bool, idempotency_key: str | None
    ) -> Backfilled:
        """Start the occurrences of a schedule in a range of the past."""
        body = {"from": begin, "to": end, "again": again, "dry_run": dry_run}
        path = path_of("triggers", trigger_id, "backfill")
        return await self._transport.ask(post(path, body, idempotency_key), Backfilled)

    async def replay(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Try a rejected input once more."""
        path = path_of("triggers", trigger_id, "inputs", input_id, "replay")
        return await self._transport.ask(post(path, {}, idempotency_key), TriggerInput)

    async def replay_all(self, trigger_id: str, limit: int, cursor: str | None) -> Replayed:
        """Try rejected inputs once more, the newest first."""
        body = {"where": {"limit": limit, **({} if cursor is None else {"cursor": cursor})}}
        return await self._transport.ask(post(path_of("triggers", trigger_id, "replay"), body), Replayed)

    async def create(
        self, workflow: str, definition: Mapping[str, object], idempotency_key: str | None, *, allow_unknown: bool
    ) -> Trigger:
        """Make a trigger for a workflow."""
        body = {**definition, "workflow": workflow}
        path = path_of("triggers", allow_unknown=allow_unknown or None)
        return await self._transport.ask(post(path, body, idempotency_key), Trigger)

    async def update(self, trigger_id: str, definition: Mapping[str, object], *, allow_unknown: bool) -> Trigger:
        """Replace a trigger that belongs to no definition."""
        path = path_of("triggers", trigger_id, allow_unknown=allow_unknown or None)
        return await self._transport.ask(put(path, definition), Trigger)

    async def delete(self, trigger_id: str) -> None:
        """Stop a trigger that belongs to no definition."""
        await self._transport.send(delete(path_of("triggers", trigger_id)))

    async def rotate_token(self, trigger_id: str, grace: int | None) -> Trigger:
        """Make a new token for the address of a webhook; the tokens before end after `grace`."""
        body = RotateTokenBody(grace=None if grace is None else format_duration(grace))
        return await self._transport.ask(post(path_of("triggers", trigger_id, "rotate-token"), body), Trigger)

    async def discard(self, trigger_id: str, input_id: str, idempotency_key: str | None) -> TriggerInput:
        """Have an input never start."""
        path = path_of("triggers", trigger_id, "inputs", input_id, "discard")
        return await self._transport.ask(post(path, {}, idempotency_key), TriggerInput)
