"""Batches as one user makes, reads, stops and continues them.

A batch acts as the user who made it, with the permissions that they had then: both are stored with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.definitions.destinations import interval_of
from layover.core.ids import uuid8
from layover.core.moments import Moment
from layover.errors import AlreadyExists, InvalidInput, LayoverError, NotAllowed, NotFound, WrongState
from layover.interface.batch_wait import until_at_rest
from layover.interface.durations import milliseconds_of
from layover.model.batches import BatchInfo, BatchItem
from layover.model.shared import Page
from layover.ports.batch_records import LIVE_BATCHES, BatchChange, BatchFilter, BatchItemFilter, BatchRow
from layover.runtime.batches.batch_acts import body_of_batch, stored_body
from layover.runtime.ids import checked_id, new_id
from layover.runtime.operations.mover import check_names
from layover.runtime.results.batches import batch_of, canary_of, item_of, options_of, status_of, where_of
from layover.service.actor import READ
from layover.service.answers import ANSWERING, DECIDING
from layover.service.batch_acts import stored_caller
from layover.service.cursors import cursor_of, malformed_cursor, parsed_uuid
from layover.service.pages import MOST

if TYPE_CHECKING:
    from layover.model.batches import BatchBody, CanaryBody
    from layover.ports.batch_records import BatchItemRow, BatchState
    from layover.service.actor import Actor

MOST_COUNTED: Final = 100_000  # by a dry run
_LONGEST_COUNT: Final = 10_000  # milliseconds
_SAMPLE: Final = 20
_MILLION: Final = 1_000_000
_LONGEST_WATCH: Final = 30 * 86_400_000
_DELETED_AT_ONCE: Final = 1_000
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)%")

_BY_A_USER: Final = "stopped"  # the code of a batch that did not stop by itself
_OPERATE: Final = ("execution:cancel",)
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "answer": ANSWERING,
    "redeliver": _OPERATE,
    "replay": ("workflow:write",),
    "purge": ("admin",),
}
_OF_EXECUTIONS: Final = frozenset(
    {
        *("workflow", "status", "tag", "parent_id", "where", "contains", "ids", "correlation_id", "error_code"),
        *("since", "until", "min_duration", "max_duration", "min_resumes", "resumed", "user", "on", "node_type", "q"),
    }
)
_WHERE: Final[dict[str, frozenset[str]]] = {
    "answer": frozenset({"workflow", "node", "execution_id", "ids"}),
    "redeliver": frozenset({"state", "destination", "execution_id", "ids"}),
    "replay": frozenset({"trigger_id", "ids"}),
}
_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "resume": frozenset({"reason", "data"}),
    "rewind": frozenset({"reason", "to"}),
    "move": frozenset({"reason", "version", "map"}),
    "answer": frozenset({"data", "approved", "comment"}),
    "redeliver": frozenset(),
    "replay": frozenset(),
    "purge": frozenset(),
}


class BatchService:
    """Batches: making, reading, stopping."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def create(self, body: BatchBody, idempotency_key: str | None) -> BatchInfo:
        """Make a batch; with `dry_run`, only count its items, and show some."""
        actor = self._actor
        self._require(body)
        _check_options(body)
        await self._check_version(body)
        row = self._row(body, idempotency_key)
        if body.dry_run:
            return await self._planned(row, body)
        await actor.runtime.instance.item_collector.page(body, row.created_at, "", 1)  # it says what is wrong with it
        entry = actor.entry("batch.create", row.id, of=body.act, reason=body.options.reason)
        store = actor.runtime.instance.store.batches
        if not await store.create(row, entry):
            known = await self._find(row.id)
            if (known.wanted, known.arguments) != (row.wanted, row.arguments):
                raise AlreadyExists("This idempotency key was used for another request.", code="idempotency_mismatch")
            return self._shown(known)
        actor.runtime.instance.batch_runner.hint()
        return self._shown(row)

    async def list(self, status: str | None, limit: int, cursor: str | None) -> Page[BatchInfo]:
        """Return a page of batches, the newest first."""
        self._actor.require(*READ)
        most = min(limit, MOST)
        after = parsed_uuid(cursor) if cursor is not None else None
        wanted = BatchFilter(state="collecting" if status == "pending" else status, after=after, limit=most + 1)
        rows = await self._actor.runtime.instance.store.batches.list_batches(wanted)
        following = cursor_of(rows[most - 1].created_at, rows[most - 1].id) if len(rows) > most else None
        return Page(items=tuple(map(self._shown, rows[:most])), next=following)

    async def get(self, batch_id: str) -> BatchInfo:
        """Return a batch."""
        self._actor.require(*READ)
        return self._shown(await self._find(checked_id(batch_id, "a batch id")))

    async def wait(self, batch_id: str, timeout: float | None) -> BatchInfo:  # noqa: ASYNC109 - as the interface
        """Return a batch once it is completed or stopped."""
        return await until_at_rest(lambda: self.get(batch_id), timeout)

    async def items(self, batch_id: str, status: str | None, limit: int, cursor: str | None) -> Page[BatchItem]:
        """Return a page of the items of a batch, in their order."""
        self._actor.require(*READ)
        id_, most = checked_id(batch_id, "a batch id"), min(limit, MOST)
        after, row = _number(cursor, id_), await self._find(id_)
        found: list[BatchItemRow] = []
        for state in ("failed", "skipped") if status == "failed" else (status,):
            wanted = BatchItemFilter(batch_id=id_, state=state, after=after, limit=most + 1)
            found += await self._actor.runtime.instance.store.batches.list_items(wanted)
        found.sort(key=lambda item: item.n)
        following = cursor_of(found[most - 1].n, row.id) if len(found) > most else None
        return Page(items=tuple(item_of(one, row.act) for one in found[:most]), next=following)

    async def stop(self, batch_id: str, reason: str) -> BatchInfo:
        """Stop a batch: what it has begun to do is finished, and no more is begun."""
        row = await self._to_change(batch_id)
        if row.state == "stopped":
            return self._shown(row)
        actor = self._actor
        change = BatchChange(
            id=row.id,
            of=LIVE_BATCHES,
            state="stopped",
            at=actor.runtime.instance.clock.now(),
            code=_BY_A_USER,
            reason=reason or (f"{actor.by} stopped it." if actor.by else "It was stopped."),
        )
        entry = actor.entry("batch.stop", row.id, reason=reason or None)
        return await self._changed(row, await actor.runtime.instance.store.batches.change(change, entry), ("stopped",))

    async def continue_(self, batch_id: str) -> BatchInfo:
        """Have a stopped batch go on where it was. After a failed canary, the rest is done without one."""
        row = await self._to_change(batch_id)
        if row.state in LIVE_BATCHES:
            return self._shown(row)
        if row.act == "answer" and row.user != self._actor.caller.user:  # it would be to answer in their name
            name = row.user or "the program that made it"
            message = f"This batch answers in the name of {name}, who alone can have it go on. Make one of your own."
            raise NotAllowed(message, code="not_allowed")
        instance = self._actor.runtime.instance
        is_collected = not row.cursor and (row.total > 0 or row.position > 0)
        change = BatchChange(
            id=row.id,
            of=("stopped", "failed"),
            state="running" if is_collected else "collecting",
            at=instance.clock.now(),
        )
        after = await instance.store.batches.change(change, self._actor.entry("batch.continue", row.id))
        instance.batch_runner.hint()
        return await self._changed(row, after, LIVE_BATCHES)

    async def delete(self, batch_id: str) -> None:
        """Delete a batch that has ended or was stopped; what it has done stays done."""
        row = await self._to_change(batch_id)
        if row.state in LIVE_BATCHES:
            raise WrongState(f"The batch is {status_of(row.state)}: stop it first.", status_of(row.state))
        store = self._actor.runtime.instance.store.batches
        entry = self._actor.entry("batch.delete", row.id)
        while await store.delete(row.id, _DELETED_AT_ONCE, entry):
            entry = None

    # Making one

    def _require(self, body: BatchBody) -> None:
        """Refuse who may not do the act, or not see what it is done to."""
        needs = _NEEDS.get(body.act, _OPERATE)
        self._actor.require(*(DECIDING if body.options.approved is not None else needs))
        self._actor.require(*READ)

    async def _check_version(self, body: BatchBody) -> None:
        """Refuse a move to a version that is not there, or to nodes that it does not have."""
        if body.act == "move" and body.where.workflow is not None:
            plan = await self._actor.runtime.instance.plans.numbered(body.where.workflow, body.options.version or 0)
            check_names(plan, body.options.map)

    def _row(self, body: BatchBody, key: str | None) -> BatchRow:
        actor = self._actor
        instance = actor.runtime.instance
        now = instance.clock.now()
        wanted, arguments = stored_body(body)
        return BatchRow(
            id=uuid8(f"batch\0{actor.caller.user}\0{key}") if key is not None else new_id(now),
            act=body.act,
            wanted=wanted,
            arguments=arguments,
            caller=stored_caller(actor.caller),
            user=actor.caller.user,
            created_at=now,
            due_at=now,
            interval=_interval(body.rate),
            share=_share(body.canary) if body.canary is not None else 0,
            watch=_watch(body.canary) if body.canary is not None else 0,
        )

    async def _planned(self, row: BatchRow, body: BatchBody) -> BatchInfo:
        """Return a batch that is not made: how many items it would have, and the first of them."""
        instance, count, cursor = self._actor.runtime.instance, 0, ""
        until = instance.clock.now() + _LONGEST_COUNT
        sample: list[BatchItem] = []
        while True:
            page = await instance.item_collector.page(body, row.created_at, cursor)
            for item in page.items[: _SAMPLE - len(sample)]:
                sample.append(item_of(replace(item, n=len(sample) + 1), body.act))
            count += len(page.items)
            if page.cursor is None or count >= MOST_COUNTED or instance.clock.now() >= until:
                break
            cursor = page.cursor
        return BatchInfo(
            id=None,
            act=body.act,
            status="pending",
            reason="Nothing was changed: this is a dry run.",
            user=self._actor.by,
            where=where_of(body),
            options=options_of(body),
            rate=body.rate,
            canary=canary_of(replace(row, total=count, state="running"), body),
            created_at=Moment.of(row.created_at),
            total=count,
            more=page.cursor is not None,
            pending=count,
            sample=tuple(sample),
        )

    # Changing one

    async def _to_change(self, batch_id: str) -> BatchRow:
        """Return a batch, if the user may do what it does."""
        self._actor.require(*_OPERATE, *DECIDING, "workflow:write", "admin")
        row = await self._find(checked_id(batch_id, "a batch id"))
        try:
            body = body_of_batch(row)
        except LayoverError:
            self._actor.require("admin")  # a newer release knows which permission it takes
        else:
            self._require(body)
        return row

    async def _changed(self, before: BatchRow, after: BatchRow | None, wanted: tuple[BatchState, ...]) -> BatchInfo:
        if after is None:
            now = await self._find(before.id)
            if now.state in wanted:  # somebody else did the same at the same moment
                return self._shown(now)
            raise WrongState(f"The batch is {status_of(now.state)}.", status_of(now.state))
        return self._shown(after)

    async def _find(self, batch_id: str) -> BatchRow:
        row = await self._actor.runtime.instance.store.batches.find(batch_id)
        if row is None:
            raise NotFound(f"There is no batch {batch_id}.", code="unknown_batch")
        return row

    def _shown(self, row: BatchRow) -> BatchInfo:
        return batch_of(row, self._actor.runtime.instance.clock.now())


def _check_where(body: BatchBody) -> None:
    """Refuse a choice of items that the act does not take, and one that chooses nothing."""
    known, given = _WHERE.get(body.act, _OF_EXECUTIONS), where_of(body)
    for name in given:
        if name not in known:
            raise _refused(f"where.{name}", f"`{body.act}` takes {', '.join(f'`{one}`' for one in sorted(known))}")
    if not given:
        raise _refused("where", "say which: an act on everything has to name what it is")
    if body.where.ids and body.act != "replay" and len(given) > 1:
        others = ", ".join(f"`{one}`" for one in given if one != "ids")
        raise _refused("where.ids", f"they name each item, and take no filters: leave out {others}")


def _check_options(body: BatchBody) -> None:
    """Refuse what an act does not take, or lacks."""
    _check_where(body)
    for name in options_of(body):
        if name not in _OPTIONS.get(body.act, frozenset({"reason"})):
            raise _refused(f"with.{name}", f"`{body.act}` does not take it")
    where = body.where
    match body.act:
        case "rewind" if body.options.to is None:
            raise _refused("with.to", "a rewind needs the node that it goes back to")
        case "move":
            _check_move(body)
        case "answer" if not where.ids and (where.workflow is None or where.node is None):
            raise _refused("where", "an answer is for one `workflow` and one `node` of it, or for `ids`")
        case "replay" if where.trigger_id is None:
            raise _refused("where.trigger_id", "a replay is for the inputs of one trigger")
        case "redeliver" if where.state == "sent" and not (where.destination or where.execution_id):
            fault = "name a destination or an execution: what was sent would go to everybody once more"
            raise _refused("where.state", fault)
        case "resume" if not isinstance(options_of(body).get("data", {}), dict):
            raise _refused("with.data", "it becomes part of the variables: it is an object")
        case _:
            pass


def _check_move(body: BatchBody) -> None:
    if body.options.version is None:
        raise _refused("with.version", "a move needs the number of the version")
    if not body.where.ids and body.where.workflow is None:
        raise _refused("where.workflow", "a move is for the executions of one workflow, or for `ids`")


def _interval(rate: str | None) -> int:
    if rate is None:
        return 0
    try:
        return interval_of(rate)
    except ValueError as error:
        raise _refused("rate", str(error)) from error


def _share(canary: CanaryBody) -> int:
    """Return a share in millionths."""
    share = canary.share
    if isinstance(share, str):
        found = _PERCENT.fullmatch(share.strip())
        share = float(found[1]) / 100 if found is not None else 0.0
    if not 0 < share <= 1:
        raise _refused("canary.share", "it is above 0 and up to 1, or a percentage such as `5%`")
    return max(1, round(share * _MILLION))


def _watch(canary: CanaryBody) -> int:
    length = milliseconds_of("canary.watch", canary.watch)
    if length > _LONGEST_WATCH:
        raise _refused("canary.watch", "it is at most 30 days")
    return length


def _number(cursor: str | None, batch_id: str) -> int:
    if cursor is None:
        return 0
    n, of = parsed_uuid(cursor)
    if of != batch_id:
        raise malformed_cursor()
    return n


def _refused(name: str, fault: str) -> InvalidInput:
    return InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_body")
