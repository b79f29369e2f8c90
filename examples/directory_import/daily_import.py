"""A daily import: new files of a folder are found, and each becomes one execution that writes its rows to a table.

    python examples/directory_import/daily_import.py [FOLDER]

The source looks back for an hour behind its cursor, because a file may be moved in with an older date: files that are
known by their ids start nothing again. Rows are written in groups, each followed by a checkpoint. An attempt that fails
is repeated from there, and a row has a key of its own, so nothing is there twice.
"""

from __future__ import annotations

import asyncio
import csv
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from layover import Batch, Engine, Item, Retry, SyncNodeContext, Workflow, node, source

AT_ONCE = 100  # files of one batch, and rows of one group
HOUR = 3_600 * 10**9


@source
def new_files(cursor: str | None, folder: str) -> Batch:
    """Return the files that were changed since the cursor, the oldest first."""
    since = int(cursor or 0) - HOUR
    dated = sorted((path.stat().st_mtime_ns, path.name) for path in Path(folder).glob("*.csv"))
    newer = [(changed, name) for changed, name in dated if changed > since]
    if not newer:
        return Batch()
    found = newer[:AT_ONCE]
    items = [Item(f"{name}@{changed}", {"path": str(Path(folder) / name)}) for changed, name in found]
    last = found[-1][0] + (HOUR if len(newer) > AT_ONCE else 0)  # so that the next batch begins behind this one
    return Batch(items, cursor=str(last), more=len(newer) > AT_ONCE)


@node
def import_rows(path: str, table: str, context: SyncNodeContext) -> int:
    """Write the rows of a file; go on behind the last checkpoint. An ordinary function runs in a thread."""
    done = context.restored or 0
    with Path(path).open(newline="") as file, closing(sqlite3.connect(table)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS rows (file, line, name, amount, PRIMARY KEY (file, line))")
        rows = islice(enumerate(csv.DictReader(file), 1), done, None)
        while group := list(islice(rows, AT_ONCE)):
            values = [(Path(path).name, line, row["name"], float(row["amount"])) for line, row in group]
            with db:
                db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", values)
            done = group[-1][0]
            context.checkpoint(done)
    return int(done)


def daily_import(folder: Path) -> Workflow:
    """Return the workflow for a folder; the table is beside it."""
    flow = Workflow("daily_import")
    flow.call(
        "rows",
        import_rows,
        input={"path": "${input.path}", "table": str(folder / "rows.db")},
        retry=Retry(max_attempts=5, delay="1s"),
        timeout="10m",
    )
    flow.on_poll("files", new_files, with_={"folder": str(folder)}, every="1d", tags=["${trigger.id}"])
    return flow


async def poll_now(engine: Engine, name: str) -> None:
    """Have a trigger polled at once, and wait until it is due on another day."""
    trigger = await engine.trigger(name)
    await trigger.rewind(trigger.cursor)  # it goes on from where it stands, and now
    later = datetime.now(UTC) + timedelta(hours=1)
    while trigger.next_at is None or trigger.next_at < later:
        await asyncio.sleep(0.05)
        await trigger.refresh()


def fill(folder: Path) -> None:
    """Make a folder with two files, unless it is there."""
    if not folder.exists():
        folder.mkdir()
        (folder / "monday.csv").write_text("name,amount\nann,10\nbob,32.5\n")
        (folder / "tuesday.csv").write_text("name,amount\ncarl,7\n")


async def main(folder: Path) -> None:
    """Import what is new in a folder, and say so."""
    fill(folder)
    flow = daily_import(folder)
    async with Engine(f"sqlite:///{folder}/layover.db", workflows=[flow]) as engine:
        known = {one.id async for one in engine.executions(workflow=flow.name)}
        await poll_now(engine, "daily_import/files")
        async for one in engine.executions(workflow=flow.name):
            if one.id not in known:
                rows = await (await engine.execution(one.id)).result()
                print(f"{one.tags[0].partition('@')[0]}: {rows} rows")
    print("Put another file there, and run it again.")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "inbox")))
