"""How the events of nodes, scopes and variables change the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.halting import halt_scope
from layover.core.engine.node_transitions import (
    drop_scope,
    forget_rounds,
    is_within,
    make_ready,
    move,
    open_scope,
    scope_path,
    set_variables,
    settle,
    variables_of,
)
from layover.core.engine.state import CALLING, Collected, ExecutionState, NodeState, Scope

if TYPE_CHECKING:
    from layover.core.engine import events as ev
    from layover.core.engine.events import Fate


def scheduled(state: ExecutionState, event: ev.NodeScheduled, _at: int) -> None:
    node = state.node(event.node)
    # A ready node was recovered before, for its probe or its undo: this attempt belongs to the same recovery.
    recovered = event.cause == "recovered" and event.lost and node.status != "ready"
    if event.attempt > state.counts.rows["attempts"]:
        state.counts.put("attempts", event.attempt)
    move(
        state,
        event.node,
        node,
        replace(
            node,
            status="queued" if event.queued else "scheduled",
            attempt=event.attempt,
            recoveries=node.recoveries + recovered,
            ticket=-1,
        ),
    )


def node_started(state: ExecutionState, event: ev.NodeStarted, at: int) -> None:
    node = state.node(event.node)
    status = "entered" if state.planned(event.node).bodies else "running"
    started = replace(node, status=status, attempt=event.attempt, started_at=at, input=event.input, ticket=-1)
    move(state, event.node, node, started)
    if event.timeout_at is not None:
        state.timers.put(event.node, event.timeout_at)


def checkpointed(state: ExecutionState, event: ev.NodeCheckpointed, _at: int) -> None:
    state.nodes.put(event.node, replace(state.node(event.node), checkpoint=event.data))


def recorded(state: ExecutionState, event: ev.NodeRecorded, _at: int) -> None:
    node = state.node(event.node)
    state.nodes.put(event.node, replace(node, journal={**node.journal, event.key: event.value}))


def handed_over(state: ExecutionState, event: ev.NodeHandedOver, _at: int) -> None:
    node = state.node(event.node)
    move(state, event.node, node, replace(node, status="waiting"))


def in_doubt(state: ExecutionState, event: ev.NodeInDoubt, _at: int) -> None:
    state.nodes.put(event.node, replace(state.node(event.node), doubt=True))


def probed(state: ExecutionState, event: ev.NodeProbed, _at: int) -> None:
    if event.happened is False:
        node = state.node(event.node)
        again = replace(node, status="idle", doubt=False)
        move(state, event.node, node, again)
        make_ready(state, event.node, again)


def undo_requested(state: ExecutionState, event: ev.NodeUndoRequested, _at: int) -> None:
    state.nodes.put(event.node, replace(state.node(event.node), doubt=True, undo=True))


def undone(state: ExecutionState, event: ev.NodeUndone, _at: int) -> None:
    """Forget a lost attempt: what it had recorded was taken back with all else, so it must not be found again."""
    node = state.node(event.node)
    again = replace(node, status="idle", doubt=False, undo=False, undo_failures=0, checkpoint=None, journal={})
    move(state, event.node, node, again)
    make_ready(state, event.node, again)


def undo_failed(state: ExecutionState, event: ev.NodeUndoFailed, _at: int) -> None:
    node = state.node(event.node)
    if event.retry_at is None:  # an operator is asked in the same decision
        state.nodes.put(event.node, replace(node, undo=False, undo_failures=0))
        return
    failed = replace(
        node,
        status="backoff",
        undo_failures=node.undo_failures + 1,
        error=event.error,
        closed_seq=state.counts["seq"],
    )
    move(state, event.node, node, failed)
    state.timers.put(event.node, event.retry_at)


def node_completed(state: ExecutionState, event: ev.NodeCompleted, _at: int) -> None:
    node = state.node(event.node)
    done = NodeState(
        status="completed",
        settled=node.settled,
        taken=node.taken,
        attempt=node.attempt,
        failures=node.failures,
        started_at=node.started_at,
        output=event.output,
        port=event.port,
        closed_seq=state.counts.rows["seq"],
        error=event.error,
    )
    move(state, event.node, node, done)
    state.count("completed", 1)
    if node.next_round:
        forget_rounds(state, event.node, node)
    settle(state, event.node, event.port)


def node_failed(state: ExecutionState, event: ev.NodeFailed, _at: int) -> None:
    node = state.node(event.node)
    status = "backoff" if event.retry_at is not None else "incident" if event.incident else "failed"
    failed = replace(
        node,
        status=status,
        failures=node.failures + 1,
        error=event.error,
        port=event.port or "",
        closed_seq=state.counts["seq"],
        ticket=-1,
        point="",
    )
    move(state, event.node, node, failed)
    if event.retry_at is not None:
        state.timers.put(event.node, event.retry_at)
    if status == "failed" and event.port is not None:
        forget_rounds(state, event.node, node)
        settle(state, event.node, event.port)


def wait_skipped(state: ExecutionState, event: ev.WaitSkipped, _at: int) -> None:
    if not event.node:
        state.change(start_at=None)  # what goes on in place of a timer is in the events that follow


def retry_cancelled(_state: ExecutionState, _event: ev.RetryCancelled, _at: int) -> None:
    """Change nothing: the failure that follows does."""


def scope_opened(state: ExecutionState, event: ev.ScopeOpened, _at: int) -> None:
    name, key = event.node, event.key
    container = state.node(name)
    state.nodes.put(
        name, replace(container, open_scopes=container.open_scopes + 1, next_round=container.next_round + 1)
    )
    planned, path = state.planned(name), scope_path(name, key)
    graph = planned.body(key)
    state.keep_graph(path, graph)
    copied = planned.node.type == "parallel"
    variables = variables_of(state, name.partition(":")[2]) if copied else None
    scope = Scope(open=len(graph.nodes), node=name, key=key, item=event.item, variables=variables)
    open_scope(state, path, scope, graph)


def scope_closed(state: ExecutionState, event: ev.ScopeClosed, _at: int) -> None:
    path = scope_path(event.node, event.key)
    if path in state.scopes.rows:
        if event.end in ("failed", "cancelled"):
            _keep_fates(state, path)
            halt_scope(state, path)
        else:
            drop_scope(state, path)
        container = state.node(event.node)
        state.nodes.put(event.node, replace(container, open_scopes=container.open_scopes - 1))
    else:  # a round that was skipped before it began
        container = state.node(event.node)
        state.nodes.put(event.node, replace(container, next_round=container.next_round + 1))
    kept = event.end in ("done", "broken")
    state.collected.put((event.node, event.key), Collected(output=event.output, kept=kept, error=event.error))


def _keep_fates(state: ExecutionState, path: str) -> None:
    """Keep the status of nodes that were in flight when the gate closed, before their scope is forgotten."""
    within = {name: state.node(name).status for name in state.facts.in_flight if is_within(name, path)}
    if within:
        ended: dict[str, Fate] = {name: "stopped" if one in CALLING else one for name, one in within.items()}
        state.change(fates={**state.facts.fates, **ended})


def variable_set(state: ExecutionState, event: ev.VariableSet, _at: int) -> None:
    set_variables(state, event.scope, event.values)
