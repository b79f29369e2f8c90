"""`layover deliveries`: what was sent to people and systems, and what is yet to be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read, page_of
from layover.cli.exits import DONE, Stop
from layover.cli.id_prefix import execution_named
from layover.cli.options import HERE, At, By, Json, acting
from layover.cli.screen import moment, note, plural, print_json, print_table, say
from layover.interface.delivery_handle import MOST_REDELIVERED
from layover.model.deliveries import Redelivered
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import DeliveryHandle
    from layover.cli.options import Target
    from layover.interface.door import Door

_MOST = 10_000

deliveries = App(name="deliveries", help="What was sent to people and systems: list, send once more, discard.")

Id = Annotated[str, Parameter(help="The id of a delivery.")]
SomeId = Annotated[str | None, Parameter(help="The id of a delivery.", show_default=False)]
State = Annotated[
    Literal["pending", "sent", "dead", "moot", "discarded"] | None, Parameter(help="Only those in this state.")
]
Settled = Annotated[
    Literal["dead", "sent", "moot", "discarded"], Parameter(help="With --all: those in this state.", show_default=True)
]
Destination = Annotated[str | None, Parameter(name="--destination", help="Only those for this destination.")]
OfExecution = Annotated[
    str | None, Parameter(name="--execution", help="Only those that tell of this execution: its id, or how it begins.")
]
Limit = Annotated[int, Parameter(help="How many at most.")]
All = Annotated[bool, Parameter(negative="", show_default=False, help="All of a state, a destination, an execution.")]


@deliveries.command(name="ls")
def list_deliveries(
    *,
    state: State = None,
    destination: Destination = None,
    execution: OfExecution = None,
    limit: Limit = 50,
    at: At = HERE,
    json: Json = False,
) -> int:
    """List deliveries, the newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")

    async def found() -> Page[DeliveryHandle]:
        async with door_to_read(at) as door:
            of = await _execution(door, execution)
            return await page_of(door.deliveries(state=state, destination=destination, execution_id=of), limit)

    page = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(one.info for one in page.items), next=page.next))
    elif not page.items:
        say("No deliveries.")
    else:
        rows = [
            [one.id, one.destination, one.kind, one.user or "-", one.state, moment(one.created_at), one.reason]
            for one in page.items
        ]
        print_table([["DELIVERY", "DESTINATION", "KIND", "TO", "STATE", "MADE", "REASON"], *rows])
    return DONE


@deliveries.command
def show(delivery: Id, /, *, at: At = HERE, json: Json = False) -> int:
    """Show a delivery and its newest attempts; never what it says."""

    async def found() -> DeliveryHandle:
        async with door_to_read(at) as door:
            return await door.delivery(delivery)

    one = asyncio.run(found())
    if json:
        print_json(one.info)
        return DONE
    said = f": {one.reason}" if one.reason else ""
    say(f"{one.kind} to {one.destination}{f' for {one.user}' if one.user else ''} is {one.state}{said}")
    if one.execution_id is not None:
        say(f"Execution  {one.execution_id} of {one.workflow}")
    if one.due_at is not None:
        say(f"Due        {moment(one.due_at)}")
    for attempt in one.attempts:
        status = f"  status {attempt.status}" if attempt.status is not None else ""
        told = f"  {attempt.error or attempt.reply}" if attempt.error or attempt.reply else ""
        say(f"  {moment(attempt.at)}  {attempt.ms} ms{status}{told}")
    return DONE


@deliveries.command
def redeliver(  # noqa: PLR0913 - each is an option
    delivery: SomeId = None,
    /,
    *,
    all: All = False,  # noqa: A002 - as everybody says
    state: Settled = "dead",
    destination: Destination = None,
    execution: OfExecution = None,
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Send a settled delivery once more, under the same id, or `--all` of a state."""
    if (delivery is None) == (not all):
        raise Stop("Name one delivery, or give --all.")
    if delivery is not None:
        return _print_state(_act(delivery, at, by, lambda one: one.redeliver()), json=json)

    async def acted() -> int:
        async with door_to_act(at, acting(at, by)) as door:
            return await _redeliver_all(door, state, destination, await _execution(door, execution))

    done = Redelivered(count=asyncio.run(acted()))
    if json:
        print_json(done)
    else:
        say(f"{plural(done.count, 'delivery') if done.count == 1 else f'{done.count:,} deliveries'} sent once more.")
    return DONE


async def _redeliver_all(door: Door, state: str, destination: str | None, execution_id: str | None) -> int:
    """Redeliver page by page, and say how far it is: there may be many."""
    count, cursor = 0, None
    while True:
        page = await door.redeliver(
            state=state, destination=destination, execution_id=execution_id, limit=MOST_REDELIVERED, cursor=cursor
        )
        count, cursor = count + page.count, page.next
        if cursor is None:
            return count
        note(f"{count} so far…")


@deliveries.command
def discard(delivery: Id, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Have a pending or dead delivery never be sent."""
    return _print_state(_act(delivery, at, by, lambda one: one.discard()), json=json)


def _act(
    delivery: str, at: Target, by: str, act: Callable[[DeliveryHandle], Awaitable[DeliveryHandle]]
) -> DeliveryHandle:
    async def acted() -> DeliveryHandle:
        async with door_to_act(at, acting(at, by)) as door:
            return await act(await door.delivery(delivery))

    return asyncio.run(acted())


async def _execution(door: Door, name: str | None) -> str | None:
    return None if name is None else (await execution_named(door, name)).id


def _print_state(one: DeliveryHandle, *, json: bool) -> int:
    if json:
        print_json(one.info)
    else:
        say(f"The delivery {one.id} to {one.destination} is {one.state}.")
    return DONE
