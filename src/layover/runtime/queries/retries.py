"""Attempts that are to be made again later, among executions that are open.

They are read from the states of executions: their waits are in no table of their own. So a page looks at a bounded
number of executions, and may have fewer retries than asked for, or none; its cursor says where to go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.moments import Moment
from layover.errors import NotFound
from layover.model.scheduled_retries import ScheduledRetry
from layover.ports.view_records import ExecutionFilter
from layover.runtime.queries.why import attempts_failed
from layover.runtime.results.failures import failure_of

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState
    from layover.runtime.queries.lists import ExecutionLists
    from layover.runtime.queries.queries import Queries

_OPEN: Final = ("running", "waiting", "pausing", "paused")
_LOOKED_AT: Final = 100  # executions, for one page
_MOST: Final = 100  # of one execution


class RetryPage(NamedTuple):
    """Retries, and the last execution that was looked at if there may be more behind it."""

    retries: tuple[ScheduledRetry, ...]
    after: tuple[int, str] | None


def retries_of(state: ExecutionState) -> list[ScheduledRetry]:
    """Return the attempts that an execution is to make later, the first of them first."""
    facts = state.facts
    found = [
        ScheduledRetry(
            execution_id=facts.id,
            workflow=facts.workflow,
            context_id=name,
            attempt=node.attempt,
            failures=attempts_failed(node),
            due_at=Moment.maybe(state.timers.get(name)),
            failure=failure_of(node.error),
        )
        for name, node in state.nodes.rows.items()
        if node.status == "backoff"
    ]
    return sorted(found, key=lambda one: (state.timers.get(one.context_id) or 0, one.context_id))[:_MOST]


async def find_retries(
    lists: ExecutionLists, queries: Queries, workflow: str | None, after: tuple[int, str] | None, limit: int
) -> RetryPage:
    """Return the retries of open executions, those of the newest execution first."""
    wanted = ExecutionFilter(workflow=workflow, status=_OPEN, after=after, limit=_LOOKED_AT)
    page = await lists.find(wanted)
    found: list[ScheduledRetry] = []
    for row in page.rows:
        try:
            _, cached = await queries.load(row.head.execution_id)
        except NotFound:  # it was purged meanwhile
            continue
        found += retries_of(cached.state)
        if len(found) >= limit:
            return RetryPage(tuple(found), (row.info.created_at, row.head.execution_id))
    return RetryPage(tuple(found), page.after)
