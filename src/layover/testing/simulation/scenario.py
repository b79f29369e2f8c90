"""What is simulated: workflows with their functions, what executions begin with, and what people answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from layover.nodes.registry import Registry
from layover.runtime.operations.workflows import as_plan
from layover.runtime.plans import read_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction
    from layover.ports.records import PointRow


class Start(NamedTuple):
    """An execution to begin."""

    workflow: str
    input: object = None
    key: str | None = None


def _answer(_chance: Random, _row: PointRow) -> object:
    return {}


def _no_signals(_start: Start) -> Sequence[tuple[str, str]]:
    return ()


@dataclass(frozen=True)
class Scenario:
    """What there is to do, apart from what goes wrong."""

    workflows: Sequence[Any]  # as `Engine.register` takes them
    functions: Sequence[AnyFunction]
    start: Callable[[Random, int], Start]  # the nth of them
    answer: Callable[[Random, PointRow], object] = _answer  # to a form; and the reply to a callback
    probes: Mapping[str, AnyFunction] = field(default_factory=dict)
    undos: Mapping[str, AnyFunction] = field(default_factory=dict)
    # What one seed starts, if it is not all of it
    focus: Callable[[Random], Callable[[Random, int], Start]] | None = None
    cancels: bool = True  # people cancel some executions
    rewinds: bool = False  # and take others back
    # The nth new version of one of the workflows, registered while executions run
    deploy: Callable[[Random, int], object] | None = None
    # Names and keys of signals that an execution will wait for: some come before it does
    signals: Callable[[Start], Sequence[tuple[str, str]]] = _no_signals
    never: frozenset[str] = frozenset()  # signals that may never come
    # Another input under the same key
    twin: Callable[[Random, Start], Start] | None = None

    @cached_property
    def plans(self) -> list[Plan]:
        """The workflows, read once for all runs."""
        return [as_plan(workflow, None) for workflow in self.workflows]

    @cached_property
    def _described(self) -> Registry:
        registry = Registry()
        for function in self.functions:
            registry.add(function)
        for name, probe in self.probes.items():
            registry.add_probe(name, probe)
        for name, undo in self.undos.items():
            registry.add_undo(name, undo)
        return registry

    def furnish(self, registry: Registry, *, without: str = "") -> None:
        """Give an engine the functions but one; what is to be known about them is worked out once for all runs."""
        described = self._described
        for name in sorted(described.names() - {without}):
            registry.put(name, described.find(name))
        for name in described.names() - {without}:
            if name in described.probes:
                registry.put_probe(name, described.find_probe(name))
            if name in described.undos:
                registry.put_undo(name, described.find_undo(name))

    @cached_property
    def _read(self) -> dict[bytes, Plan]:
        return {}

    def read_plan(self, document: bytes) -> Plan:
        """Return the plan of a stored definition; it is the same for every engine of every run."""
        plan = self._read.get(document)
        if plan is None:
            plan = self._read[document] = read_plan(document)
        return plan
