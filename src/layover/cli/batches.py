"""`layover batches` and what is done to one: `layover batch show`, `items`, `stop`, `continue`, `delete`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from layover.cli.batch_line import follow, sentence
from layover.cli.doors import door_to_act, door_to_read, page_of
from layover.cli.exits import DONE, FAILED, RESTING, Stop
from layover.cli.options import HERE, At, By, Json, Reason, acting
from layover.cli.screen import moment, note, print_json, print_table, say
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover import BatchHandle, BatchInfo, BatchItem
    from layover.cli.options import Target

_MOST = 10_000

Id = Annotated[str, Parameter(help="The id of a batch.")]
Status = Annotated[
    Literal["pending", "running", "watching", "stopped", "completed", "failed"] | None,
    Parameter(help="Only those with this status."),
]
ItemStatus = Annotated[
    Literal["pending", "done", "failed"] | None, Parameter(name="--status", help="Only those with this status.")
]
Limit = Annotated[int, Parameter(help="How many at most.")]
Follow = Annotated[
    bool,
    Parameter(
        name="--follow", negative="", show_default=False, help="Until it is completed, or has stopped or failed."
    ),
]


def list_batches(*, status: Status = None, limit: Limit = 50, at: At = HERE, json: Json = False) -> int:
    """List batches, the newest first."""
    _check_limit(limit)

    async def found() -> Page[BatchHandle]:
        async with door_to_read(at) as door:
            return await page_of(door.batches(status=status), limit)

    page = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(one.info for one in page.items), next=page.next))
    elif not page.items:
        say("No batches.")
    else:
        rows = [
            [
                *(one.id or "", one.act, one.status, str(one.total), str(one.done), str(one.failed), str(one.skipped)),
                *(moment(one.created_at), one.user or "-"),
            ]
            for one in page.items
        ]
        print_table([["BATCH", "ACT", "STATUS", "ITEMS", "DONE", "FAILED", "SKIPPED", "MADE", "BY"], *rows])
    return DONE


def show(batch: Id, /, *, follow_it: Follow = False, at: At = HERE, json: Json = False) -> int:
    """Show a batch: how far it is, and what it waits for."""

    async def found() -> BatchHandle:
        async with door_to_read(at) as door:
            one = await door.find_batch(batch)
            if follow_it:
                await follow(one, silent=json)
            return one

    info = asyncio.run(found()).info
    print_batch(info, json=json)
    return code_of(info) if follow_it else DONE


def items(batch: Id, /, *, status: ItemStatus = None, limit: Limit = 100, at: At = HERE, json: Json = False) -> int:
    """List the items of a batch, each with what became of it."""
    _check_limit(limit)

    async def found() -> Page[BatchItem]:
        async with door_to_read(at) as door:
            return await page_of((await door.find_batch(batch)).items(status=status), limit)

    page = asyncio.run(found())
    if json:
        print_json(page)
    elif not page.items:
        say("No items.")
    else:
        print_items(page.items)
    return DONE


def stop(batch: Id, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """Stop a batch: what it has begun to do is finished, and no more is begun."""
    print_batch(_act(batch, at, by, lambda one: one.stop(reason)).info, json=json)
    return DONE


def continue_(batch: Id, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Have a stopped batch go on where it was; after a failed canary, the rest is done without one."""
    print_batch(_act(batch, at, by, lambda one: one.continue_()).info, json=json)
    return DONE


def delete(batch: Id, /, *, by: By = "", at: At = HERE) -> int:
    """Delete a batch that has ended or was stopped; what it has done stays done."""

    async def deleted() -> None:
        async with door_to_act(at, acting(at, by)) as door:
            await (await door.find_batch(batch)).delete()

    asyncio.run(deleted())
    say(f"The batch {batch} is deleted.")
    return DONE


def print_batch(batch: BatchInfo, *, json: bool) -> None:
    """Print a batch."""
    if json:
        print_json(batch)
    elif batch.id is None:
        more = " at least" if batch.more else ""
        say(f"{batch.act} would be done to {batch.total:,} items{more}. Nothing was changed.")
        print_items(batch.sample)
    else:
        say(f"The batch {batch.id}: {sentence(batch)}")
        if batch.failed or batch.skipped:
            note(f"`layover batch items {batch.id}` says why.")


def code_of(batch: BatchInfo) -> int:
    """Return the code of a command that has waited for a batch."""
    if batch.id is None or batch.status == "completed":
        return FAILED if batch.failed > batch.skipped else DONE
    return FAILED if batch.status == "failed" else RESTING


def print_items(found: tuple[BatchItem, ...]) -> None:
    """Print items of a batch."""
    if found:
        rows = [[str(one.n), one.target, _status(one), one.code or "-", one.reason] for one in found]
        print_table([["N", "ITEM", "STATUS", "CODE", "REASON"], *rows])


def _status(item: BatchItem) -> str:
    return f"{item.status} (skipped)" if item.skipped else item.status


def _act(batch: str, at: Target, by: str, act: Callable[[BatchHandle], Awaitable[BatchHandle]]) -> BatchHandle:
    async def acted() -> BatchHandle:
        async with door_to_act(at, acting(at, by)) as door:
            return await act(await door.find_batch(batch))

    return asyncio.run(acted())


def _check_limit(limit: int) -> None:
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")
