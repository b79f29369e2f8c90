"""How PostgreSQL runs the statements: what is frequent, or holds others up, is sought in an index.

Statements are planned once, for any values, and plans are kept: so each is looked at when the server has counted some
thousand rows, and also when it knows of none, as in a database that has just begun to grow.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.stores.postgres_plans import nodes, plan_as_run, plans, scans, schema_with, seeks, texts

if TYPE_CHECKING:
    from tests.stores.postgres_plans import Plan

# The indexes of what is asked all the time, and of lists: with the columns that are compared.
PINNED = {
    "commit of moves": {"heads_pkey (execution_id)"},
    "commit of resting moves": {"heads_pkey (execution_id)"},
    "commit of new ones": {"versions_by_hash (hash, workflow)"},
    "commit of everything": {
        "executions_pkey (execution_id)",
        "heads_pkey (execution_id)",
        "pause_points_by_id (id)",
        "versions_by_hash (hash, workflow)",
        "waits_by_point (point)",
    },
    "lock_head": {"heads_pkey (execution_id)"},
    "head": {"heads_pkey (execution_id)"},
    "claim_due": {"heads_due (wake_at)", "heads_missing (missing)", "heads_pkey (execution_id)"},
    "claim_one": {"heads_due (wake_at)", "heads_pkey (execution_id)"},
    "renew": {"heads_pkey (execution_id)"},
    "renew_waiting": {"heads_pkey (execution_id)"},
    "release": {"heads_pkey (execution_id)"},
    "load": {
        "heads_pkey (execution_id)",
        "executions_pkey (execution_id)",
        "versions_pkey (id)",
        "snapshots_pkey (execution_id)",
        "events_pkey (execution_id, seq, era)",
    },
    "unread": {"heads_pkey (execution_id)"},
    "commands_after": {"commands_pkey (execution_id, n)"},
    "commands_of_many": {"commands_pkey (execution_id, n)"},
    "enqueue": {"heads_pkey (execution_id)", "commands_by_source (execution_id, source, source_n)"},
    "answerable": {
        "pause_points_by_id (id)",
        "heads_pkey (execution_id)",
        "commands_by_source (execution_id, source, source_n)",
    },
    "lock_head_of_point": {"pause_points_by_id (id)", "heads_pkey (execution_id)"},
    "messages_due": {
        "outbox_by_time (due_at, sender, n, destination)",
        "outbox_by_time (due_at)",
        "outbox_pkey (sender, destination, n)",
        "signals_by_age (dispatched)",
    },
    "messages_of": {"outbox_pkey (sender)"},
    "drop_messages": {"outbox_pkey (sender, destination, n)"},
    "postpone_message": {"outbox_pkey (sender, destination, n)"},
    "token": {"tokens_by_hash (hash)"},
    "waits": {"waits_pkey (name, key)"},
    "signals": {"signals_by_key (name, key, at)"},
    "signals_undispatched": {"signals_by_age (dispatched, at)"},
    "dispatch_signals": {"signals_pkey (id)"},
    "forget_signals": {"signals_by_age (dispatched, at)", "signals_pkey (id)"},
    "execution": {"executions_pkey (execution_id)", "heads_pkey (execution_id)", "versions_pkey (id)"},
    "page": {
        "executions_by_age (created_at, execution_id)",
        "heads_pkey (execution_id)",
        "versions_pkey (id)",
    },
    "page_of_parent": {
        "executions_by_parent (parent_id, created_at, execution_id)",
        "heads_pkey (execution_id)",
        "versions_pkey (id)",
    },
    "page_of_tag": {"executions_by_tag (tags)", "heads_pkey (execution_id)", "versions_pkey (id)"},
    "page_of_paused": {
        "heads_paused (created_at, execution_id)",
        "executions_pkey (execution_id)",
        "versions_pkey (id)",
    },
    "history": {"heads_pkey (execution_id)", "events_pkey (execution_id, seq, era)"},
    "point": {"pause_points_by_id (id)"},
    "points": {"pause_points_by_age (opened_at, id)"},
    "points_of_execution": {"pause_points_pkey (execution_id)"},
    "points_waiting": {"pause_points_waiting (opened_at, id)"},
    "latest_version": {"versions_workflow_number_key (workflow)"},
    "save_version": {"versions_workflow_number_key (workflow)"},
    "version_by_hash": {"versions_by_hash (hash)"},
    "versions_of": {"versions_workflow_number_key (workflow)"},
    "expendable": {
        "executions_by_end (finished_at)",
        "heads_pkey (execution_id)",
        "outbox_pkey (sender)",
        "places_pkey (execution_id)",
    },
    "lock_closed": {"heads_pkey (execution_id)"},
}
# In whichever index it is: it has to be one.
SOUGHT = {
    "answer",
    "began_between",
    "drop_lock",
    "drop_places",
    "hasten_messages",
    "held_by_others",
    "holders",
    "leave",
    "limits",
    "line",
    "next_in_line",
    "place_name",
    "purge",
    "rates",
    "rest_has_era",
    "standing",
}
NO_TABLE = {"lock_limits", "notify", "read_all", "server_version", "time"}
ONLY_INSERTED = {"enter", "insert_migration", "insert_signal", "save_places", "save_rates", "stay", "take_lock"}
READS_ALL = {
    "counts": "it counts all executions",
    "strays": "it checks all rows",
    "unversioned": "it checks all executions",
    "latest_versions": "it lists all workflows",
    "living_instances": "there are as many rows as instances",
    "delete_migration": "there are as many rows as migrations",
    "taken_migrations": "there are as many rows as migrations",
    "tables": "it reads the catalog",
    "missing_eras": "it reads the catalog",
    "ended_eras": "it reads the catalog",
    "orphan": "once in the life of an instance, for all that it drove",
    "forget_rates": "as seldom as a purge, for all rates that are over",
    "heads_between": "once for a week that is over, before its partition is dropped",
    "kept_between": "the same",
    "purge_between": "the same, for all that began in that week",
}
# What is sought only once rows have been counted: until then its `EXISTS` is thought to be cheaper for all at once.
ONLY_WHEN_GROWN = {"renew"}
IN_ORDER = [
    "page", "page_of_parent", "page_of_paused", "history", "points", "points_waiting", "signals", "expendable",
    "signals_undispatched", "waits", "versions_of", "latest_version", "commands_after",
]  # fmt: skip


@pytest.fixture(scope="module")
def grown() -> dict[str, Plan]:
    return asyncio.run(plans(rows=True))


@pytest.fixture(scope="module")
def young() -> dict[str, Plan]:
    return asyncio.run(plans(rows=False))


def test_every_statement_is_known() -> None:
    known = [*PINNED, *SOUGHT, *NO_TABLE, *ONLY_INSERTED, *READS_ALL]
    assert sorted(known) == sorted(texts())


@pytest.mark.parametrize("name", PINNED)
def test_a_hot_statement_seeks_in_the_right_index(grown: dict[str, Plan], name: str) -> None:
    assert seeks(grown[name]) == PINNED[name]


@pytest.mark.parametrize("name", sorted(texts().keys() - READS_ALL.keys()))
def test_no_table_is_read_from_end_to_end(grown: dict[str, Plan], young: dict[str, Plan], name: str) -> None:
    assert scans(grown[name]) == []
    assert scans(young[name]) == [] or name in ONLY_WHEN_GROWN


@pytest.mark.parametrize("name", sorted(NO_TABLE | ONLY_INSERTED))
def test_what_seeks_nothing_seeks_nothing(grown: dict[str, Plan], name: str) -> None:
    assert seeks(grown[name]) == set()


@pytest.mark.parametrize("name", IN_ORDER)
def test_rows_come_in_order_and_are_not_sorted(grown: dict[str, Plan], name: str) -> None:
    assert not any("Sort" in node["Node Type"] for node in nodes(grown[name]))


def partitions_used(plan: Plan) -> set[str]:
    read = (node for node in nodes(plan) if node.get("Relation Name", "").startswith("events_"))
    return {node["Relation Name"] for node in read if node["Actual Loops"]}


async def test_a_log_is_sought_in_its_own_partition() -> None:
    """Which one it is, is known when the statement runs, not when it is planned."""
    partitions = {2: "events_0", 603: "events_0", 606: "events_1", 4_838: "events_7", 4_839: "events_rest"}
    async with schema_with(rows=True) as (connection, known):
        for n, partition in partitions.items():
            id_ = f"'00000000-0000-0000-0000-{n:012x}'::uuid"
            assert partitions_used(await plan_as_run(connection, known["load"], f"ARRAY[{id_}]")) == {partition}
            assert partitions_used(await plan_as_run(connection, known["history"], id_, "0", "9")) == {partition}
            assert partitions_used(await plan_as_run(connection, known["purge"], f"ARRAY[{id_}]")) == {partition}
