"""What executions are searched by: the documents that conditions are compared with, and their search terms.

Both come from the same state, so that the index cannot miss what a comparison would find. Conditions on nodes of all
executions are about every run of a node in the log, in whatever scope. The terms of outputs are shared with those of
`nodes.<id>`, which are about the nodes of the root that have ended.

Filters that few executions fit have terms, too: how long it took, and of its nodes the longest time, the codes of
errors and the statuses, but for `completed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.conditions import PathCondition
from layover.core.engine.scope_lookup import ScopeLookup
from layover.core.input_index import document_of, fault_of
from layover.core.search_terms import TermSearch, below, searches_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.conditions import Operator
    from layover.core.engine.state import ExecutionState
    from layover.core.search_terms import Path, Terms
    from layover.interface.requests import NodeSearch
    from layover.ports.records import Entry
    from layover.ports.view_records import ExecutionFilter, ExecutionRow
    from layover.runtime.execution.replay import Versions
    from layover.runtime.queries.log_views import LogViews
    from layover.runtime.queries.node_executions import NodeDraft

MOST_EVENTS: Final = 1_000  # of a log that is read for the runs of its nodes; it would be read again at each rest
UNREADABLE: Final = terms_of((), [()])  # of an execution that cannot be read: every search looks at it
_RUNS: Final = "runs of nodes"  # no condition has this root, and none has the others
_USUAL: Final = "completed"  # the status of most nodes
_FACTS: Final = "facts"
_FACTS_OF_RUNS: Final = "facts of nodes"


def state_document(state: ExecutionState) -> dict[str, object]:
    """Return what can be asked of an execution; there is no output before it has come to its end."""
    facts, root = state.facts, state.scopes.get("")
    document: dict[str, object] = {
        "trigger": facts.trigger,
        "vars": (root.variables or {}) if root is not None else {},
        "nodes": ScopeLookup(state, "")["nodes"],
    }
    return {**document, "output": facts.output} if facts.closed == "completed" else document


async def read_nodes(
    row: ExecutionRow, views: LogViews, versions: Versions, log: Sequence[Entry] = ()
) -> Sequence[NodeDraft] | None:
    """Return the nodes of an execution, None if its log is too long; the log may have been read already."""
    return (await views.read(row, versions, log)).nodes if row.head.last_seq < MOST_EVENTS else None


def terms_of_execution(state: ExecutionState, row: ExecutionRow, nodes: Sequence[NodeDraft] | None) -> Terms:
    """Return the search terms of an execution whose row belongs to a state, with the nodes that were read of it."""
    documents = list(_documents(state))
    if row.finished_at is not None:
        documents.append(((_FACTS, "took"), row.finished_at - row.info.created_at))
    if nodes is None:
        return terms_of(documents, [(_RUNS,), (_FACTS_OF_RUNS,)])
    for node in nodes:
        documents += [(("nodes", node.node), node.output), ((_RUNS, node.node), node.input)]
    documents.append(((_FACTS_OF_RUNS,), _facts_of(nodes)))
    return terms_of(documents)


def _facts_of(nodes: Sequence[NodeDraft]) -> dict[str, object]:
    return {
        "status": sorted({node.status for node in nodes} - {_USUAL}),
        "error": sorted({node.error.code for node in nodes if node.error is not None}),
        "took": max((node.duration_ms for node in nodes if node.duration_ms is not None), default=None),
    }


def _documents(state: ExecutionState) -> Iterator[tuple[Path, object]]:
    document = state_document(state)
    yield ("trigger",), document["trigger"]
    yield ("vars",), document["vars"]
    if "output" in document:
        yield ("output",), document["output"]
    given = document_of(state.facts.input)
    if given is not None and fault_of(given) is None:
        yield ("input",), state.facts.input
    for name, node in state.nodes.rows.items():
        if ":" not in name and node.status in ("completed", "failed"):
            yield ("nodes", name), node.output


def searches_of_run(condition: PathCondition, node: str) -> Iterator[TermSearch]:
    """Return searches that find all executions in which a run of a node may fulfil a condition."""
    root, *path = condition.path
    begin = (_RUNS, node) if root == "input" else ("nodes", node)
    for search in searches_of(PathCondition(path=(*begin, *path), op=condition.op, value=condition.value)):
        yield search if root == "input" else below(search, (_RUNS,))


def searches_of_filter(wanted: ExecutionFilter) -> Iterator[TermSearch]:
    """Return searches that find all executions that fit a filter, by what has no other index."""
    if wanted.min_duration is not None:
        yield from searches_of(PathCondition(path=(_FACTS, "took"), op=">=", value=wanted.min_duration))


def searches_of_nodes(wanted: NodeSearch) -> Iterator[TermSearch]:
    """Return searches that find all executions with nodes that fit a filter."""
    if wanted.error_code is not None:
        yield from _of_runs("error", "=", wanted.error_code)
    if wanted.min_duration is not None:
        yield from _of_runs("took", ">=", wanted.min_duration)
    if wanted.status and _USUAL not in wanted.status:
        each = [search for status in wanted.status for search in _of_runs("status", "=", status)]
        yield TermSearch(tuple(dict.fromkeys(term for search in each for term in search.exact)))


def _of_runs(name: str, op: Operator, value: object) -> Iterator[TermSearch]:
    path = (_FACTS_OF_RUNS, name, "0") if op == "=" else (_FACTS_OF_RUNS, name)  # an element of an array
    yield from searches_of(PathCondition(path=path, op=op, value=value))
