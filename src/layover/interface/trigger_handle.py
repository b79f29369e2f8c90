"""One trigger, to act on and to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from layover.core.payloads import plain
from layover.core.poll_cursors import LONGEST_CURSOR
from layover.errors import InvalidInput
from layover.interface.arguments import check_word
from layover.interface.bounds import SHORT, check_act, check_key, check_number, check_text
from layover.interface.durations import milliseconds_of
from layover.interface.listing import Listing

if TYPE_CHECKING:
    from datetime import date

    from layover.core.moments import Moment
    from layover.interface.backend import Backend
    from layover.interface.durations import Duration
    from layover.model.executions import Why
    from layover.model.triggers import (
        Backfilled,
        Fired,
        Replayed,
        Trigger,
        TriggerEvent,
        TriggerInput,
        TriggerOccurrence,
    )

INPUT_STATES = ("pending", "started", "delivered", "skipped", "rejected", "discarded")
MOST_OCCURRENCES = 100
MOST_REPLAYED = 1_000


class TriggerHandle:
    """A trigger of a workflow: `info` is how it was read last, and its fields are readable here, too."""

    __slots__ = ("_backend", "info")

    if TYPE_CHECKING:  # the fields of `info`
        id: str
        workflow: str
        name: str
        type: str
        state: str  # no Literal: a type checker would not believe that it changes
        reason: str
        next_at: Moment | None
        failures: int
        cursor: str | None
        definition: dict[str, Any]
        managed: bool
        address: str | None

    def __init__(self, backend: Backend, info: Trigger) -> None:
        self._backend = backend
        self.info = info

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy of the handle asks before there is any `info`
            raise AttributeError(name)
        return getattr(self.info, name)

    def __repr__(self) -> str:
        return f"<trigger {self.info.workflow}/{self.info.name}: {self.info.state}>"

    async def refresh(self) -> Self:
        """Read it anew."""
        self.info = await self._backend.triggers.get(self.info.id)
        return self

    async def pause(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """Start nothing from now on: occurrences are skipped, and signals wait as pending inputs."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.triggers.pause(self.info.id, reason, idempotency_key)
        return self

    async def resume(self, *, catch_up: bool = False, idempotency_key: str | None = None) -> Self:
        """Go on from now; with `catch_up`, occurrences of the pause are made up for as the schedule says."""
        check_key(idempotency_key)
        triggers = self._backend.triggers
        self.info = await triggers.resume(self.info.id, catch_up=catch_up, idempotency_key=idempotency_key)
        return self

    async def rewind(self, cursor: str | None, *, idempotency_key: str | None = None) -> Self:
        """Set the cursor of a poll, None for the beginning; items that are still known by their ids start nothing."""
        check_text("cursor", cursor, LONGEST_CURSOR)
        check_key(idempotency_key)
        self.info = await self._backend.triggers.rewind(self.info.id, cursor, idempotency_key)
        return self

    async def fire(self, data: object = None, *, id: str | None = None, dry_run: bool = False) -> Fired:  # noqa: A002 - as everywhere
        """Give it an input by hand; a dry run says what would become of it. The same id again is the same input."""
        check_text("id", id, SHORT, 1)
        return await self._backend.triggers.fire(self.info.id, data, id, dry_run=dry_run)

    async def backfill(
        self,
        begin: str | date,
        end: str | date,
        *,
        again: bool = False,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Backfilled:
        """Start the occurrences of a schedule from a moment of the past to another (not included).

        Occurrences that are known are passed over, unless `again`.
        """
        first, last = _text(begin), _text(end)
        check_text("begin", first, SHORT, 1)
        check_text("end", last, SHORT, 1)
        check_key(idempotency_key)
        return await self._backend.triggers.backfill(
            self.info.id, first, last, again=again, dry_run=dry_run, idempotency_key=idempotency_key
        )

    async def next(self, count: int = 5) -> tuple[TriggerOccurrence, ...]:
        """Return the next occurrences of a schedule, at most 100."""
        check_number("count", count, 1, MOST_OCCURRENCES)
        return (await self._backend.triggers.next(self.info.id, count)).items

    async def why(self) -> Why:
        """Return why it does not fire, or when it will."""
        return await self._backend.triggers.why(self.info.id)

    def inputs(self, *, state: str | None = None) -> Listing[TriggerInput]:
        """Return its inputs, the newest first."""
        check_word("state", state, INPUT_STATES)
        triggers, id_ = self._backend.triggers, self.info.id
        return Listing(lambda limit, cursor: triggers.inputs(id_, state, limit, cursor))

    def history(self) -> Listing[TriggerEvent]:
        """Return its own log, the oldest event first."""
        triggers, id_ = self._backend.triggers, self.info.id
        return Listing(lambda limit, cursor: triggers.history(id_, limit, cursor))

    async def replay(self, input_id: str, *, idempotency_key: str | None = None) -> TriggerInput:
        """Try a rejected input once more, with the newest version of the workflow."""
        check_text("input_id", input_id, SHORT, 1)
        check_key(idempotency_key)
        return await self._backend.triggers.replay(self.info.id, input_id, idempotency_key)

    async def replay_all(self, *, limit: int = 100, cursor: str | None = None) -> Replayed:
        """Try rejected inputs once more, the newest first, at most 1,000 in one call.

        While the result has a `next`, there are others: give it as `cursor` to go on with them.
        """
        check_number("limit", limit, 1, MOST_REPLAYED)
        return await self._backend.triggers.replay_all(self.info.id, limit, cursor)

    async def discard(self, input_id: str, *, idempotency_key: str | None = None) -> TriggerInput:
        """Have a rejected or pending input never start."""
        check_text("input_id", input_id, SHORT, 1)
        check_key(idempotency_key)
        return await self._backend.triggers.discard(self.info.id, input_id, idempotency_key)

    async def update(self, definition: Mapping[str, object], *, allow_unknown: bool = False) -> Self:
        """Replace it by another one of its name; one that a definition has is changed there."""
        given = trigger_document(definition)
        self.info = await self._backend.triggers.update(self.info.id, given, allow_unknown=allow_unknown)
        return self

    async def delete(self) -> None:
        """Stop it for good; one that a definition has is removed there."""
        await self._backend.triggers.delete(self.info.id)

    async def rotate_token(self, *, grace: Duration | None = None) -> Self:
        """Make a new address for a webhook with `scheme: token`, shown this once as `address`.

        The address before is taken until `grace` is over.
        """
        self.info = await self._backend.triggers.rotate_token(self.info.id, milliseconds_of("grace", grace))
        return self


def trigger_document(definition: object) -> dict[str, object]:
    """Return a trigger as it is sent; InvalidInput if it is no mapping."""
    if not isinstance(definition, Mapping):
        message = "a trigger is a mapping, such as {'name': 'nightly', 'type': 'schedule', 'every': '1h'}"
        raise InvalidInput(f"`definition`: {message}.", (("definition", message),))
    return cast("dict[str, object]", plain(dict(definition)))


def _text(moment: str | date) -> str:
    return moment if isinstance(moment, str) else moment.isoformat()
