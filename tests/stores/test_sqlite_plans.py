"""How SQLite runs the statements: all is sought in an index, but for what counts, lists or checks everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import apsw
import pytest

from layover.core.engine.events import PointKind
from layover.stores.sqlite.connection import connect, register_functions
from layover.stores.sqlite.migrations import migrate
from layover.stores.sqlite.statements import SQL

PLANNED = SQL.keys() - {"create_migrations_table"}
ALL_THERE_IS = {
    "count_executions",
    "count_tables",
    "count_messages",
    "latest_versions",
    "list_hashes",
    "list_workflow_statuses",
    "read_breakpoints",  # an index of those that have any, and nothing else
    "recorded_migrations",
    "stray_rows",
    "last_seal",  # one row at the end of an index
    "list_seal_keys",
    "unsealed_entry_exists",  # an index of what waits, and nothing else
    "unsealed_leaves",  # the same
    "executions_without_version",
}
# The values of a filter; what an inner SELECT has cut already; what a recursion has found so far.
NO_TABLES = ("SCAN json_each", "SCAN (subquery", "SCAN found", "SCAN CONSTANT ROW")


def plan(name: str) -> list[str]:
    db = apsw.Connection(":memory:")
    register_functions(db)
    migrate(db, Path(":memory:"), 1)
    values = dict.fromkeys(re.findall(r":(\w+)", SQL[name])) or (None,) * SQL[name].count("?")
    lines = [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", values)]
    db.close()
    return lines


@pytest.mark.parametrize("name", sorted(PLANNED - ALL_THERE_IS))
def test_a_statement_seeks_and_never_scans_a_table(name: str) -> None:
    scans = [line for line in plan(name) if line.startswith("SCAN") and not line.startswith(NO_TABLES)]
    assert scans == []


@pytest.mark.parametrize("name", sorted(ALL_THERE_IS))
def test_the_exceptions_are_still_exceptions(name: str) -> None:
    assert any(line.startswith("SCAN") for line in plan(name))


@pytest.mark.parametrize("name", ["unsealed_entry_exists", "unsealed_leaves"])
def test_what_waits_for_a_seal_is_read_from_its_own_index(name: str) -> None:
    assert any(line.startswith("SCAN audit USING INDEX audit_unsealed") for line in plan(name))


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("append", "PRIMARY KEY (execution_id=?)"),
        ("append_keeping_status", "PRIMARY KEY (execution_id=?)"),
        ("append_and_rest", "PRIMARY KEY (execution_id=?)"),
        ("head_by_id", "PRIMARY KEY (execution_id=?)"),
        ("set_seals", "audit_unsealed ((at,id)<(?,?))"),
        ("unsealed_entries", "audit_unsealed ((at,id)>(?,?))"),
        ("entries_of_seal", "audit_by_seal (seal=? AND (at,id)>(?,?))"),
        ("sealed_entries_up_to", "audit_by_seal (seal<?)"),
        ("due_heads", "heads_due (wake_at<?)"),
        ("next_due_at", "COVERING INDEX heads_due (wake_at>?)"),
        ("commands_after", "PRIMARY KEY (execution_id=? AND n>?)"),
        ("command_by_source", "(execution_id=? AND source=? AND source_n=?)"),
        ("entries_after", "(execution_id=? AND seq>?)"),
        ("history", "(execution_id=? AND seq>?)"),
        ("execution_by_id", "PRIMARY KEY (execution_id=?)"),
        ("list_executions", "executions_by_age ((created_at,execution_id)<(?,?))"),
        ("list_executions_of_parent", "executions_by_parent (parent_id=? AND (created_at,execution_id)<(?,?))"),
        (
            "list_executions_of_correlation",
            "executions_by_correlation (correlation_id=? AND (created_at,execution_id)<(?,?))",
        ),
        ("list_executions_of_error", "executions_by_error (error_code=? AND (created_at,execution_id)<(?,?))"),
        ("list_resumed_executions", "executions_resumed ((created_at,execution_id)<(?,?))"),
        ("list_slow_executions", "executions_slow ((created_at,execution_id)<(?,?))"),
        ("list_executions_of_user", "executions_by_user (user=? AND (created_at,execution_id)<(?,?))"),
        ("list_executions_of_ids", "PRIMARY KEY (execution_id=?)"),
        ("executions_of_waiting_points", "pause_points_waiting_of_kind (kind=?)"),
        ("workflows_of_hashes", "COVERING INDEX versions_by_hash (hash=?)"),
        ("hashes_of_workflow", "(workflow=?)"),
        ("count_waiting_on", "pause_points_waiting_of_kind (kind=?)"),
        ("count_retrying", "heads_by_status (status=?)"),
        ("count_held", "heads_by_status (status=?)"),
        ("open_kinds_of_executions", "pause_points_by_execution (execution_id=?)"),
        ("count_correlations_from", "executions_by_correlation (correlation_id>? AND correlation_id<?)"),
        ("count_ids_from", "PRIMARY KEY (execution_id>? AND execution_id<?)"),
        ("list_executions_of_correlations_from", "executions_by_correlation (correlation_id>? AND correlation_id<?)"),
        ("list_executions_of_ids_from", "PRIMARY KEY (execution_id>? AND execution_id<?)"),
        ("list_executions_of_tag", "PRIMARY KEY (tag=? AND (created_at,execution_id)<(?,?))"),
        ("list_executions_of_status", "heads_by_status (status=? AND (created_at,execution_id)<(?,?))"),
        ("list_executions_of_workflow", "heads_by_workflow (workflow=? AND (created_at,execution_id)<(?,?))"),
        ("list_executions_of_term", "PRIMARY KEY (term=? AND (created_at,execution_id)<(?,?))"),
        ("list_executions_of_terms_between", "PRIMARY KEY (term>? AND term<?)"),
        ("list_unindexed_executions", "heads_unindexed ((created_at,execution_id)<(?,?))"),
        ("unindexed_executions", "COVERING INDEX heads_unindexed ((created_at,execution_id)<(?,?))"),
        ("count_unindexed", "heads_unindexed (created_at<?)"),
        ("count_terms", "PRIMARY KEY (term>? AND term<?)"),
        ("delete_terms", "PRIMARY KEY (term=? AND created_at=? AND execution_id=?)"),
        ("purge_tags", "PRIMARY KEY (tag=? AND created_at=? AND execution_id=?)"),
        ("list_paused_executions", "heads_paused ((paused_at,execution_id)>(?,?))"),
        ("list_paused_executions_of_workflow", "heads_paused_of (workflow=? AND (paused_at,execution_id)>(?,?))"),
        ("list_points", "pause_points_by_age ((opened_at,id)>(?,?))"),
        ("standings_of_executions", "events USING INDEX sqlite_autoindex_events_1 (execution_id=?)"),
        ("list_points_of_execution", "pause_points_by_execution (execution_id=? AND (opened_at,id)>(?,?))"),
        ("list_waiting_points", "pause_points_waiting ((opened_at,id)>(?,?))"),
        (
            "list_waiting_points_of_workflow_and_kind",
            "pause_points_waiting_of (workflow=? AND kind=? AND (opened_at,id)>(?,?))",
        ),
        ("list_waiting_points_of_kind", "pause_points_waiting_of_kind (kind=? AND (opened_at,id)>(?,?))"),
        ("list_waiting_points_of_workflow", "pause_points_waiting_of (workflow=? AND kind=? AND (opened_at,id)>(?,?))"),
        ("expire_leases", "heads_due (wake_at>?)"),
        ("append_and_wait_for_functions", "PRIMARY KEY (execution_id=?)"),
        ("awaited_functions", "COVERING INDEX heads_missing (missing>?)"),
        ("heads_awaiting_functions", "heads_missing (missing=?)"),
        ("due_messages", "COVERING INDEX outbox_by_time (due_at<?)"),
        ("latest_due_at_between", "PRIMARY KEY (sender=? AND destination=? AND n>? AND n<?)"),
        ("message_by_key", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("next_message_due_at", "COVERING INDEX outbox_by_time (due_at>?)"),
        ("messages_of_sender", "PRIMARY KEY (sender=?)"),
        ("delete_messages", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("postpone_message", "PRIMARY KEY (sender=? AND destination=? AND n=?)"),
        ("make_messages_due_sooner", "PRIMARY KEY (sender=? AND destination=?)"),
        ("point_of_token", "PRIMARY KEY (hash=?)"),
        ("waits_for_signal", "PRIMARY KEY (name=? AND key=?)"),
        ("delete_waits", "waits_by_point (point=?)"),
        ("signals_since", "signals_by_key (name=? AND key=? AND at>?)"),
        ("oldest_undispatched_at", "COVERING INDEX signals_by_age (dispatched=?)"),
        ("undispatched_signals", "signals_by_age (dispatched=? AND at<?)"),
        ("count_slot_holders", "COVERING INDEX places_held (name=? AND held_at>?)"),
        ("slot_holders", "COVERING INDEX places_held (name=? AND held_at>?)"),
        ("next_in_queue", "places_in_line (name=?)"),
        ("count_ahead_in_queue", "places_in_line (name=? AND (rank,execution_id)<(?,?))"),
        ("purgeable_executions", "COVERING INDEX executions_by_end (finished_at<?)"),
        ("create_execution", "versions_by_hash (hash=? AND workflow=?)"),
        ("list_audit_entries", "PRIMARY KEY ((at,id)<(?,?))"),
        ("list_audit_entries_of_target", "audit_by_target (target=? AND (at,id)<(?,?))"),
        ("list_audit_entries_of_user", "audit_by_user (user=? AND (at,id)<(?,?))"),
        ("list_audit_entries_of_execution", "audit_by_execution (execution_id=? AND (at,id)<(?,?))"),
        ("api_key_by_hash", "(hash=?)"),
        ("list_api_keys", "PRIMARY KEY (id>?)"),
        ("session_by_hash", "(hash=?)"),
        ("list_sessions", "sessions_of_kind (kind=? AND id>?)"),
        ("end_session", "(hash=?)"),
        ("list_open_sessions", "sessions_of_kind (kind=? AND id>?)"),
        ("list_sessions_of_user", "sessions_of_user (user=? AND kind=?)"),
        ("reply_by_key", "(scope=? AND key=?)"),
        ("delete_unfinished_reply", "(scope=? AND key=?)"),
        ("revive_workflow", "PRIMARY KEY (workflow=?)"),
        ("workflow_statuses_by_name", "PRIMARY KEY (workflow=?)"),
    ],
)
def test_a_hot_statement_uses_all_of_its_index(name: str, index: str) -> None:
    first = next(line for line in plan(name) if line.startswith("SEARCH"))
    assert first.endswith(index)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("count_open", "heads_by_status"),
        ("count_paused", "heads_paused_of"),
        ("count_paused_before", "heads_paused"),
        ("first_paused", "heads_paused"),
        ("count_due", "heads_due"),
        ("count_messages", "outbox_by_time"),
    ],
)
def test_a_gauge_is_counted_in_an_index_alone(name: str, index: str) -> None:
    assert any(f"USING COVERING INDEX {index}" in line for line in plan(name))


def test_the_points_of_a_list_are_sought_by_execution() -> None:
    found = [line for line in plan("standings_of_executions") if line.startswith("SEARCH pause_points")]
    assert found == ["SEARCH pause_points USING INDEX pause_points_by_execution (execution_id=?)"]


def test_signals_to_forget_are_sought() -> None:
    assert plan("delete_old_signals")[-1].endswith("signals_by_age (dispatched=? AND at<?)")


def test_the_points_of_a_workflow_are_merged_from_those_of_all_kinds() -> None:
    kinds = re.findall(r"kind = '(\w+)'", SQL["list_waiting_points_of_workflow"])
    assert sorted(kinds) == sorted(get_args(PointKind))
    parts = [line for line in plan("list_waiting_points_of_workflow") if line.startswith(("SEARCH", "MERGE"))]
    assert len(parts) == 2 * len(kinds) - 1


SORTED = {
    "count_waiting_on",  # ten thousand at most
    "count_executions",
    "due_heads",
    "list_executions_of_correlations_from",  # twenty thousand at most
    "list_executions_of_ids",  # two thousand at most
    "list_executions_of_ids_from",  # twenty thousand at most
    "list_executions_of_terms_between",  # asked only where they are few
    "list_sessions_of_user",  # a user has at most fifty
    "standings_of_executions",  # at most a hundred points of each
    "stray_rows",
    "version_by_hash",
    "workflows_of_hashes",  # versions are few
}


@pytest.mark.parametrize("name", sorted(PLANNED - SORTED))
def test_rows_come_in_order_and_are_not_sorted(name: str) -> None:
    assert not any("TEMP B-TREE" in line for line in plan(name))


@pytest.mark.parametrize(
    "name",
    [
        "execution_by_id",
        "history",
        "point_by_id",
        "list_points_of_execution",
        "append_keeping_status",
        "list_paused_executions_of_workflow",
    ],
)
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
