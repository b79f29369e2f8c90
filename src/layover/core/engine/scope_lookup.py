"""The names that expressions of a node can use, read directly from the state.

Nothing is copied: `nodes` is a view that finds an output when it is read, in the node's own scope first and
then outwards, so that an expression costs the same whatever has happened before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, cast

import msgspec

from layover.core.context_ids import context_id
from layover.core.engine.node_transitions import variables_of
from layover.core.expressions import ExpressionTime
from layover.core.secret_names import secret_reference

if TYPE_CHECKING:
    from layover.core.definitions.node_types import Loop, Parallel
    from layover.core.engine.events import Error
    from layover.core.engine.state import ExecutionState, NodeState


class ScopeLookup(dict[str, object]):
    """The root names at one scope, each found when it is first read; `extra` are names that only some fields have.

    An instance is good for one evaluation: it caches what it has found.
    """

    __slots__ = ("_path", "_state")

    def __init__(self, state: ExecutionState, path: str, extra: Mapping[str, object] | None = None) -> None:
        if extra:
            self.update(extra)
        self._state = state
        self._path = path

    def __missing__(self, name: str) -> object:
        read = _ROOTS.get(name)
        found = read(self._state, self._path) if read is not None else self._of_scopes(name)
        self[name] = found
        return found

    def _of_scopes(self, name: str) -> object:
        """Return the value that a container gives its rounds under a name."""
        state, path = self._state, self._path
        while path:
            scope = state.scopes.rows.get(path)
            if scope is not None and not isinstance(scope.key, str):
                container = cast("Loop | Parallel", state.planned(scope.node).node)
                if name == container.index_as:
                    return scope.key
                if name == container.as_ and container.for_each is not None:
                    return scope.item
            path = path.rpartition(":")[0]
        raise KeyError(name)


def moment(state: ExecutionState, name: str, now: int) -> ExpressionTime:
    """Return the source of `now()` and `uuid()` for a node: the same in every replay of the same step."""
    return ExpressionTime(now, f"{state.facts.id}/{name}/{state.counts.rows['seq']}")


class _View(Mapping[str, object]):
    """One property of each node that has it, by the node's id; the innermost scope counts."""

    __slots__ = ("_has", "_of", "_path", "_state")

    def __init__(
        self, state: ExecutionState, path: str, has: Callable[[NodeState], bool], of: Callable[[NodeState], object]
    ) -> None:
        self._state = state
        self._path = path
        self._has = has
        self._of = of

    def _find(self, name: str) -> NodeState | None:
        path = self._path
        nodes = self._state.nodes.rows
        while True:
            node = nodes.get(context_id(path, name))
            if node is not None and self._has(node):
                return node
            if not path:
                return None
            path = path.rpartition(":")[0]

    def __getitem__(self, name: str) -> object:
        node = self._find(name)
        if node is None:
            raise KeyError(name)
        return self._of(node)

    def get(self, name: str, default: object = None) -> object:
        """Return the property of a node, with a single lookup."""
        node = self._find(name)
        return default if node is None else self._of(node)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        path = self._path
        seen: set[str] = set()
        while True:
            for planned in self._state.graph(path).nodes:
                if planned.id not in seen and planned.id in self:
                    seen.add(planned.id)
                    yield planned.id
            if not path:
                return
            path = path.rpartition(":")[0]

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _has_output(node: NodeState) -> bool:
    return node.status in ("completed", "failed")


def _has_error(node: NodeState) -> bool:
    return node.error is not None


def _output(node: NodeState) -> object:
    return node.output


def _error(node: NodeState) -> object:
    """Return a failure as data; of its fields, only `status` and `details` may be missing."""
    fields = msgspec.structs.asdict(cast("Error", node.error))
    return {name: value for name, value in fields.items() if value is not None}


def _execution(state: ExecutionState, _path: str) -> object:
    facts = state.facts
    is_labelled = facts.version is not None  # earlier releases did not record it
    return {
        "id": facts.id,
        "workflow": facts.workflow,
        "version": facts.version,
        "tags": list(facts.tags) if is_labelled else None,
        "priority": facts.priority if is_labelled else None,
        "correlation_id": facts.correlation_id,
        "created_at": facts.created_at,
        "started_at": facts.started_at,
        "user": facts.user,
        "parent_id": facts.parent,
        "resume_count": facts.resume_count,
    }


def _secrets(state: ExecutionState, _path: str) -> object:
    """Return references to the declared secrets: values are put in when the call is made, and the log has none."""
    return {name: secret_reference(name) for name in state.plan.definition.secrets}


# The callback address is put in when the call is made: the log never holds it.
_CALLBACK: Final[dict[str, object]] = {"url": {"$token": "url"}, "token": {"$token": "token"}}

_ROOTS: dict[str, Callable[[ExecutionState, str], object]] = {
    "input": lambda state, _path: state.facts.input,
    "nodes": lambda state, path: _View(state, path, _has_output, _output),
    "errors": lambda state, path: _View(state, path, _has_error, _error),
    "vars": variables_of,
    "execution": _execution,
    "trigger": lambda state, _path: state.facts.trigger,
    "callback": lambda _state, _path: _CALLBACK,
    "secrets": _secrets,
}
