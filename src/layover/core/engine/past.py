"""What the log knows and the state does not: who has set which variables, and what has called in scopes that are done.

The state knows what a variable is, not what it was. So an act that drops results reads the log: each value that was set
is kept here with the node that set it, in the order of the log. Without the values of the dropped nodes, the others add
up to what the variables would be if those nodes had not run. Values from operators and from nodes that keep their
results stay. And a container that begins anew repeats calls of rounds and branches that have left nothing behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.core.context_ids import renamed, renamed_path
from layover.core.engine import events as ev
from layover.core.engine.evolve import fold
from layover.core.engine.node_transitions import container_of, scope_path
from layover.core.engine.repeats import has_called
from layover.core.engine.rewind import is_among, names_behind
from layover.core.engine.rewind_basis import RewindBasis, VariablesThen
from layover.core.engine.state import ExecutionState, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from layover.core.engine.commands import Rewind
    from layover.core.plan import Plan


def outermost(context: str) -> str:
    """Return the node outside all scopes that a node is in, or itself."""
    name, _, path = context.partition(":")
    return path.partition(":")[0].partition(".")[0] if path else name


class Restored(NamedTuple):
    """Variables that get back an earlier value, and those that did not exist then.

    Where a branch has variables of its own, those of the execution are the `root_` ones: an answer sets both.
    """

    variables: dict[str, object]
    unset: tuple[str, ...]
    root_variables: dict[str, object]
    root_unset: tuple[str, ...]

    def within(self, command: Rewind) -> Rewind:
        """Return a rewind that gives them back."""
        return replace(
            command,
            variables=self.variables,
            unset=self.unset,
            root_variables=self.root_variables,
            root_unset=self.root_unset,
        )


class Past:
    """What one execution has set and called, up to an event."""

    def __init__(self, plan: Plan) -> None:
        self.state = ExecutionState(plan)
        self.sets: dict[str, list[ev.CarriedSet]] = {}
        self.called: set[str] = set()  # containers in which something was called, and what a fork took over as called

    def read(self, entries: Iterable[tuple[int, ev.AnyEvent]]) -> Past:
        """Read more of the log."""
        for at, event in entries:
            if isinstance(event, ev.NodeRewound):
                self._forget(event)
            facts = self.state.facts
            fold(self.state, [(at, event)])
            match event:
                case ev.ExecutionStarted():
                    defaults, early = self.state.plan.definition.variables, facts.early
                    self.sets[""] = [_set("", defaults), *facts.carried_sets, _set("", early)]
                    taken_over = [(name, self.state.node(name)) for name in facts.carried]
                    self.called.update(name for name, node in taken_over if has_called(self.state, name, node))
                case ev.ExecutionResumed() if event.data and facts.started_at:
                    self.sets[""].append(_set("", event.data))
                case ev.ExecutionMoved():
                    self._move(event.names)
                case ev.VariableSet():
                    self.sets[event.scope].append(_set(event.node, event.values))
                case ev.ScopeOpened():
                    path = scope_path(event.node, event.key)
                    copied = self.state.scopes[path].variables
                    if copied is not None:
                        self.sets[path] = [_set("", copied)]
                case ev.NodeStarted() | ev.PausePointOpened() if ":" in event.node:
                    if has_called(self.state, event.node, self.state.node(event.node)):
                        self.called.update(_containers_around(event.node))
                case _:
                    pass
        return self

    def restored(self, to: str) -> Restored:
        """Return what becomes of the variables when a node and all behind it are dropped."""
        path, names = self._variable_scope(to.partition(":")[2]), names_behind(self.state, to)
        variables, unset = self._without(path, names)
        return Restored(variables, unset, *(self._without("", names) if path else ({}, ())))

    def rewind(self, command: Rewind) -> Rewind:
        """Return a rewind that knows what the variables are at its event, and what they get back."""
        path, names = self._variable_scope(command.to.partition(":")[2]), names_behind(self.state, command.to)
        own = self._then(path, names)
        basis = RewindBasis(at=self.state.counts["seq"] - 1, own=own, root=self._then("", names) if path else own)
        return self.restored(command.to).within(replace(command, basis=basis))

    def _then(self, path: str, names: Sequence[str]) -> VariablesThen:
        sets = self.sets.get(path, [])
        return VariablesThen(_sum(sets), _sum([one for one in sets if not _is_by(one, names)]))

    def _without(self, path: str, names: Sequence[str]) -> tuple[dict[str, object], tuple[str, ...]]:
        """Return which variables of a scope are others without what some nodes have set, and which are not there."""
        sets = self.sets.get(path, [])
        touched = {name for one in sets if _is_by(one, names) for name in one.values}
        before, after = _sum(sets), _sum([one for one in sets if not _is_by(one, names)])
        changed = {name: after[name] for name in sorted(touched) if name in after and after[name] != before[name]}
        return changed, tuple(sorted(name for name in touched if name not in after))

    def _forget(self, event: ev.NodeRewound) -> None:
        """Forget what dropped nodes have set, if it was taken back, or if it made no difference.

        Rewinds of earlier releases, and those that a failure after an answer causes, leave variables as they are.
        """
        own, names = self._variable_scope(event.node.partition(":")[2]), names_behind(self.state, event.node)
        for path in sorted({own, ""}):
            of_own, of_root = event.variables or event.unset, event.root_variables or event.root_unset
            sets = self.sets.get(path, [])
            kept = [one for one in sets if not _is_by(one, names)]
            if (of_own if path == own else of_root) or _sum(kept) == _sum(sets):
                self.sets[path] = kept

    def _move(self, names: dict[str, str]) -> None:
        """Go on by another version: follow nodes that have another id there, and know its variables.

        What a removed node has set no longer counts as set by a node if another one has its id now.
        """
        replaced = frozenset(names.values()) - names.keys()
        moved: dict[str, list[ev.CarriedSet]] = {}
        for path, sets in self.sets.items():
            if not _is_within_any(path, replaced):
                moved[renamed_path(path, names)] = [_renamed_set(one, names, replaced) for one in sets]
        self.sets = moved
        self.called = {renamed(one, names) for one in self.called if not _is_gone(one, replaced)}
        if "" in self.sets:  # the first are the defaults
            defaults = self.state.plan.definition.variables
            self.sets[""][0] = _set("", {**defaults, **self.sets[""][0].values})

    def _variable_scope(self, path: str) -> str:
        """Return the path of the scope that holds the variables of a scope, which may be halted."""
        while self._scope(path).variables is None:
            path = path.rpartition(":")[0]
        return path

    def _scope(self, path: str) -> Scope:
        halted = self.state.halted.get(path)
        return halted.scope if halted is not None else self.state.scopes[path]


def _set(node: str, values: dict[str, object]) -> ev.CarriedSet:
    return ev.CarriedSet(node=node, values=values)


def _renamed_set(one: ev.CarriedSet, names: dict[str, str], replaced: frozenset[str]) -> ev.CarriedSet:
    return _set("" if _is_gone(one.node, replaced) else renamed(one.node, names), one.values)


def _is_gone(context: str, replaced: frozenset[str]) -> bool:
    name, _, path = context.partition(":")
    return name in replaced or _is_within_any(path, replaced)


def _containers_around(context: str) -> Iterator[str]:
    while path := context.partition(":")[2]:
        context = container_of(path)
        yield context


def _is_within_any(path: str, containers: frozenset[str]) -> bool:
    return any(step.partition(".")[0] in containers for step in path.split(":"))


def _is_by(one: ev.CarriedSet, names: Sequence[str]) -> bool:
    return bool(one.node) and is_among(one.node, names)


def _sum(sets: Iterable[ev.CarriedSet]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in sets:
        found.update(one.values)
    return found
