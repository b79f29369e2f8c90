"""The acts of batches: each is done as the user of its batch, once, as if they had asked for it by itself.

Its idempotency key follows from the batch and the number of the item. An item that the act does not fit any more is
skipped: it was resumed, answered, or deleted meanwhile.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET

from layover.errors import AnswerRefused, LayoverError, NotFound, WrongState
from layover.interface.requests import PointAnswer
from layover.model.access import Caller
from layover.ports.access import AuditFilter
from layover.ports.errors import StoreUnavailable
from layover.ports.records import CLOSED
from layover.runtime.batches.batch_acts import ItemOutcome
from layover.runtime.operations.command_sender import source_of
from layover.service.actor import Actor
from layover.service.answers import answer, point_row
from layover.service.deliveries import DeliveryService
from layover.service.executions import ExecutionService
from layover.service.permissions import PROGRAM
from layover.service.triggers import TriggerService

if TYPE_CHECKING:
    from layover.model.batches import BatchBody
    from layover.ports.batch_records import BatchItemRow, BatchRow
    from layover.runtime.operations.operations import Opened

DONE: Final = ItemOutcome("done")
# The point is over, or shows something else than when it was chosen.
_PAST: Final = frozenset({"already_answered", "expired", "point_closed", "point_changed"})

_log = logging.getLogger("layover.batches")


class UserBatchActs:
    """Does the acts of batches on a runtime."""

    def __init__(self, runtime: Opened) -> None:
        self._runtime = runtime

    async def perform(self, row: BatchRow, body: BatchBody, item: BatchItemRow) -> ItemOutcome:
        """Do the act of a batch to an item."""
        actor = Actor(self._runtime, caller_of_batch(row), request_id=row.id, notes_keys=False)
        key = f"batch:{row.id}:{item.n}"
        try:
            return await _act(actor, row, body, item, key)
        except StoreUnavailable:
            raise  # the next round does it again
        except (WrongState, NotFound) as error:
            return ItemOutcome("skipped", error.code, error.message)
        except AnswerRefused as error:
            return ItemOutcome("skipped" if error.code in _PAST else "failed", error.code, error.message)
        except LayoverError as error:
            return ItemOutcome("failed", error.code, error.message)
        except Exception as error:  # noqa: BLE001 - one item that cannot be read must not hold up the others
            _log.exception("batch_item_failed batch=%s item=%d error=%r", row.id, item.n, error)
            return ItemOutcome("failed", "internal_error", "A fault of Layover: the log of the server says more.")


def stored_caller(caller: Caller) -> bytes:
    """Return who makes a batch, with what they may do, as a store keeps it."""
    return msgspec.json.encode(caller)


def caller_of_batch(row: BatchRow) -> Caller:
    """Return who has made a batch, with what they could do then."""
    found = msgspec.json.decode(row.caller, type=Caller)
    return PROGRAM if found == PROGRAM else found


async def _act(actor: Actor, row: BatchRow, body: BatchBody, item: BatchItemRow, key: str) -> ItemOutcome:
    # Without a reason, the log of an execution tells which batch it was.
    executions, id_, options = ExecutionService(actor), item.target, body.options
    reason = options.reason or f"batch {row.id}"
    match body.act:
        case "pause":
            return await _pause(actor, executions, id_, reason, key)
        case "resume":
            data = options.data if isinstance(options.data, dict) else None
            await executions.resume(id_, data, None, reason, key)
        case "cancel":
            await executions.cancel(id_, reason, key)
        case "retry":
            await executions.retry(id_, reason, key)
        case "rewind":
            await executions.rewind(id_, options.to or "", reason, key)
        case "move":
            await executions.move(id_, options.version or 0, options.map, reason, key)
        case "answer":
            return await _answer(actor, body, item, key)
        case "redeliver":
            await DeliveryService(actor).redeliver(id_, key)
        case "replay":
            await TriggerService(actor).replay(item.parent, id_, key)
        case "purge":
            return await _purge(actor, row, id_)
    return DONE


async def _pause(actor: Actor, executions: ExecutionService, id_: str, reason: str, key: str) -> ItemOutcome:
    """Pause an execution; one that was held before is skipped, unless it was held by this very act."""
    await executions.pause(id_, reason, key)
    source = source_of("pause", actor.by, actor.key("execution.pause", id_, key))
    if await actor.runtime.instance.store.commands.is_enqueued(id_, source):
        return DONE
    return ItemOutcome("skipped", "already_paused", "It was paused already.")


async def _answer(actor: Actor, body: BatchBody, item: BatchItemRow, key: str) -> ItemOutcome:
    """Answer a pause point, if it shows what it showed when it was chosen."""
    row, options = await point_row(actor, item.target), body.options
    request = PointAnswer(
        data=None if options.data is UNSET else options.data,
        approved=options.approved,
        comment=options.comment or "",
        seen=item.pin or None,
        idempotency_key=key,
    )
    await answer(actor, row, request)
    return DONE


async def _purge(actor: Actor, row: BatchRow, id_: str) -> ItemOutcome:
    """Delete an execution; one that is gone was deleted by this very act, or never was."""
    actor.require("admin")
    store = actor.runtime.instance.store
    entry = actor.entry("execution.purge", id_, batch=row.id)
    if await store.retention.purge([id_], None, entry):
        return DONE
    found = await store.queries.find_execution(id_)
    if found is None:
        wanted = AuditFilter(act="execution.purge", target=id_, to_no_execution=True)
        if any(one.request_id == row.id for one in await store.audit.list_entries(wanted)):
            return DONE
        return ItemOutcome("skipped", "unknown_execution", f"There is no execution {id_}.")
    if found.head.status not in CLOSED:
        return ItemOutcome("skipped", "wrong_state", f"It is {found.head.status}: only what has ended is deleted.")
    return ItemOutcome("skipped", "not_settled", "It, or its parent, has messages or deliveries that are not sent yet.")
