"""Node executions found across executions: those that fit are listed newest first, and their logs read.

Executions whose graph has no such node are passed over, and a page reads a bounded number of logs; it may have few
nodes, or none, while more are left. For conditions on the input or output of a node whose id is given, the search index
finds the executions.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from layover.core.conditions import holds
from layover.errors import InvalidInput
from layover.model.node_searches import FoundNode
from layover.ports.errors import StoreUnavailable
from layover.runtime.queries.search import parsed
from layover.runtime.queries.search_documents import searches_of_nodes, searches_of_run
from layover.runtime.queries.term_choice import choose_terms
from layover.runtime.results.executions import node_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.conditions import PathCondition
    from layover.core.plan import Plan, PlannedGraph
    from layover.interface.requests import NodeSearch
    from layover.ports.view_records import ExecutionFilter, ExecutionRow
    from layover.runtime.instance import Instance
    from layover.runtime.queries.node_executions import NodeDraft

_log = logging.getLogger("layover.queries")

MOST_LOOKED_AT: Final = 1_000  # executions, for one page
MOST_EVENTS: Final = 100_000  # of their logs
_AT_ONCE: Final = 100


class NodePlace(NamedTuple):
    """Where a page begins: at a place among the nodes of an execution."""

    created_at: int
    execution_id: str
    place: int


class NodePage(NamedTuple):
    """Nodes, each with where it stands, and where the next page begins; None on the last page."""

    nodes: list[tuple[FoundNode, NodePlace]]
    following: NodePlace | None = None


async def find_nodes(
    instance: Instance,
    executions: ExecutionFilter,
    wanted: NodeSearch,
    begin: NodePlace | None,
    *,
    tracebacks: bool,
) -> NodePage:
    """Find nodes of the executions that a filter chooses, as many as its limit says."""
    conditions = _conditions(wanted)
    if wanted.node is not None or wanted.type is not None:
        hashes = await instance.node_index.hashes_with(executions.workflow, node_type=wanted.type, node=wanted.node)
        executions = replace(executions, hashes=hashes)
    searches = [*searches_of_nodes(wanted)]
    if wanted.node is not None:
        searches += [search for condition in conditions for search in searches_of_run(condition, wanted.node)]
    executions = replace(executions, terms=await choose_terms(instance.store, executions, searches))
    limit, found, events = executions.limit, list[tuple[FoundNode, NodePlace]](), MOST_EVENTS
    first = begin.place if begin is not None else 0
    rows = await _begun_with(instance, begin)
    after = (begin.created_at, begin.execution_id) if begin is not None else None
    following: NodePlace | None = None
    for _ in range(MOST_LOOKED_AT // _AT_ONCE):
        rows += await instance.store.queries.list_executions(replace(executions, after=after, limit=_AT_ONCE + 1))
        for row in rows[:_AT_ONCE]:
            here = NodePlace(row.info.created_at, row.head.execution_id, 0)
            if len(found) == limit or events <= 0:
                return NodePage(found, here)
            events -= row.head.last_seq + 1
            for place, node in await _nodes_of(instance, row, wanted, first):
                if not _fulfils(node, conditions):
                    continue
                if len(found) == limit:
                    return NodePage(found, here._replace(place=place))
                found.append((_found(row, node, tracebacks=tracebacks), here._replace(place=place)))
            first, after = 0, (here.created_at, here.execution_id)
            await asyncio.sleep(0)
        if len(rows) <= _AT_ONCE:
            return NodePage(found)
        following = NodePlace(rows[_AT_ONCE].info.created_at, rows[_AT_ONCE].head.execution_id, 0)
        rows = []
    return NodePage(found, following)


def _conditions(wanted: NodeSearch) -> Sequence[PathCondition]:
    conditions = parsed(wanted.where)
    for condition in conditions:
        if condition.path[0] not in ("input", "output"):
            where = ".".join(condition.path)
            text = f"`{where}`: a condition on a node begins with `input` or `output`, as in `output.total>=12`."
            raise InvalidInput(text, code="invalid_filter")
    return conditions


def _fulfils(node: NodeDraft, conditions: Sequence[PathCondition]) -> bool:
    document = {"input": node.input}
    if node.status in ("completed", "failed"):  # as of an execution, there is no output before the end
        document["output"] = node.output
    return all(holds(condition, document) for condition in conditions)


async def _begun_with(instance: Instance, begin: NodePlace | None) -> list[ExecutionRow]:
    """Return the execution in which a page begins, unless it was purged."""
    row = await instance.store.queries.find_execution(begin.execution_id) if begin is not None else None
    return [row] if row is not None else []


async def _nodes_of(
    instance: Instance, row: ExecutionRow, wanted: NodeSearch, first: int
) -> Sequence[tuple[int, NodeDraft]]:
    """Return the nodes of an execution that are wanted, with their places."""
    try:
        plan = await instance.plans.of(row.info.hash)
        if not _may_have(plan, wanted):
            return []
        nodes = (await instance.log_views.of(row, instance.plans)).nodes
    except StoreUnavailable:  # then all of them are out of reach, and an answer would be a guess
        raise
    except Exception as error:  # noqa: BLE001 - one log that cannot be read must not hide the others
        _log.exception("load_failed execution=%s error=%r", row.head.execution_id, error)
        return []
    return [(place, node) for place, node in enumerate(nodes) if place >= first and _is_wanted(node, wanted)]


def _may_have(plan: Plan, wanted: NodeSearch) -> bool:
    """Return whether the graph has a node of the wanted type and name at all."""
    if wanted.node is None and wanted.type is None:
        return True
    return _has(plan.graph, wanted)


def _has(graph: PlannedGraph, wanted: NodeSearch) -> bool:
    return any(
        (wanted.node in (None, one.node.id) and wanted.type in (None, one.node.type))
        or any(_has(body, wanted) for body in one.bodies.values())
        for one in graph.nodes
    )


def _is_wanted(node: NodeDraft, wanted: NodeSearch) -> bool:
    took = node.duration_ms
    return (
        wanted.node in (None, node.node)
        and wanted.type in (None, node.type)
        and (not wanted.status or node.status in wanted.status)
        and (wanted.error_code is None or (node.error is not None and node.error.code == wanted.error_code))
        and (wanted.min_duration is None or (took is not None and took >= wanted.min_duration))
        and (wanted.max_duration is None or (took is not None and took <= wanted.max_duration))
    )


def _found(row: ExecutionRow, node: NodeDraft, *, tracebacks: bool) -> FoundNode:
    return FoundNode(
        execution_id=row.head.execution_id,
        workflow=row.info.workflow,
        version=row.version,
        execution_status=row.head.status,
        node=node_of(node, tracebacks=tracebacks),
    )
