"""Lists of executions, newest first, each by the index that reads the fewest rows in vain.

A parent or a tag is shared by few executions, so it comes first. Then comes the status: all but completed executions
are few. Lists of several statuses are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from layover.ports.view_records import ExecutionFilter
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
from layover.stores.execution_waits import MOST_WAITING, kinds_awaited, of_those_that_wait, those_that_wait
from layover.stores.filters import check_conditions, encode_conditions
from layover.stores.ids import key
from layover.stores.ids import text as text_of
from layover.stores.json_contains import check_where
from layover.stores.sqlite.rows import HEAD_COLUMNS, execution_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from layover.core.search_terms import TermSearch
    from layover.ports.view_records import ExecutionRow
    from layover.stores.execution_search import AlikeCandidates
    from layover.stores.sqlite.rows import Row

    Values: TypeAlias = dict[str, apsw.SQLiteValue]

# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_NEWEST = (2**63 - 1, b"\xff" * 16)
_MOST_WORKFLOWS = 50  # whose lists are merged; of more, all executions are gone through
_CREATED_AT, _ID = HEAD_COLUMNS + 2, 0  # the columns that rows are ordered by


def page(db: apsw.Connection, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions, newest first."""
    ids = (wanted.parent_id, wanted.after[1] if wanted.after is not None else None)
    check_ids([one for one in ids if one is not None])
    check_where(wanted.where)
    check_conditions(wanted.conditions)
    if not is_search(wanted):
        return _listed(db, wanted, _ways(wanted))
    narrowed = of_those_that_wait(from_the_end(wanted))
    return _found(db, narrowed) if narrowed is not None else []


def _found(db: apsw.Connection, wanted: ExecutionFilter) -> list[ExecutionRow]:
    found = alike(wanted.q) if wanted.q is not None else []
    if not found or any(_count(db, one) > MOST_ALIKE for one in found):
        ways = _candidates(db, wanted) if wanted.terms is None else _ways_of_terms(wanted.terms)
        return _searched(db, wanted, wanted, ways)
    lists = [_searched(db, with_tag_of(wanted), wanted, [("list_executions_of_tag", {})])]
    named = ExecutionFilter(after=wanted.after, limit=wanted.limit)
    lists += [_searched(db, named, wanted, [(one.statement, _ends(one))]) for one in found]
    return merged(lists, wanted, at_most(wanted.limit))


def _count(db: apsw.Connection, found: AlikeCandidates) -> int:
    count: int = db.execute(SQL[found.counted_by], {**_ends(found), "most": MOST_ALIKE + 1}).get
    return count


def _ends(found: AlikeCandidates) -> Values:
    is_id = found.statement == "list_executions_of_ids_from"
    return {"first": key(found.first), "last": key(found.last)} if is_id else {"first": found.first, "last": found.last}


def _candidates(db: apsw.Connection, wanted: ExecutionFilter) -> list[tuple[str, Values]]:
    found = candidates_of(wanted) if wanted.parent_id is None else None
    if found is not None:
        return [(found.statement, {"value": found.value})]
    kinds, usual = kinds_awaited(wanted), _ways(wanted)
    if kinds is None and usual == [("list_executions", {})] and wanted.hashes is not None:
        given: Values = {"hashes": _list(wanted.hashes), "most": _MOST_WORKFLOWS + 1}
        workflows: list[Values] = [{"workflow": name} for (name,) in db.execute(SQL["workflows_of_hashes"], given)]
        few = len(workflows) <= _MOST_WORKFLOWS
        return [("list_executions_of_workflow", workflow) for workflow in workflows] if few else usual
    if kinds is None or wanted.parent_id is not None or wanted.tag is not None:
        return usual
    points = db.execute(SQL["executions_of_waiting_points"], {"kinds": _list(kinds), "most": MOST_WAITING + 1})
    ids = [id_.hex() for (id_,) in points]
    return usual if len(ids) > MOST_WAITING else [("list_executions_of_ids", {"ids": _list(set(ids))})]


def _waiting(db: apsw.Connection, rows: list[ExecutionRow], wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Return the executions that wait on what a filter says."""
    if not wanted.on or not rows:
        return rows
    kinds: dict[str, set[str]] = {}
    ids = _list([key(row.head.execution_id).hex() for row in rows])
    for id_, kind in db.execute(SQL["open_kinds_of_executions"], {"ids": ids}):
        kinds.setdefault(text_of(id_), set()).add(kind)
    return those_that_wait(rows, kinds, wanted)


def _searched(
    db: apsw.Connection, read: ExecutionFilter, wanted: ExecutionFilter, ways: list[tuple[str, Values]]
) -> list[ExecutionRow]:
    """Read what statements list in parts, and return what fits a filter."""
    search = PartedSearch(wanted, at_most(wanted.limit))
    while (part := search.part) is not None:
        rows = _listed(db, replace(read, after=part.after, limit=part.limit), ways)
        fitting = (
            rows if (read.where, read.conditions) == (wanted.where, wanted.conditions) else _begun(db, rows, wanted)
        )
        search.take(rows, _waiting(db, fitting, wanted))
    return search.found[: at_most(wanted.limit)]


def _begun(db: apsw.Connection, rows: list[ExecutionRow], wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Return the executions whose input contains and fulfils what a filter asks for."""
    ids = _list([key(row.head.execution_id).hex() for row in rows])
    asked = ExecutionFilter(where=wanted.where, conditions=wanted.conditions, limit=len(rows))
    return _listed(db, asked, [("list_executions_of_ids", {"ids": ids})])


def _listed(db: apsw.Connection, wanted: ExecutionFilter, ways: list[tuple[str, Values]]) -> list[ExecutionRow]:
    after_at, after_id = (wanted.after[0], key(wanted.after[1])) if wanted.after is not None else _NEWEST
    limit = at_most(wanted.limit)
    usual: Values = {
        "workflow": wanted.workflow,
        "status": _list(wanted.status) if wanted.status else None,
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


def _list(values: Iterable[str]) -> str:
    return msgspec.json.encode([*values]).decode()
