"""Lists of executions, newest first, each by the index that reads the fewest rows in vain.

A parent, an input or a tag is shared by few executions, so it comes first. Then comes the status: all but completed
executions are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.view_records import ExecutionFilter
from layover.stores.checks import at_most, check_ids
from layover.stores.execution_search import (
    MOST_ALIKE,
    Candidates,
    PartedSearch,
    alike,
    candidates_of,
    from_the_end,
    is_search,
    merged,
    with_tag_of,
)
from layover.stores.execution_waits import MOST_WAITING, kinds_awaited, of_those_that_wait, those_that_wait
from layover.stores.filters import check_conditions, document_fulfils
from layover.stores.json_contains import check_where, document_contains
from layover.stores.postgres.rows import execution_of

if TYPE_CHECKING:
    from layover.core.search_terms import TermSearch
    from layover.ports.view_records import ExecutionRow
    from layover.stores.execution_search import AlikeCandidates
    from layover.stores.postgres.database import Row, StatementRunner

# A first page begins beyond any row: the same comparison then serves every page, and uses the index.
_NEWEST = (2**63 - 1, "ffffffff-ffff-ffff-ffff-ffffffffffff")
_FIRST_PART, _LARGEST_PART = 100, 1_000  # executions whose inputs are read by one statement


async def page(db: StatementRunner, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions, newest first.

    The server cannot check conditions. With conditions, executions that fit the rest of the filter are read in parts
    until the page is full: no statement takes long, and nothing is read twice, since the order never changes.
    """
    check_ids(id_ for id_ in (wanted.parent_id, wanted.after and wanted.after[1]) if id_ is not None)
    check_where(wanted.where)
    check_conditions(wanted.conditions)
    limit = at_most(wanted.limit)
    if is_search(wanted):
        narrowed = of_those_that_wait(from_the_end(wanted))
        return await _found(db, narrowed, limit) if narrowed is not None else []
    if not wanted.conditions or not limit:
        return await _part(db, wanted)
    found: list[ExecutionRow] = []
    part = replace(wanted, limit=min(limit, _FIRST_PART))
    while rows := await _part(db, part):
        found += await _beginning_with(db, rows, replace(wanted, where=None))  # its rows contain that
        if len(found) >= limit or len(rows) < part.limit:
            break
        last = rows[-1]
        after = (last.info.created_at, last.head.execution_id)
        part = replace(part, after=after, limit=min(4 * part.limit, _LARGEST_PART))
    return found[:limit]


async def _found(db: StatementRunner, wanted: ExecutionFilter, limit: int) -> list[ExecutionRow]:
    found = alike(wanted.q) if wanted.q is not None else []
    counts = [await db.fetch(one.counted_by, one.first, one.last, MOST_ALIKE + 1) for one in found]
    if not found or any(count > MOST_ALIKE for ((count,),) in counts):
        if wanted.terms is not None:
            return await _of_terms(db, wanted, wanted.terms)
        return await _searched(db, wanted, wanted, candidates_of(wanted) or await _of_others(db, wanted))
    lists = [await _searched(db, with_tag_of(wanted), wanted, None)]
    named = ExecutionFilter(after=wanted.after, limit=wanted.limit)
    lists += [await _searched(db, named, wanted, one) for one in found]
    return merged(lists, wanted, limit)


async def _searched(
    db: StatementRunner,
    read: ExecutionFilter,
    wanted: ExecutionFilter,
    candidates: Candidates | AlikeCandidates | None,
) -> list[ExecutionRow]:
    """Read candidates in parts, and return what fits a filter."""
    search = PartedSearch(wanted, at_most(wanted.limit))
    if read.parent_id is not None or read.where is not None:  # shared by few
        candidates = None
    while (part := search.part) is not None:
        chosen = replace(read, after=part.after, limit=part.limit)
        if candidates is None:
            rows = await _part(db, chosen)
        else:
            after = chosen.after if chosen.after is not None else _NEWEST
            found = await db.fetch(candidates.statement, chosen.limit, *after, *candidates.values)
            rows = [execution_of(row) for row in found]
        search.take(rows, await _waiting(db, await _beginning_with(db, rows, wanted), wanted))
    return search.found[: at_most(wanted.limit)]


async def _of_terms(db: StatementRunner, wanted: ExecutionFilter, terms: TermSearch) -> list[ExecutionRow]:
    """Read in parts what the search index finds, does not have yet, and cannot have; return what fits a filter."""
    search = PartedSearch(wanted, at_most(wanted.limit))
    while (part := search.part) is not None:
        after = part.after if part.after is not None else _NEWEST
        values = (part.limit, *after, list(terms.exact), terms.first, terms.last)
        rows = [execution_of(row) for row in await db.fetch("list_executions_of_terms", *values)]
        search.take(rows, await _waiting(db, await _beginning_with(db, rows, wanted), wanted))
    return search.found[: at_most(wanted.limit)]


async def _of_others(db: StatementRunner, wanted: ExecutionFilter) -> Candidates | None:
    """Return the executions of all points of which one has to be open, if those are few; or those of definitions."""
    kinds = kinds_awaited(wanted)
    if wanted.tag is not None:
        return None
    if kinds is None:
        of_status = bool(wanted.status) and "completed" not in wanted.status
        return None if of_status or not wanted.hashes else Candidates("list_executions_of_hashes", [*wanted.hashes])
    points = await db.fetch("executions_of_waiting_points", list(kinds), MOST_WAITING + 1)
    if len(points) > MOST_WAITING:
        return None
    return Candidates("list_executions_of_ids", list({row[0] for row in points}))


async def _waiting(db: StatementRunner, rows: list[ExecutionRow], wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Return the executions that wait on what a filter says."""
    if not wanted.on or not rows:
        return rows
    kinds: dict[str, set[str]] = {}
    for id_, kind in await db.fetch("open_kinds_of_executions", [row.head.execution_id for row in rows]):
        kinds.setdefault(id_, set()).add(kind)
    return those_that_wait(rows, kinds, wanted)


async def _beginning_with(db: StatementRunner, rows: list[ExecutionRow], wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Return the executions whose input contains and fulfils what a filter asks for."""
    if not rows or (wanted.where is None and not wanted.conditions):
        return rows
    ids = [row.head.execution_id for row in rows]
    inputs = {row[0]: row[1].encode() for row in await db.fetch("inputs_of_executions", ids)}
    where, given = wanted.where, ((row, inputs.get(row.head.execution_id)) for row in rows)
    return [
        row
        for row, document in given
        if (where is None or document_contains(document, where))
        and (not wanted.conditions or document_fulfils(document, wanted.conditions))
    ]


async def _part(db: StatementRunner, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """List executions without checking conditions."""
    return [execution_of(row) for row in await _rows(db, wanted)]


async def _rows(db: StatementRunner, wanted: ExecutionFilter) -> list[Row]:
    """Read executions by the index that fits the filter best."""
    after = wanted.after if wanted.after is not None else _NEWEST
    statuses = list(dict.fromkeys(wanted.status)) or None
    workflow, usual = wanted.workflow, (statuses, at_most(wanted.limit), *after)
    where = wanted.where.decode() if wanted.where is not None else None
    if wanted.parent_id is not None:
        return await db.fetch("list_executions_of_parent", *usual, workflow, wanted.parent_id, wanted.tag, where)
    if where is not None:
        return await db.fetch("list_executions_of_input", *usual, workflow, where, wanted.tag)
    if wanted.tag is not None:
        return await db.fetch("list_executions_of_tag", *usual, workflow, wanted.tag)
    if statuses is not None and "completed" not in statuses:
        return await db.fetch("list_executions_of_status", *usual, workflow)
    if workflow is not None:
        return await db.fetch("list_executions_of_workflow", *usual, workflow)
    return await db.fetch("list_executions", *usual)
