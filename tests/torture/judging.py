"""What must hold when all is over: the logs, held against each other and against what was done to the world."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.ports.view_records import ExecutionFilter
from layover.runtime.maintenance.verify import violations
from layover.runtime.plans import Plans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.plan import Plan
    from layover.ports.store import Inspectable
    from layover.ports.view_records import ExecutionRow

    from .functions import World
    from .random_operations import Promise, RandomOperations

_ENDS = (ev.ExecutionCompleted, ev.ExecutionFailed, ev.ExecutionCancelled)
# Milliseconds by which the clocks of two processes, each set by the same one, may differ.
_SKEW = 40


class Finding(NamedTuple):
    """Something that must not be; without an execution it is about all of them."""

    execution_id: str
    message: str


class Journey(NamedTuple):
    """An execution with all that happened to it, and when."""

    row: ExecutionRow
    plan: Plan
    log: list[tuple[int, ev.AnyEvent]]

    @property
    def id(self) -> str:
        """Its id."""
        return self.row.head.execution_id


async def judge(store: Inspectable, world: World, operations: RandomOperations) -> list[Finding]:
    """Return everything that is not as it must be."""
    acknowledged, purged = operations.acknowledged, operations.purged
    found = [Finding(one.execution_id, f"verify: {one.code}: {one.message}") for one in await violations(store)]
    journeys = await read(store)
    found += (
        Finding(id_, "was acknowledged, and is gone")
        for id_ in acknowledged
        if id_ not in journeys and id_ not in purged
    )
    # Who was purged may have been begun again under the same key: nobody can tell any more who made which call.
    known = {id_: journey for id_, journey in journeys.items() if id_ not in purged}
    found += _check_calls(known, world)
    found += _check_values(known, world)
    found += _check_promises(known, operations.promised)
    found += _check_families(journeys)
    found += _check_limits(journeys)
    found += _check_rates(journeys)
    return found


async def read(store: Inspectable) -> dict[str, Journey]:
    """Read all there is."""
    found: dict[str, Journey] = {}
    after: tuple[int, str] | None = None
    plans = Plans(store)
    while rows := await store.queries.list_executions(ExecutionFilter(after=after, limit=500)):
        for row in rows:
            found[row.head.execution_id] = await _journey(store, row, plans)
        after = (rows[-1].info.created_at, rows[-1].head.execution_id)
    return found


async def read_one(store: Inspectable, execution_id: str) -> Journey | None:
    """Read one execution, if it is there."""
    row = await store.queries.find_execution(execution_id)
    return await _journey(store, row, Plans(store)) if row is not None else None


async def _journey(store: Inspectable, row: ExecutionRow, plans: Plans) -> Journey:
    entries = await store.queries.read_history(row.head.execution_id, 0, 1_000_000)
    log = [(entry.at, event) for entry in entries for event in decode_events(entry.events)]
    return Journey(row, await plans.of(row.info.hash), log)


def _check_calls(journeys: dict[str, Journey], world: World) -> Iterable[Finding]:
    """Every call is in the log, as often as it was made: so what is completed was not called again (see `ran_again`).

    An execution that is durable by the leg may repeat what was not yet written.
    """
    made = Counter((id_, node, int(attempt)) for id_, node, attempt in world.lines("calls"))
    known: Counter[tuple[str, str, int]] = Counter()
    for journey in journeys.values():
        known.update((journey.id, e.node, e.attempt) for _, e in journey.log if isinstance(e, ev.NodeStarted))
    for (id_, node, attempt), times in made.items():
        journey_of = journeys.get(id_)
        if journey_of is None or journey_of.plan.definition.settings.durability == "leg":
            continue
        if times > known[id_, node, attempt]:
            logged = known[id_, node, attempt]
            yield Finding(id_, f"attempt {attempt} of `{node}` was called {times} times; its log knows of {logged}")


def _check_values(journeys: dict[str, Journey], world: World) -> Iterable[Finding]:
    """What is done once has one value under its key, and a function is given no other."""
    recorded: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for journey in journeys.values():
        current: dict[tuple[str, str], object] = {}
        for _, event in journey.log:
            if isinstance(event, ev.NodeRewound | ev.ExecutionReopened):
                current.clear()  # what was dropped is done anew
            elif isinstance(event, ev.NodeRecorded):
                if (event.node, event.key) in current:
                    yield Finding(journey.id, f"`{event.key}` of `{event.node}` was recorded twice")
                current[event.node, event.key] = event.value
                recorded[journey.id, event.node, event.key].add(str(event.value))
    made = {(id_, node, key, value) for id_, node, key, value in world.lines("made")}
    for id_, node, key, value in world.lines("seen"):
        if id_ not in journeys:
            continue
        if value not in recorded[id_, node, key]:
            yield Finding(id_, f"a function of `{node}` was given {value} for `{key}`, which is not in its log")
        if (id_, node, key, value) not in made:
            yield Finding(id_, f"a function of `{node}` was given {value} for `{key}`, which nobody made")


def _check_promises(journeys: dict[str, Journey], promised: Iterable[Promise]) -> Iterable[Finding]:
    """Every answer that was taken was heard, unless the point was given up meanwhile."""
    for promise in promised:
        journey = journeys.get(promise.execution_id)
        if journey is not None and not any(_keeps(promise, event) for _, event in journey.log):
            yield Finding(journey.id, f"the answer to the point {promise.point} was taken, and never heard")


def _keeps(promise: Promise, event: ev.AnyEvent) -> bool:
    match event:
        case ev.PausePointDecided():
            return event.point == promise.point and event.decision.by == promise.by
        case ev.PausePointAnswered():
            return event.point == promise.point and not promise.by
        case ev.PausePointCancelled():
            return event.point == promise.point
        case _:
            return False


def _check_families(journeys: dict[str, Journey]) -> Iterable[Finding]:
    """Each child that is waited for reports once, and what it reports is how it ended."""
    for child in journeys.values():
        _, created = child.log[0]
        assert isinstance(created, ev.ExecutionCreated)
        parent = journeys.get(created.parent or "")
        if created.parent_point is None or parent is None:
            continue
        answers = [e for _, e in parent.log if isinstance(e, ev.PausePointAnswered) and e.point == created.parent_point]
        ends = [e for _, e in child.log if isinstance(e, _ENDS)]
        if len(answers) > 1:
            yield Finding(child.id, f"it reported {len(answers)} times to its parent {parent.id}")
        for answer in answers:
            if not any(_tells(answer, end) for end in ends):
                yield Finding(child.id, f"its parent {parent.id} was told {answer}, which is not how it ended")


def _tells(answer: ev.PausePointAnswered, end: ev.AnyEvent) -> bool:
    """Return whether an answer is what a child that ended so reports."""
    match end:
        case ev.ExecutionCompleted():
            return answer.error is None and answer.output == end.output
        case _:
            return answer.error is not None


def _check_limits(journeys: dict[str, Journey]) -> Iterable[Finding]:
    """Never do more run under a name than the limit that was asked for by any of those who run.

    Who is taken up again after its end runs beside them.
    """
    moments: dict[str, list[tuple[int, int, str, int]]] = defaultdict(list)
    for journey in journeys.values():
        limit = journey.plan.definition.settings.concurrency
        if limit is None:
            continue
        started = next((at for at, event in journey.log if isinstance(event, ev.ExecutionStarted)), None)
        ends = [at for at, event in journey.log if isinstance(event, _ENDS)]
        ended = ends[0] if ends else None
        if started is None or (ended is not None and ended <= started + _SKEW):
            continue
        name = f"{journey.row.info.workflow}{_lane(journey) if limit.key else ''}"
        moments[name].append((started + _SKEW, 1, journey.id, limit.limit))
        if ended is not None:
            moments[name].append((ended, -1, journey.id, limit.limit))
    for name, changes in moments.items():
        running: dict[str, int] = {}
        for _, change, id_, limit_of in sorted(changes):
            if change < 0:
                running.pop(id_, None)
                continue
            running[id_] = limit_of
            if len(running) > max(running.values()):
                yield Finding(id_, f"{len(running)} ran at once as `{name}`: {', '.join(running)}")


def _check_rates(journeys: dict[str, Journey]) -> Iterable[Finding]:
    """Never have more started than the rate lets start until then, since the first was created."""
    starts: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for journey in journeys.values():
        rate = journey.plan.definition.settings.rate
        started = next((at for at, event in journey.log if isinstance(event, ev.ExecutionStarted)), None)
        if rate is not None and started is not None:
            name = f"{journey.row.info.hash} {rate.limit} {rate.per}"
            starts[name].append((started, journey.log[0][0], journey.id))
    for name, found in starts.items():
        _, limit, per = name.split()
        begun = min(created for _, created, _ in found) - _SKEW
        for index, (started, _, id_) in enumerate(sorted(found)):
            if index > int(limit) + (started - begun) * int(limit) / int(per):
                yield Finding(id_, f"{index + 1} started within {started - begun} ms; {limit} may in {per} ms")
                break


def _lane(journey: Journey) -> str:
    _, created = journey.log[0]
    given = created.input if isinstance(created, ev.ExecutionCreated) else None
    return f" lane {given['lane']}" if isinstance(given, dict) and "lane" in given else ""


def told(journey: Journey) -> str:
    """Return what happened to an execution, a line for each event."""
    return "\n".join(
        f"  {seq:4} {at} {type(event).__name__} {msgspec.json.encode(event).decode()[:300]}"
        for seq, (at, event) in enumerate(journey.log)
    )
