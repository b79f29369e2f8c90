"""The gauges of a schema: counts along indexes, one statement each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.view_records import Gauges
from layover.stores.gauges import MOST, MOST_OF_WORKFLOW, SOME_HEADS

if TYPE_CHECKING:
    from layover.stores.postgres.database import Transaction


async def read_gauges(tx: Transaction, now: int, before: int, workflows: int) -> Gauges:
    """Count what has not ended or waits."""
    ((due, oldest_due),) = await tx.fetch("count_due", MOST, now)
    ((messages, oldest_message),) = await tx.fetch("count_messages", MOST)
    paused = await tx.fetch("count_paused", MOST_OF_WORKFLOW, workflows)
    pending = await tx.fetch("count_pending_of_triggers", MOST_OF_WORKFLOW, workflows)
    return Gauges(
        executions={row["status"]: row["executions"] for row in await tx.fetch("count_open", MOST)},
        paused={row["workflow"]: row["executions"] for row in paused},
        paused_long=await tx.fetchval("count_paused_before", MOST, before),
        oldest_paused=await tx.fetchval("first_paused", now),
        due=due,
        oldest_due=oldest_due,
        commands=await tx.fetchval("count_commands", SOME_HEADS, now),
        messages=messages,
        triggers={row["state"]: row["triggers"] for row in await tx.fetch("count_trigger_states", MOST)},
        pending_inputs={row["trigger"]: row["inputs"] for row in pending},
        oldest_message=oldest_message,
        unindexed=await tx.fetchval("count_unindexed", MOST),
    )
