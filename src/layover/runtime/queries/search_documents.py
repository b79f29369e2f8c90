"""What executions are searched by: the documents that conditions are compared with, and their search terms.

Both come from the same state, so that the index cannot miss what a comparison would find. Conditions on nodes of all
executions are about every run of a node in the log, in whatever scope. The terms of outputs are shared with those of
`nodes.<id>`, which are about the nodes of the root that have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.conditions import PathCondition
from layover.core.engine.scope_lookup import ScopeLookup
from layover.core.input_index import document_of, fault_of
from layover.core.search_terms import below, searches_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.engine.state import ExecutionState
    from layover.core.search_terms import Path, Terms, TermSearch
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.replay import Versions
    from layover.runtime.queries.log_views import LogViews

MOST_EVENTS: Final = 1_000  # of a log that is read for the runs of its nodes; it would be read again at each rest
UNREADABLE: Final = terms_of((), [()])  # of an execution that cannot be read: every search looks at it
_RUNS: Final = "runs of nodes"  # no condition has this root


def state_document(state: ExecutionState) -> dict[str, object]:
    """Return what can be asked of an execution; there is no output before it has come to its end."""
    facts, root = state.facts, state.scopes.get("")
    document: dict[str, object] = {
        "trigger": facts.trigger,
        "vars": (root.variables or {}) if root is not None else {},
        "nodes": ScopeLookup(state, "")["nodes"],
    }
    return {**document, "output": facts.output} if facts.closed == "completed" else document


async def read_terms(state: ExecutionState, row: ExecutionRow, views: LogViews, versions: Versions) -> Terms:
    """Return the search terms of an execution whose row belongs to a state."""
    documents = list(_documents(state))
    if row.head.last_seq >= MOST_EVENTS:
        return terms_of(documents, [(_RUNS,)])
    for node in (await views.read(row, versions)).nodes:
        documents += [(("nodes", node.node), node.output), ((_RUNS, node.node), node.input)]
    return terms_of(documents)


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
