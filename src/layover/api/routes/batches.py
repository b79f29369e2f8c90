"""Batches: one act on many items, with a result for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.batches import BatchBody, BatchInfo, BatchItem, BatchItemStatus, BatchStatus, StopBatchBody
from layover.model.shared import EmptyBody, Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes(
    "Batches",
    "One act on many items: pause, resume, cancel, retry, rewind, move or purge executions, answer pause points, send "
    "deliveries once more, replay inputs of triggers. A batch is durable, acts as the user who made it, and has a "
    "result for each item.",
)

_READ: Final = ("execution:read",)
_ACT: Final = ("execution:cancel", "approval:decide", "workflow:write", "admin")  # and what the act itself needs
_PROBLEMS: Final = ("malformed_id", "unknown_batch")

_Limit = Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")]
_Cursor = Annotated[str, Meta(max_length=400, description="The `next` of the page before.")]


class BatchesQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One page of batches."""

    status: Annotated[BatchStatus | None, Meta(description="Those with this status.")] = None
    limit: _Limit | None = None
    cursor: _Cursor | None = None


class BatchItemsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One page of the items of a batch."""

    status: Annotated[BatchItemStatus | None, Meta(description="Those with this status.")] = None
    limit: _Limit | None = None
    cursor: _Cursor | None = None


@routes.post(
    "/batches",
    needs=_ACT,
    body=BatchBody,
    answers={200: BatchInfo, 202: BatchInfo},
    problems=("malformed_id", "invalid_filter", "idempotency_mismatch", "unknown_version", "unknown_node"),
)
async def create_batch(call: Request[BatchBody, NoQuery]) -> Response:
    """Begin a batch (202), or count what it would be done to, with `dry_run` (200)."""
    made = await call.service.batches.create(call.body, call.key)
    return Response(made, 200 if call.body.dry_run else 202)


@routes.get("/batches", needs=_READ, query=BatchesQuery, answers={200: Page[BatchInfo]}, problems=("malformed_cursor",))
async def list_batches(call: Request[None, BatchesQuery]) -> Response:
    """List batches, the newest first."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.batches.list(query.status, limit, query.cursor))


@routes.get("/batches/{id}", needs=_READ, answers={200: BatchInfo}, problems=_PROBLEMS)
async def get_batch(call: Request[None, NoQuery]) -> Response:
    """Show a batch: how far it is, and what it waits for."""
    return Response(await call.service.batches.get(call.path["id"]))


@routes.get(
    "/batches/{id}/items",
    needs=_READ,
    query=BatchItemsQuery,
    answers={200: Page[BatchItem]},
    problems=(*_PROBLEMS, "malformed_cursor"),
)
async def list_batch_items(call: Request[None, BatchItemsQuery]) -> Response:
    """List the items of a batch in their order, each with what became of it."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.batches.items(call.path["id"], query.status, limit, query.cursor))


@routes.post(
    "/batches/{id}/stop",
    needs=_ACT,
    body=StopBatchBody,
    body_required=False,
    answers={200: BatchInfo},
    problems=(*_PROBLEMS, "wrong_state"),
)
async def stop_batch(call: Request[StopBatchBody, NoQuery]) -> Response:
    """Stop a batch: what it has begun to do is finished, and no more is begun."""
    return Response(await call.service.batches.stop(call.path["id"], call.body.reason or ""))


@routes.post(
    "/batches/{id}/continue",
    needs=_ACT,
    body=EmptyBody,
    body_required=False,
    answers={200: BatchInfo},
    problems=(*_PROBLEMS, "not_allowed", "wrong_state"),
)
async def continue_batch(call: Request[EmptyBody, NoQuery]) -> Response:
    """Have a batch that stopped or failed go on where it was; after a failed canary, the rest is done without one."""
    return Response(await call.service.batches.continue_(call.path["id"]))


@routes.delete("/batches/{id}", needs=_ACT, answers={204: None}, problems=(*_PROBLEMS, "wrong_state"))
async def delete_batch(call: Request[None, NoQuery]) -> Response:
    """Delete a batch that is not at work; what it has done stays done."""
    await call.service.batches.delete(call.path["id"])
    return Response(status=204)
