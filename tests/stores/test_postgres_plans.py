"""How PostgreSQL runs the statements: what is frequent, or holds others up, is sought in an index.

Statements are planned once, for any values, and plans are kept: so each is looked at when the server has counted some
thousand rows, and also when it knows of none, as in a database that has just begun to grow; lists of what may be many
also when there are some thousand that it has not counted.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.stores.postgres.statements import in_schema
from tests.stores.postgres_pins import (
    FEW_ROWS,
    FEW_TO_SORT,
    IN_ORDER,
    LISTS,
    NO_TABLE,
    ONLY_INSERTED,
    PINNED,
    READS_ALL,
    SOUGHT,
)
from tests.stores.postgres_plans import (
    is_sorted,
    nodes,
    plan_as_run,
    plan_of,
    plans,
    scans,
    schema_with,
    seeks,
    texts,
)

if TYPE_CHECKING:
    from tests.stores.postgres_plans import Plan

_ALL_ALIKE = """
UPDATE layover.pause_points SET workflow = 'w1', kind = 'approval';
UPDATE layover.heads SET workflow = 'w1', status = 'paused';
UPDATE layover.audit SET "user" = 'u1', execution_id = 'e1';
ANALYZE layover.pause_points, layover.heads, layover.audit;
"""
_OF_WHAT_MAY_BE_RARE = [
    "list_executions_of_status",
    "list_executions_of_workflow",
    "list_paused_executions_of_workflow",
    "list_waiting_points_of_workflow_and_kind",
    "list_waiting_points_of_kind",
    "list_waiting_points_of_workflow",
    "list_audit_entries_of_user",
    "list_audit_entries_of_execution",
]


@pytest.fixture(scope="module")
def grown() -> dict[str, Plan]:
    return asyncio.run(plans(rows=True))


@pytest.fixture(scope="module")
def young() -> dict[str, Plan]:
    return asyncio.run(plans(rows=False))


@pytest.fixture(scope="module")
def filled() -> dict[str, Plan]:
    return asyncio.run(plans(rows=True, counted=False))


def test_every_statement_is_known() -> None:
    known = [*PINNED, *SOUGHT, *NO_TABLE, *ONLY_INSERTED, *READS_ALL]
    assert sorted(known) == sorted(texts())


@pytest.mark.parametrize("name", PINNED)
def test_a_hot_statement_seeks_in_the_right_index(grown: dict[str, Plan], young: dict[str, Plan], name: str) -> None:
    assert seeks(grown[name]) == PINNED[name]
    assert seeks(young[name]) == PINNED[name]


@pytest.mark.parametrize("name", sorted(texts().keys() - READS_ALL.keys()))
def test_no_table_is_read_from_end_to_end(grown: dict[str, Plan], young: dict[str, Plan], name: str) -> None:
    few = FEW_ROWS.get(name, [])
    assert scans(grown[name]) in (few, [])
    assert scans(young[name]) in (few, [])


@pytest.mark.parametrize("name", sorted(NO_TABLE | ONLY_INSERTED))
def test_what_seeks_nothing_seeks_nothing(grown: dict[str, Plan], name: str) -> None:
    assert seeks(grown[name]) == set()


@pytest.mark.parametrize("name", IN_ORDER)
def test_rows_come_in_order_and_are_not_sorted(grown: dict[str, Plan], young: dict[str, Plan], name: str) -> None:
    assert not is_sorted(grown[name])
    assert not is_sorted(young[name]) or name in FEW_TO_SORT


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_not_sorted_either_when_it_was_just_filled(filled: dict[str, Plan], name: str) -> None:
    """What is copied in comes at once, and is counted later."""
    assert seeks(filled[name]) == PINNED[name]
    assert not is_sorted(filled[name])


def test_only_what_is_on_a_page_is_sorted_when_kinds_are_merged(
    grown: dict[str, Plan], young: dict[str, Plan], filled: dict[str, Plan]
) -> None:
    for plans_ in (grown, young, filled):
        plan = plans_["list_waiting_points_of_workflow"]
        assert seeks(plan) == PINNED["list_waiting_points_of_workflow"]
        kinds = [node["Node Type"] for node in nodes(plan)]
        assert kinds == ["Limit", "Sort", "Nested Loop", "Function Scan", "Limit", "Index Scan"]


@pytest.mark.parametrize("name", ["list_deliveries", "list_deliveries_of_destination", "list_deliveries_of_execution"])
def test_only_what_is_on_a_page_is_sorted_when_states_are_merged(
    grown: dict[str, Plan], young: dict[str, Plan], filled: dict[str, Plan], name: str
) -> None:
    for plans_ in (grown, young, filled):
        assert seeks(plans_[name]) == PINNED[name]
        kinds = [node["Node Type"] for node in nodes(plans_[name])]
        assert kinds == ["Limit", "Sort", "Nested Loop", "Function Scan", "Limit", "Index Scan"]


@pytest.mark.parametrize(
    "name", ["claim_deliveries", "due_destinations", "align_lanes", "lock_deliveries", "write_outcomes"]
)
def test_what_claims_deliveries_seeks_alike_when_they_came_at_once(filled: dict[str, Plan], name: str) -> None:
    assert seeks(filled[name]) == PINNED[name]
    assert not any("Bitmap" in str(node["Node Type"]) for node in nodes(filled[name]))


# What merges some lists that are sought, and looks up the rest of what is on the page.
_MERGED = ["Nested Loop", "Nested Loop", "Limit", "Sort", "Nested Loop"]
# What may stand between: the same rows are kept for the next who looks them up, or are read in the order of the table.
_ALIKE = ("Memoize", "Bitmap Heap Scan")


@pytest.mark.parametrize(
    ("name", "of_each"),
    [
        ("list_executions_of_status", ["Function Scan", "Limit", "Index Scan"]),
        (
            "list_executions_of_workflow",
            ["Index Scan", "Limit", "Nested Loop", "Index Scan", "Subquery Scan", "Index Scan"],
        ),
    ],
)
def test_only_what_is_on_a_page_is_sorted_and_looked_up(
    grown: dict[str, Plan], young: dict[str, Plan], filled: dict[str, Plan], name: str, of_each: list[str]
) -> None:
    for plans_ in (grown, young, filled):
        plan = plans_[name]
        assert seeks(plan) == PINNED[name]
        kinds = [node["Node Type"] for node in nodes(plan) if node["Node Type"] not in _ALIKE]
        found = ["Index Scan" if kind == "Bitmap Index Scan" else kind for kind in kinds]
        assert found == [*_MERGED, *of_each, "Index Scan", "Index Scan"]


async def test_a_list_of_what_is_rare_is_sought_though_everything_was_alike_when_it_was_counted() -> None:
    """Else what is rare by then is searched for among all that has come since."""
    async with schema_with(rows=True) as (connection, known):
        await connection.execute(in_schema(_ALL_ALIKE, known["list_points"].split('"')[1]))
        for name in _OF_WHAT_MAY_BE_RARE:
            assert seeks(await plan_of(connection, known[name])) == PINNED[name]


def partitions_used(plan: Plan) -> set[str]:
    read = (node for node in nodes(plan) if node.get("Relation Name", "").startswith("events_"))
    return {node["Relation Name"] for node in read if node["Actual Loops"]}


async def test_a_log_is_sought_in_its_own_partition() -> None:
    """Which one it is, is known when the statement runs, not when it is planned."""
    partitions = {2: "events_0", 603: "events_0", 606: "events_1", 4_838: "events_7", 4_839: "events_rest"}
    async with schema_with(rows=True) as (connection, known):
        for n, partition in partitions.items():
            id_ = f"'00000000-0000-0000-0000-{n:012x}'::uuid"
            assert partitions_used(await plan_as_run(connection, known["load_executions"], f"ARRAY[{id_}]")) == {
                partition
            }
            assert partitions_used(await plan_as_run(connection, known["history"], id_, "0", "9")) == {partition}
            assert partitions_used(
                await plan_as_run(connection, known["purge_executions"], f"ARRAY[{id_}]", "NULL")
            ) == {partition}
