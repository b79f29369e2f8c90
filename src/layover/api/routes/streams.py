"""What happens to executions, as it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from layover.api.event_stream import Follower
from layover.api.problems import Refusal
from layover.api.request import Stream
from layover.api.routing import Routes
from layover.errors import NotFound
from layover.model.executions import Event, ExecutionSummary
from layover.runtime.ids import checked_id

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Streams", "What happens to executions, as it happens.")

_MOST = 2**31 - 1
_READ = ("execution:read",)


class StreamQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to begin."""

    since: Annotated[int, Meta(ge=0, le=_MOST, description="The number of the first event.")] = 0
    largest: (
        Annotated[
            int,
            Meta(
                ge=100,
                le=_MOST,
                description="Bytes of a value in an event. Of a longer text the beginning is sent, of other values"
                ' `{"$omitted": bytes}`.',
            ),
        ]
        | None
    ) = None


@routes.get(
    "/executions/{id}/stream",
    needs=_READ,
    query=StreamQuery,
    answers={200: Event},
    answer_media="text/event-stream",
    problems=("malformed_id", "unknown_execution", "too_many_streams"),
)
async def stream(call: Request[None, StreamQuery]) -> Stream:
    """Follow an execution: each event of its log as a server-sent event, until its end.

    A client that was cut off goes on by `Last-Event-ID` behind what it has seen. One that shows what happens, and needs
    no data, has large values left out by `largest`. When the credentials are no longer
    valid, the stream ends.
    """
    execution_id = checked_id(call.path["id"])
    since = _after(call.headers.get("last-event-id"), call.query.since)
    if await call.services.store.queries.find_execution(execution_id) is None:
        raise NotFound(f"There is no execution {execution_id}.", code="unknown_execution")
    streams = call.services.streams
    streams.check(call.caller.user)
    follower = Follower(call.caller, lambda: _may_follow(call))
    return Stream(streams.follow(call.services.runtime, execution_id, since, follower, call.query.largest))


@routes.get(
    "/changes",
    needs=_READ,
    answers={200: ExecutionSummary},
    answer_media="text/event-stream",
    problems=("too_many_streams",),
)
async def follow_changes(call: Request[None, NoQuery]) -> Stream:
    """Follow all executions: each that begins, goes on, waits or ends, as a list shows it then.

    An `execution` is sent as it is then, however often it changed since it was sent last; after `lost`, and after it
    was cut off, a client reads its lists again. It does not matter which process makes the change; only on PostgreSQL
    behind a pooler, where instances cannot tell each other, executions beyond the 100 newest are told of if this server
    drives them. When the credentials are no longer valid, the stream ends.
    """
    services = call.services
    services.streams.check(call.caller.user)
    await services.changes.check()
    follower = Follower(call.caller, lambda: _may_follow(call))
    return Stream(services.changes.follow(services.streams, services.stopping, follower))


async def _may_follow(call: Request[None, Any]) -> bool:
    """Return whether the credentials that a stream was opened with still permit it."""
    try:
        caller = await call.services.caller_of(call.scope, call.headers)
    except Refusal:
        return False
    return caller is not None and caller.may(_READ)


def _after(last: str | None, since: int) -> int:
    """Return the number of the first event to send."""
    if last is None or not last.strip():
        return since
    text = last.strip()
    if not text.isascii() or not text.isdigit() or len(text) > len(str(_MOST)):
        raise Refusal("invalid_parameter", "Last-Event-ID: the number of the last event that was seen.")
    return max(since, min(int(text) + 1, _MOST))
