"""Containers: which rounds and branches are opened, what each collects, and when the container is done.

A loop has one scope open at a time, a parallel as many as its `concurrency` allows. The items are fixed when the
container is entered and recorded with that event; the condition of a `while` is evaluated before each round. Halted
scopes that are due again come before scopes that have not been opened yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from layover.core.context_ids import context_id
from layover.core.definitions.node_types import Loop, Parallel
from layover.core.engine import events as ev
from layover.core.engine.failures import error_of, fail, fail_scope
from layover.core.engine.halting import next_due
from layover.core.engine.rewind import reopen_scope
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.decision_context import DecisionContext
    from layover.core.plan import PlannedNode

_MOST_ROUNDS = 1_000_000
_MOST_DETAILS = 100  # failures listed in the error; the others are in the log


def enter(context: DecisionContext, name: str, planned: PlannedNode) -> None:
    """Enter a container: fix its items and open its first scopes."""
    try:
        items = _items(context, name, planned)
    except ExpressionError as failure:
        fail(context, name, error_of(failure))
        return
    context.emit(ev.NodeScheduled(node=name, node_type=planned.node.type, attempt=1))
    context.emit(ev.NodeStarted(node=name, attempt=1, input=items))
    limit = planned.node.max_iterations if isinstance(planned.node, Loop | Parallel) else None
    rounds = len(items) if isinstance(items, list) else items
    if limit is not None and isinstance(rounds, int) and rounds > limit:
        fail(context, name, _too_many(limit))
        return
    continue_container(context, name)


def continue_container(context: DecisionContext, name: str) -> None:
    """Open the next scopes of a container, or end it."""
    _continue(context, name, context.state.planned(name))


def _continue(context: DecisionContext, name: str, planned: PlannedNode) -> None:
    try:
        if isinstance(planned.node, Loop):
            _next_round(context, name, planned, planned.node)
        elif isinstance(planned.node, Parallel):
            _next_branches(context, name, planned.node)
    except ExpressionError as failure:
        fail(context, name, error_of(failure))


def close_scope(context: DecisionContext, path: str) -> None:
    """Close a scope all of whose nodes are settled, and go on with its container."""
    scope = context.state.scopes.rows[path]
    planned = context.state.planned(scope.node)
    try:
        output = collected_output(context, path, planned, scope.node)
        broken = "break_if" in planned.expressions and context.holds(path, scope.node, planned, "break_if", None)
    except ExpressionError as failure:
        container = fail_scope(context, path, error_of(failure))
        if container is not None:
            fail(context, container, error_of(failure))
        return
    context.emit(ev.ScopeClosed(node=scope.node, key=scope.key, end="broken" if broken else "done", output=output))
    if broken:
        _end_loop(context, scope.node)
    else:
        _continue(context, scope.node, planned)


def collected_output(context: DecisionContext, path: str, planned: PlannedNode, name: str) -> object:
    """Return the output of a scope: by `collect`, or the output of its leaf, or of its leaves by id."""
    if "collect" in planned.renderers:
        return context.render_in(path, name, planned, "collect")
    return bounded(leaf_output(context, path), "The output of the last nodes")


def leaf_output(context: DecisionContext, path: str) -> object:
    """Return the output of the only node at which a path ended, or a map of several by id."""
    rows = context.state.nodes.rows
    ended: list[tuple[str, object]] = []
    for planned in context.state.graph(path).nodes:
        node = rows.get(context_id(path, planned.id))
        if node is not None and node.port and node.port not in planned.ports:
            ended.append((planned.id, node.output))
    return ended[0][1] if len(ended) == 1 else dict(ended) or None


def _items(context: DecisionContext, name: str, planned: PlannedNode) -> object:
    node = planned.node
    if isinstance(node, Loop) and node.times is not None:
        times = node.times if isinstance(node.times, int) else context.render(name, planned, "times")
        if isinstance(times, bool) or not isinstance(times, int) or not 0 <= times <= _MOST_ROUNDS:
            raise ExpressionError("`times` needs a whole number from 0.", code="invalid_argument")
        return times
    if "for_each" in planned.expressions:
        found = context.evaluate(name, planned, "for_each")
        if not isinstance(found, list):
            raise ExpressionError("`for_each` needs a list.", code="no_such_overload")
        # Only a value that an expression builds can hold something that JSON has not; walking through data costs its
        # size.
        return found if planned.expressions["for_each"].only_reads else to_json(found)
    return None


def _next_round(context: DecisionContext, name: str, planned: PlannedNode, node: Loop) -> None:
    while True:
        row = context.state.node(name)
        if row.open_scopes:
            return
        if row.due_scopes:
            reopen_scope(context, name, next_due(context.state, name)[1])
            return
        key, items = row.next_round, row.input
        if isinstance(items, list):
            more, item = key < len(items), items[key] if key < len(items) else None
        elif isinstance(items, int):
            more, item = key < items, None
        else:
            more, item = context.holds(context.scope_of(name), name, planned, "while", {node.index_as: key}), None
        if not more:
            _end_loop(context, name)
            return
        if node.max_iterations is not None and key >= node.max_iterations:
            fail(context, name, _too_many(node.max_iterations))
            return
        if not _is_skipped(context, name, planned, node, item):
            context.emit(ev.ScopeOpened(node=name, key=key, item=item))
            return
        context.emit(ev.ScopeClosed(node=name, key=key, end="skipped"))


def _is_skipped(context: DecisionContext, name: str, planned: PlannedNode, node: Loop, item: object) -> bool:
    if "skip_if" not in planned.expressions:
        return False
    given: dict[str, object] = {node.index_as: context.state.node(name).next_round}
    if node.for_each is not None:
        given[node.as_] = item
    return context.holds(context.scope_of(name), name, planned, "skip_if", given)


def _end_loop(context: DecisionContext, name: str) -> None:
    row = context.state.node(name)
    kept = (context.state.collected[name, key] for key in range(row.next_round))
    output = [one.output for one in kept if one.kept]
    _complete(context, name, output)


def _next_branches(context: DecisionContext, name: str, node: Parallel) -> None:
    keys: Sequence[int | str] = [branch.id for branch in node.branches]
    items = context.state.node(name).input
    if node.body is not None:
        keys = range(len(cast("list[object]", items)))
    most = node.concurrency or len(keys)
    while (row := context.state.node(name)).due_scopes and row.open_scopes < most:
        reopen_scope(context, name, next_due(context.state, name)[1])
    while (row := context.state.node(name)).next_round < len(keys) and row.open_scopes < most:
        key = keys[row.next_round]
        item = cast("list[object]", items)[key] if isinstance(key, int) else None
        context.emit(ev.ScopeOpened(node=name, key=key, item=item))
    if row.open_scopes == 0:
        _end_parallel(context, name, node, keys)


def _end_parallel(context: DecisionContext, name: str, node: Parallel, keys: Sequence[int | str]) -> None:
    results = {key: context.state.collected[name, key] for key in keys}
    errors = {str(key): row.error for key, row in results.items() if row.error is not None}
    if errors and node.on_failure != "continue":
        fail(context, name, next(iter(errors.values())))
        return
    outputs = [row.output for row in results.values()]
    output: object = outputs if node.body is not None else dict(zip(map(str, keys), outputs, strict=True))
    error = None
    if errors:
        listed = list(errors.items())[:_MOST_DETAILS]
        details = [{"key": key, "code": one.code, "message": one.message} for key, one in listed]
        message = f"{len(errors)} of {len(keys)} branches failed."
        error = ev.Error(code="branches_failed", message=message, context_id=name, details=details)
    _complete(context, name, output, error)


def _complete(context: DecisionContext, name: str, output: object, error: ev.Error | None = None) -> None:
    try:
        bounded(output, "The collected output")
    except ExpressionError as failure:
        fail(context, name, error_of(failure))
        return
    duration = context.now - context.state.node(name).started_at
    context.emit(ev.NodeCompleted(node=name, output=output, duration_ms=duration, error=error))
    context.settled.append(context.scope_of(name))


def _too_many(limit: int) -> ev.Error:
    message = f"More than {limit} iterations: `max_iterations` says how many there may be."
    return ev.Error(code="too_many_iterations", message=message, retryable=False)
