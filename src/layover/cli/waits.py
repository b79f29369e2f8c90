"""Waits for time: `layover run-now`, `retries` and `cancel-retry`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from layover.cli.doors import door_to_read, page_of
from layover.cli.exits import DONE, Stop
from layover.cli.operate import act_on
from layover.cli.options import HERE, At, By, ExecutionName, Json, Reason, acting
from layover.cli.screen import moment, print_json, print_table, say

if TYPE_CHECKING:
    from layover import Page, ScheduledRetry

_MOST: Final = 10_000

Waiting = Annotated[
    str | None, Parameter(help="The node that waits for time; in a scope, its context id. Default: all of them.")
]
Retried = Annotated[str, Parameter(help="The node that is to be tried again; in a scope, its context id.")]
OfWorkflow = Annotated[str | None, Parameter(name="--workflow", help="Only executions of this workflow.")]
Limit = Annotated[int, Parameter(name="--limit", help="How many at most.")]


def run_now(
    execution: ExecutionName,
    node: Waiting = None,
    /,
    *,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Let a node go on that waits for time: a delay, a sleep, or another attempt; or a start that was delayed."""
    return act_on(execution, at, acting(at, by), "Run now", lambda one: one.run_now(node, reason=reason), json=json)


def cancel_retry(
    execution: ExecutionName,
    node: Retried,
    /,
    *,
    reason: Reason = "",
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Make no further attempt of a node that is to be tried again: its last failure is final."""
    who = acting(at, by)
    return act_on(execution, at, who, "Cancel of a retry", lambda one: one.cancel_retry(node, reason=reason), json=json)


def list_retries(*, workflow: OfWorkflow = None, limit: Limit = 50, at: At = HERE, json: Json = False) -> int:
    """List the attempts that open executions are to make later."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")

    async def found() -> Page[ScheduledRetry]:
        async with door_to_read(at) as door:
            return await page_of(door.retries(workflow=workflow), limit)

    page = asyncio.run(found())
    if json:
        print_json(page)
    elif not page.items:
        say("No retries are scheduled.")
    else:
        rows = [
            [
                one.execution_id,
                one.workflow,
                one.context_id,
                str(one.failures),
                moment(one.due_at),
                one.failure.code if one.failure is not None else "-",
            ]
            for one in page.items
        ]
        print_table([["EXECUTION", "WORKFLOW", "NODE", "FAILED", "DUE", "ERROR"], *rows])
    return DONE
