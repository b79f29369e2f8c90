"""The import is tested without waiting for a day, and with a crash at every moment."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from daily_import import daily_import

from layover.testing import CommitPoint, survives_crashes

if TYPE_CHECKING:
    from pathlib import Path

    from layover.testing import Layover

START = 1_767_225_600  # of the time of a test


def put(folder: Path, name: str, rows: int, at: int) -> None:
    path = folder / name
    path.write_text("name,amount\n" + "".join(f"{name}-{n},{n}\n" for n in range(rows)))
    os.utime(path, (at, at))


def rows_in(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "rows.db")) as db:
        return dict(db.execute("SELECT file, count(*) FROM rows GROUP BY file"))


async def test_each_file_is_imported_once(layover: Layover, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", 250, START)
    await layover.register(daily_import(tmp_path))
    await layover.skip("1d")
    put(tmp_path, "late.csv", 1, START - 1_000)  # moved in with an older date
    put(tmp_path, "b.csv", 3, START + 86_400)
    await layover.skip("1d")
    assert rows_in(tmp_path) == {"a.csv": 250, "b.csv": 3, "late.csv": 1}
    assert len(await layover.executions(workflow="daily_import").all()) == 3


async def test_an_attempt_goes_on_behind_the_last_checkpoint(layover: Layover, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", 250, START)
    with (tmp_path / "a.csv").open("a") as file:
        file.write("broken,not a number\n")
    await layover.register(daily_import(tmp_path))
    await layover.settle()
    assert rows_in(tmp_path) == {"a.csv": 200}
    put(tmp_path, "a.csv", 251, START)
    await layover.skip("1h")
    assert rows_in(tmp_path) == {"a.csv": 251}


@survives_crashes(most=30)
async def test_a_crash_at_any_moment_leaves_each_row_once(layover: Layover, tmp_path: Path) -> None:
    (tmp_path / "rows.db").unlink(missing_ok=True)
    put(tmp_path, "a.csv", 120, START)
    put(tmp_path, "b.csv", 1, START)
    await layover.register(daily_import(tmp_path))
    await layover.skip("10s")
    assert rows_in(tmp_path) == {"a.csv": 120, "b.csv": 1}
    executions = await layover.executions(workflow="daily_import").all()
    assert [one.status for one in executions] == ["completed", "completed"]


async def test_a_crash_between_cursor_and_start_loses_no_file(layover: Layover, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", 1, START)
    layover.crash_at(CommitPoint.CURSOR_ADVANCED)
    await layover.register(daily_import(tmp_path))
    await layover.skip("10s")
    assert (layover.crashes, rows_in(tmp_path)) == (1, {"a.csv": 1})
