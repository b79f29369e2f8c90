"""What is simulated: workflows with their functions, what executions begin with, and what people answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

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
