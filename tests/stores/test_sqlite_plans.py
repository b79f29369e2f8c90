"""How SQLite runs the statements: all is sought in an index, but for what counts, lists or checks everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import apsw
import pytest

from layover.core.engine.events import PointKind
from layover.stores.sqlite.connection import connect, teach
from layover.stores.sqlite.migrations import migrate
from layover.stores.sqlite.statements import SQL

ALL_THERE_IS = {"counts", "gauges", "latest_versions", "standings", "strays", "unversioned"}
# The values of a filter; what an inner SELECT has cut already; what a recursion has found so far.
NO_TABLES = ("SCAN json_each", "SCAN (subquery", "SCAN found", "SCAN CONSTANT ROW")


def plan(name: str) -> list[str]:
    db = apsw.Connection(":memory:")
    teach(db)
    migrate(db, Path(":memory:"), 1)
    values = dict.fromkeys(re.findall(r":(\w+)", SQL[name])) or (None,) * SQL[name].count("?")
    lines = [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", values)]
    db.close()
    return lines


@pytest.mark.parametrize("name", sorted(SQL.keys() - ALL_THERE_IS))
def test_a_statement_seeks_and_never_scans_a_table(name: str) -> None:
    scans = [line for line in plan(name) if line.startswith("SCAN") and not line.startswith(NO_TABLES)]
    assert scans == []


@pytest.mark.parametrize("name", sorted(ALL_THERE_IS))
def test_the_exceptions_are_still_exceptions(name: str) -> None:
    assert any(line.startswith("SCAN") for line in plan(name))


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("append", "PRIMARY KEY (execution_id=?)"),
        ("append_alike", "PRIMARY KEY (execution_id=?)"),
        ("append_resting", "PRIMARY KEY (execution_id=?)"),
        ("head", "PRIMARY KEY (execution_id=?)"),
        ("due", "heads_due (wake_at<?)"),
        ("next_due", "COVERING INDEX heads_due (wake_at>?)"),
        ("commands_after", "PRIMARY KEY (execution_id=? AND n>?)"),
        ("command_by_source", "(execution_id=? AND source=? AND source_n=?)"),
        ("entries_after", "(execution_id=? AND seq>?)"),
        ("history", "(execution_id=? AND seq>?)"),
        ("execution", "PRIMARY KEY (execution_id=?)"),
        ("page", "executions_by_age ((created_at,execution_id)<(?,?))"),
        ("page_of_parent", "executions_by_parent (parent_id=? AND (created_at,execution_id)<(?,?))"),
        ("page_of_tag", "PRIMARY KEY (tag=? AND (created_at,execution_id)<(?,?))"),
        ("page_of_status", "heads_by_status (status=? AND (created_at,execution_id)<(?,?))"),
        ("page_of_workflow", "heads_by_workflow (workflow=? AND (created_at,execution_id)<(?,?))"),
        ("purge_tags", "PRIMARY KEY (tag=? AND created_at=? AND execution_id=?)"),
        ("paused", "heads_paused ((paused_at,execution_id)>(?,?))"),
        ("paused_of", "heads_paused_of (workflow=? AND (paused_at,execution_id)>(?,?))"),
        ("points", "pause_points_by_age ((opened_at,id)>(?,?))"),
        ("points_of_execution", "pause_points_by_execution (execution_id=? AND (opened_at,id)>(?,?))"),
        ("points_waiting", "pause_points_waiting ((opened_at,id)>(?,?))"),
        ("points_waiting_of", "pause_points_waiting_of (workflow=? AND kind=? AND (opened_at,id)>(?,?))"),
        ("points_waiting_of_kind", "pause_points_waiting_of_kind (kind=? AND (opened_at,id)>(?,?))"),
        ("points_waiting_of_workflow", "pause_points_waiting_of (workflow=? AND kind=? AND (opened_at,id)>(?,?))"),
        ("orphan", "heads_due (wake_at>?)"),
        ("append_missing", "PRIMARY KEY (execution_id=?)"),
        ("missing_types", "COVERING INDEX heads_missing (missing>?)"),
        ("heads_missing", "heads_missing (missing=?)"),
        ("messages_due", "COVERING INDEX outbox_by_time (due_at<?)"),
        ("latest_between", "PRIMARY KEY (sender=? AND destination=? AND n>? AND n<?)"),
        ("message", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("next_message", "COVERING INDEX outbox_by_time (due_at>?)"),
        ("messages_of", "PRIMARY KEY (sender=?)"),
        ("drop_message", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("postpone_message", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("hasten_messages", "PRIMARY KEY (sender=? AND destination=?)"),
        ("token", "PRIMARY KEY (hash=?)"),
        ("waits", "PRIMARY KEY (name=? AND key=?)"),
        ("drop_waits", "waits_by_point (point=?)"),
        ("signals", "signals_by_key (name=? AND key=? AND at>?)"),
        ("undispatched_since", "COVERING INDEX signals_by_age (dispatched=?)"),
        ("signals_undispatched", "signals_by_age (dispatched=? AND at<?)"),
        ("count_held", "COVERING INDEX places_held (name=? AND held_at>?)"),
        ("holders", "COVERING INDEX places_held (name=? AND held_at>?)"),
        ("next_in_line", "places_in_line (name=?)"),
        ("count_ahead", "places_in_line (name=? AND (rank,execution_id)<(?,?))"),
        ("expendable", "COVERING INDEX executions_by_end (finished_at<?)"),
        ("create_execution", "versions_by_hash (hash=? AND workflow=?)"),
        ("audit", "PRIMARY KEY ((at,id)<(?,?))"),
        ("audit_of_user", "audit_by_user (user=? AND (at,id)<(?,?))"),
        ("audit_of_execution", "audit_by_execution (execution_id=? AND (at,id)<(?,?))"),
        ("key_by_hash", "(hash=?)"),
        ("keys", "PRIMARY KEY (id>?)"),
        ("reply", "(scope=? AND key=?)"),
        ("drop_reply", "(scope=? AND key=?)"),
        ("revive_workflow", "PRIMARY KEY (workflow=?)"),
        ("standings_of", "PRIMARY KEY (workflow=?)"),
    ],
)
def test_a_hot_statement_uses_all_of_its_index(name: str, index: str) -> None:
    first = next(line for line in plan(name) if line.startswith("SEARCH"))
    assert first.endswith(index)


def test_signals_to_forget_are_sought() -> None:
    assert plan("forget_signals")[-1].endswith("signals_by_age (dispatched=? AND at<?)")


def test_the_points_of_a_workflow_are_merged_from_those_of_all_kinds() -> None:
    kinds = re.findall(r"kind = '(\w+)'", SQL["points_waiting_of_workflow"])
    assert sorted(kinds) == sorted(get_args(PointKind))
    parts = [line for line in plan("points_waiting_of_workflow") if line.startswith(("SEARCH", "MERGE"))]
    assert len(parts) == 2 * len(kinds) - 1


@pytest.mark.parametrize("name", sorted(SQL.keys() - {"counts", "due", "gauges", "strays", "version_by_hash"}))
def test_rows_come_in_order_and_are_not_sorted(name: str) -> None:
    assert not any("TEMP B-TREE" in line for line in plan(name))


@pytest.mark.parametrize("name", ["execution", "history", "point", "points_of_execution", "append_alike", "paused_of"])
def test_a_statement_is_compiled_once_whatever_it_is_asked(tmp_path: Path, name: str) -> None:
    path, compiled = tmp_path / "layover.db", list[int]()
    db = connect(path)
    migrate(db, path, 1)

    def note(operation: int, *_: str | None) -> int:
        compiled.append(operation)
        return apsw.SQLITE_OK

    db.authorizer = note  # which is asked whenever something is compiled
    names = re.findall(r":(\w+)", SQL[name])
    db.execute(SQL[name], dict.fromkeys(names, 1))
    assert compiled
    compiled.clear()
    for value in range(2, 5):
        db.execute(SQL[name], dict.fromkeys(names, value))
    assert not compiled
    db.close()
