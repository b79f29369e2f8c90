"""What must be so when all is over, some time after the last fault."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from layover.core.engine import events as ev
from layover.ports.records import CLOSED
from layover.runtime.maintenance.verify import violations
from layover.runtime.plans import Plans
from layover.stores.memory import MemoryStore
from layover.testing.simulation.wire import done_at_once

if TYPE_CHECKING:
    from layover.ports.records import Head
    from layover.testing.simulation.oracle import Oracle
    from layover.testing.simulation.world import World


async def look_at_the_end(world: World, oracle: Oracle) -> None:
    """Look at every execution, at families, and have the history checker look."""
    database = world.database
    for id_, head in list(database.heads.items()):  # it may go on meanwhile
        oracle.promises.look_at_log(id_, oracle.log(id_))
        oracle.spoken.look_at_log(id_, oracle.log(id_))
        await _look_at(world, oracle, id_, head)
    _look_at_children(world, oracle)
    store = MemoryStore(database)
    await store.open("oracle")
    plans = Plans(store)
    plans.read = world.scenario.read_plan
    for one in done_at_once(violations(store, plans)):
        oracle.breaks("VERIFY", f"{one.execution_id} {one.code}: {one.message}")


async def _look_at(world: World, oracle: Oracle, id_: str, head: Head) -> None:
    if head.status not in CLOSED:
        why: Any = await world.requests.ask(lambda engine: engine.queries.why(id_))
        if why is None or not why.reasons:
            said = why.summary if why is not None else "no answer"
            oracle.breaks("ENDS_OR_SAYS_WHY", f"{id_} ({head.workflow}) is {head.status}: {said}")
        elif head.status != "paused":
            oracle.breaks("LIVENESS", f"{id_} ({head.workflow}) is still {head.status}: {why.summary}")
    if id_ in _killers(world, oracle) or _is_crashing(world):
        return
    for event in oracle.log(id_):
        if isinstance(event, ev.NodeFailed) and event.error.code == "max_recoveries":
            oracle.breaks("INNOCENT_GOES_ON", f"{event.node} of {id_} failed for what others did to its instances")


def _killers(world: World, oracle: Oracle) -> dict[str, None]:
    """Return the executions whose calls killed instances, and their ancestors, which fail with the error of a child."""
    found: dict[str, None] = {}
    for killer, _ in oracle.kills:
        id_: str | None = killer
        while id_ is not None and id_ not in found:
            found[id_] = None
            id_ = world.database.infos[id_].parent_id if id_ in world.database.infos else None
    return found


def _is_crashing(world: World) -> bool:
    """Return whether instances die so often by themselves that a call may be lost with each of its tries."""
    mixture = world.mixture
    return bool(mixture.crashes or mixture.crashes_at_points or mixture.stops or mixture.stops_at_points)


def _look_at_children(world: World, oracle: Oracle) -> None:
    """Look that each point at which a child is awaited has one child, and what that came to."""
    children: Counter[str] = Counter()
    ends: dict[str, ev.AnyEvent] = {}
    for id_ in world.database.heads:
        events = oracle.log(id_)
        first = events[0]
        if isinstance(first, ev.ExecutionCreated) and first.parent_point is not None:
            children[first.parent_point] += 1
            if children[first.parent_point] > 1:
                oracle.breaks("CHILD_ONCE", f"{first.parent} has begun two children at {first.parent_point}")
            completed = [one for one in events if isinstance(one, ev.ExecutionCompleted)]
            if completed:
                ends[first.parent_point] = completed[0]
    for id_ in world.database.heads:
        for one in oracle.log(id_):
            if not isinstance(one, ev.PausePointAnswered) or one.point not in ends or one.error is not None:
                continue
            end = ends[one.point]
            if isinstance(end, ev.ExecutionCompleted) and one.output != end.output:
                seen = f"{id_} was told {one.output!r} at {one.point}, where its child came to {end.output!r}"
                oracle.breaks("CHILD_ONCE", seen)
