"""What the variables of an execution are, told from its log alone: the sum of what was set and is still meant.

It shares nothing with the engine: scopes are paths, and what comes after a node is read from the definition as written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.engine import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.plan import Plan

Values = dict[str, object]


class NaivePast:
    """Who set which variables in which scope, in order; what was dropped is taken out."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sets: dict[str, list[tuple[str, Values]]] = {}
        self._carried: list[tuple[str, Values]] = []
        self._early: Values = {}
        self._is_started = False

    def read(self, events: Iterable[ev.AnyEvent]) -> None:
        """Read more of the log."""
        for event in events:
            match event:
                case ev.ExecutionForked():
                    self._carried = [(one.node, one.values) for one in event.sets]
                case ev.ExecutionStarted():
                    self._is_started = True
                    self._sets[""] = [("", self._plan.definition.variables), *self._carried, ("", self._early)]
                case ev.ExecutionResumed() if self._is_started:
                    self._sets[""].append(("", event.data or {}))
                case ev.ExecutionResumed():
                    self._early = {**self._early, **(event.data or {})}
                case ev.VariableSet():
                    self._sets[event.scope].append((event.node, event.values))
                case ev.ScopeOpened():
                    self._open(event.node, event.key)
                case ev.NodeRewound() if event.error is None:
                    self.drop(self._behind(event.node))
                case _:
                    pass

    def variables(self, path: str) -> Values:
        """Return the variables of a scope that has its own."""
        found: Values = {}
        for _, values in self._sets[path]:
            found |= values
        return found

    def has_own(self, path: str) -> bool:
        """Return whether a scope has variables of its own."""
        return path in self._sets

    def is_behind(self, name: str, to: str) -> bool:
        """Return whether a node is another one, comes after it, or is within one that does."""
        return _is_among(name, self._behind(to))

    def _open(self, container: str, key: int | str) -> None:
        name, _, path = container.partition(":")
        if self._node(container)["type"] == "parallel":
            around = path
            while around not in self._sets:
                around = around.rpartition(":")[0]
            self._sets[f"{path}:{name}.{key}".lstrip(":")] = [("", self.variables(around))]

    def drop(self, names: set[str]) -> None:
        """Take out what some nodes have set, or nodes within them."""
        for path, sets in self._sets.items():
            self._sets[path] = [(node, values) for node, values in sets if not _is_among(node, names)]

    def _behind(self, to: str) -> set[str]:
        """Return a node and all that come after it, in its scope."""
        path = to.partition(":")[2]
        found, left = set[str](), [to]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                after = self._planned(name).ports.values()
                graph = self._graph(path)
                ids = [graph.nodes[index].id for targets in after for index in targets]
                left += [f"{id_}:{path}" if path else id_ for id_ in ids]
        return found

    def _node(self, name: str) -> dict[str, Any]:
        return {"type": self._planned(name).node.type}

    def _planned(self, name: str) -> Any:
        return self._graph(name.partition(":")[2]).node(name.partition(":")[0])

    def _graph(self, path: str) -> Any:
        graph: Any = self._plan.graph
        for step in path.split(":") if path else ():
            container, _, key = step.partition(".")
            bodies = graph.node(container).bodies
            graph = bodies[""] if "" in bodies else bodies[key]
        return graph


def _is_among(name: str, names: set[str]) -> bool:
    """Return whether a node is one of some nodes, or somewhere within one of them."""
    while name:
        if name in names:
            return True
        path = name.partition(":")[2]
        around, _, step = path.rpartition(":")
        container = step.partition(".")[0]
        name = (f"{container}:{around}" if around else container) if path else ""
    return False
