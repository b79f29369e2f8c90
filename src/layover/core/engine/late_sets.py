"""Variables that were set after the log was read for a rewind, and before the rewind had its turn.

A rewind brings what variables were when it was sent, with and without the nodes that it drops. What has another value
now was set since: by a node that is dropped as well, which is taken back, or by another node or an operator, which
stays. The state tells which nodes have set something since. Only of answers and resumes it does not tell which
variables came with them: where an answer to a dropped node may have brought one, it is taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.definitions.node_types import AskingNode, CallNode, Set
from layover.core.engine.node_transitions import is_settled, variable_scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.commands import Rewind
    from layover.core.engine.rewind_basis import VariablesThen
    from layover.core.engine.state import ExecutionState, NodeState


def with_late_sets(state: ExecutionState, command: Rewind, is_dropped: Callable[[str], bool]) -> Rewind:
    """Return a rewind with the values that variables get back as things stand now."""
    basis = command.basis
    if basis is None or basis.at >= state.counts["seq"] - 1:
        return command
    own = variable_scope(state, command.to.partition(":")[2])
    variables, unset = _restored(state, own, basis.own, basis.at, is_dropped)
    root_variables, root_unset = _restored(state, "", basis.root, basis.at, is_dropped) if own else ({}, ())
    return replace(
        command, variables=variables, unset=unset, root_variables=root_variables, root_unset=root_unset, basis=None
    )


def _restored(
    state: ExecutionState, path: str, then: VariablesThen, at: int, is_dropped: Callable[[str], bool]
) -> tuple[dict[str, object], tuple[str, ...]]:
    changed: dict[str, object] = {}
    unset: list[str] = []
    for name, value in sorted((state.scopes[path].variables or {}).items()):
        is_late = name not in then.all or then.all[name] != value
        if is_late and not _is_set_by_dropped(state, path, name, at, is_dropped):
            continue
        if name not in then.kept:
            unset.append(name)
        elif then.kept[name] != value:
            changed[name] = then.kept[name]
    return changed, tuple(unset)


def _is_set_by_dropped(
    state: ExecutionState, path: str, variable: str, at: int, is_dropped: Callable[[str], bool]
) -> bool:
    """Return whether a variable that was set since an event has its value from a node that is dropped."""
    late = [(node.closed_seq, name) for name, node in state.nodes.rows.items() if node.closed_seq > at]
    setters = [
        (seq, name)
        for seq, name in late
        if isinstance(node := state.planned(name).node, Set)
        and variable in node.values
        and variable_scope(state, name.partition(":")[2]) == path
    ]
    if setters:
        return is_dropped(max(setters)[1])
    # An answer or an operator brought it. Of a node in a round or branch that is done its container is left.
    may_have = [name for name, node in state.nodes.rows.items() if _may_have_asked(state, name, node, at)]
    return any(is_dropped(name) for name in may_have)


def _may_have_asked(state: ExecutionState, name: str, node: NodeState, at: int) -> bool:
    """Return whether an answer to a node, or to one within it, may have been applied since an event."""
    planned = state.planned(name)
    if isinstance(planned.node, AskingNode):
        return node.closed_seq > at
    if planned.bodies:
        return node.closed_seq > at or (node.status != "idle" and not is_settled(node))
    return isinstance(planned.node, CallNode) and (node.closed_seq > at or bool(node.journal))
