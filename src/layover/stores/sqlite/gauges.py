"""The gauges of a file: counts along indexes, its size, and what is free on its disk."""

from __future__ import annotations

from shutil import disk_usage
from typing import TYPE_CHECKING

from layover.ports.view_records import Gauges
from layover.stores.gauges import MOST, MOST_OF_WORKFLOW, SOME_HEADS
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import apsw


def read_gauges(db: apsw.Connection, path: Path, now: int, before: int, workflows: int) -> Gauges:
    """Count what has not ended or waits."""

    def rows(name: str, **values: int) -> list[Any]:
        return db.execute(SQL[name], values).fetchall()

    ((due, oldest_due),) = rows("count_due", now=now, most=MOST)
    ((messages, oldest_message),) = rows("count_messages", most=MOST)
    return Gauges(
        executions=dict(rows("count_open", most=MOST)),
        paused=dict(rows("count_paused", names=workflows, most=MOST_OF_WORKFLOW)),
        paused_long=rows("count_paused_before", before=before, most=MOST)[0][0],
        oldest_paused=rows("first_paused")[0][0],
        due=due,
        oldest_due=oldest_due,
        commands=rows("count_commands", now=now, some=SOME_HEADS)[0][0],
        messages=messages,
        triggers=dict(rows("count_trigger_states", most=MOST)),
        pending_inputs=dict(rows("count_pending_of_triggers", most=MOST_OF_WORKFLOW, names=workflows)),
        oldest_message=oldest_message,
        unindexed=rows("count_unindexed", most=MOST)[0][0],
        size=path.stat().st_size,
        free=disk_usage(path.parent).free,
    )
