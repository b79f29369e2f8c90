"""Simulating a workflow of one's own: the same faults and the same laws, and a seed if one of them is broken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from layover.runtime.operations.workflows import as_plan
from layover.testing.errors import TestKitError
from layover.testing.simulation.lives import LIFE
from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.oracle import LAWS
from layover.testing.simulation.running import minimal, run
from layover.testing.simulation.scenario import Scenario, Start
from layover.testing.simulation.wire import ASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from layover.nodes.registry import AnyFunction
    from layover.ports.records import PointRow
    from layover.testing.simulation.world import Ran

_MOST_LINES = 40


class LawBroken(TestKitError):  # noqa: N818 - it says what happened
    """A simulated run in which something did not hold that must hold whatever goes wrong."""

    def __init__(self, ran: Ran, faults: Sequence[str]) -> None:
        self.seed = ran.seed
        self.broken = ran.broken
        self.faults = tuple(faults)  # the kinds of faults that it takes
        self.trace = ran.lines  # who did what when, with every request to the database
        told = [f"  {one.law} at {one.at:.3f} s: {one.seen}\n    {LAWS[one.law]}" for one in ran.broken]
        takes = f"What it takes: {', '.join(faults) or 'no fault'}. The same again: `seeds=[{ran.seed}]`."
        super().__init__("\n".join([f"Seed {ran.seed} breaks what must hold:", *told, takes, *_end_of(ran)]))


class Simulated(NamedTuple):
    """What was gone through without breaking a law."""

    seeds: int
    hours: float  # of virtual time
    faults: Counter[str]  # that happened, by kind
    statuses: Counter[str]  # in which executions ended


def simulate(  # noqa: PLR0913 - each is named where it is given
    workflow: Any,
    functions: Sequence[AnyFunction] = (),
    *,
    inputs: Sequence[object] = (None,),
    answers: Mapping[str, object] | None = None,
    seeds: Iterable[int] = range(20),
    children: Sequence[Any] = (),
    executions: int = 10,
    cancels: bool = False,
) -> Simulated:
    """Run a workflow again and again while instances die and stand still, lines are cut, clocks step and people hurry.

    It is started with one of the `inputs` each time. Forms, callbacks and signals that are awaited get what `answers`
    has for their node; approvals are decided either way. Functions are called as they are, in virtual time:
    `asyncio.sleep` takes no time. Servers that the seed makes up answer `http` nodes; whatever else needs a network is
    to be faked, and `effect` says what a function does there, which must happen once. Raises LawBroken with the first
    seed that breaks a law; `seeds=[seed]` is the same run again.
    """
    name, known = as_plan(workflow, None).definition.name, dict(answers or {})

    def start(chance: Random, number: int) -> Start:
        return Start(name, chance.choice(list(inputs)), f"start-{number}" if number % 2 else None)

    def answer(_chance: Random, row: PointRow) -> object:
        if row.point.doubt and (life := LIFE.get()) is not None:  # a person looks whether a lost call had its effect
            return {"happened": life.world.effects.were_had_by(row.execution_id, row.point.node)}
        return known.get(row.point.node.partition(":")[0], {})

    scenario = Scenario([*children, workflow], functions, start, answer, cancels=cancels)
    hours, faults, statuses, count = 0.0, Counter[str](), Counter[str](), 0
    for seed in seeds:
        mixture = drawn(seed, executions=executions)
        ran = run(seed, scenario, mixture)
        if ran.broken:
            needed = minimal(seed, scenario, ran.broken[0].law, mixture)
            raise LawBroken(run(seed, scenario, needed, traces=True), needed.faults)
        count, hours = count + 1, hours + ran.seconds / 3600
        faults.update(ran.counts)
        statuses.update(ran.statuses)
    return Simulated(count, hours, faults, statuses)


def _end_of(ran: Ran) -> list[str]:
    """Return the last that happened before the first law was broken, without what instances ask their database."""
    lines: list[str] = []
    for line in ran.lines:
        if ASKS not in line:
            lines.append(line)
        if " BROKEN " in line:
            break
    return ["What happened before:", *lines[-_MOST_LINES:]]
