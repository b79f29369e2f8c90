"""Lists of executions, newest first, each by the index that reads the fewest rows in vain.

A parent or a tag is shared by few executions, so it comes first. Then comes the status: all but completed executions
are few. Lists of several statuses are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from layover.stores.checks import at_most, check_ids
from layover.stores.execution_search import (
    MOST_ALIKE,
    PartedSearch,
    alike,
    candidates_of,
    from_the_end,
    is_search,
    merged,
    with_tag_of,
)
from layover.stores.filters import check_conditions, encode_conditions
from layover.stores.ids import key
from layover.stores.json_contains import check_where
from layover.stores.sqlite.rows import HEAD_COLUMNS, execution_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.core.search_terms import TermSearch
    from layover.ports.view_records import ExecutionFilter, ExecutionRow
    from layover.stores.sqlite.rows import Row

    Values: TypeAlias = dict[str, apsw.SQLiteValue]

# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_NEWEST = (2**63 - 1, b"\xff" * 16)
_CREATED_AT, _ID = HEAD_COLUMNS + 2, 0  # the columns that rows are ordered by


def page(db: apsw.Connection, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions, newest first."""
    ids = (wanted.parent_id, wanted.after[1] if wanted.after is not None else None)
    check_ids([one for one in ids if one is not None])
    check_where(wanted.where)
    check_conditions(wanted.conditions)
    if wanted.terms is not None and wanted.q is None:
        chosen = from_the_end(wanted)
        return _searched(db, chosen, chosen, _ways_of_terms(wanted.terms))
    return _found(db, from_the_end(wanted)) if is_search(wanted) else _listed(db, wanted, _ways(wanted))


def _found(db: apsw.Connection, wanted: ExecutionFilter) -> list[ExecutionRow]:
    limit = at_most(wanted.limit)
    if wanted.q is None:
        return _searched(db, wanted, wanted, _candidates(wanted))
    lists = [_searched(db, with_tag_of(wanted), wanted, [("list_executions_of_tag", {})])]
    for statement, first, last in alike(wanted.q):
        of_id = statement == "list_executions_of_ids_from"
        ends: Values = {"first": key(first), "last": key(last)} if of_id else {"first": first, "last": last}
        lists.append(_listed(db, wanted, [(statement, {**ends, "most": MOST_ALIKE})]))
    return merged(lists, wanted, limit)


def _candidates(wanted: ExecutionFilter) -> list[tuple[str, Values]]:
    found = candidates_of(wanted) if wanted.parent_id is None else None
    return _ways(wanted) if found is None else [(found.statement, {"value": found.value})]


def _searched(
    db: apsw.Connection, read: ExecutionFilter, wanted: ExecutionFilter, ways: list[tuple[str, Values]]
) -> list[ExecutionRow]:
    """Read what statements list in parts, and return what fits a filter."""
    search = PartedSearch(wanted, at_most(wanted.limit))
    while (part := search.part) is not None:
        search.take(_listed(db, replace(read, after=part.after, limit=part.limit), ways))
    return search.found[: at_most(wanted.limit)]


def _listed(db: apsw.Connection, wanted: ExecutionFilter, ways: list[tuple[str, Values]]) -> list[ExecutionRow]:
    after_at, after_id = (wanted.after[0], key(wanted.after[1])) if wanted.after is not None else _NEWEST
    limit = at_most(wanted.limit)
    usual: Values = {
        "workflow": wanted.workflow,
        "status": msgspec.json.encode(wanted.status).decode() if wanted.status else None,
        "tag": wanted.tag,
        "where": wanted.where,
        "conditions": encode_conditions(wanted.conditions) if wanted.conditions else None,
        "after_at": after_at,
        "after_id": after_id,
        "limit": limit,
    }
    rows: list[Row] = [row for name, values in ways for row in db.execute(SQL[name], {**usual, **values})]
    if len(ways) > 1:
        distinct = {row[_ID]: row for row in rows}.values()
        rows = sorted(distinct, key=lambda row: (row[_CREATED_AT], row[_ID]), reverse=True)[:limit]
    return list(map(execution_of, rows))


def _ways_of_terms(terms: TermSearch) -> list[tuple[str, Values]]:
    """Return the statements that list what the search index finds, does not have yet, and cannot have."""
    ways: list[tuple[str, Values]] = [("list_executions_of_term", {"term": term}) for term in terms.exact]
    if terms.first is not None:
        ways.append(("list_executions_of_terms_between", {"first": terms.first, "last": terms.last}))
    return [*ways, ("list_unindexed_executions", {}), ("list_executions_of_status", {"one_status": "running"})]


def _ways(wanted: ExecutionFilter) -> list[tuple[str, Values]]:
    """Return the statements whose rows make up the list, each with its own values."""
    if wanted.parent_id is not None:
        return [("list_executions_of_parent", {"parent_id": key(wanted.parent_id)})]
    if wanted.tag is not None:
        return [("list_executions_of_tag", {})]
    if wanted.status and "completed" not in wanted.status:
        return [("list_executions_of_status", {"one_status": status}) for status in set(wanted.status)]
    if wanted.workflow is not None:
        return [("list_executions_of_workflow", {})]
    return [("list_executions", {})]
