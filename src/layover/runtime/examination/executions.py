"""The executions: which could go on and do not, and what piles up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from layover.core.definitions.durations import brief_duration, format_duration
from layover.model.diagnosis import Finding, judged
from layover.runtime.dispatch.purger import horizons
from layover.runtime.execution.unknown_commands import kinds_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from layover.core.engine.state import ExecutionStatus
    from layover.core.plan import PlannedGraph
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.operations.operations import Operations

_LATE: Final = 60_000  # milliseconds for which something may be due without being done
_PAGE: Final = 1_000
_MOST_TOLD: Final = 20
_MOST_MESSAGES: Final = 1_000
_MANY_CLOSED: Final = 100_000
_OPEN: Final[tuple[ExecutionStatus, ...]] = ("pending", "running", "pausing", "waiting", "paused")


def tell_counts(counts: Mapping[ExecutionStatus, int]) -> Finding:
    """Tell how many executions there are."""
    told = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
    return Finding("database", "ok", f"opens; executions: {told or 'none'}")


def judge_instances(living: Collection[str], counts: Mapping[ExecutionStatus, int], how_to_start: str) -> Finding:
    """Judge whether instances are alive that could go on with what is open."""
    count = f"{len(living):,} instance{'' if len(living) == 1 else 's'} alive"
    is_open = any(counts.get(status) for status in _OPEN)
    hint = f"Start one: {how_to_start}" if is_open and not living else ""
    return judged("instances", f"{count}{': ' if living else ''}{', '.join(living)}", hint)


class OpenExecutions:
    """One pass over all open executions, or over the newest so many: which are due, held by the dead, or stuck.

    `known` are the types of nodes that this machine has; without them it is not said which are missing.
    """

    def __init__(
        self,
        runtime: Operations,
        living: Collection[str] | None,
        known: frozenset[str] | None = None,
        most: int | None = None,
    ) -> None:
        self._runtime = runtime
        self._living = frozenset(living) if living is not None else None
        self._known = known
        self._most = most
        self._seen = 0
        self._now = runtime.instance.clock.now()
        self._oldest: int | None = None  # since when an execution is due
        self._due = 0
        self._left: Counter[str] = Counter()  # by the instance that holds them and is not alive
        self._hashes: Counter[str] = Counter()  # of the versions that they run
        self._stuck: list[Finding] = []

    async def findings(self) -> list[Finding]:
        """Return what is told of them."""
        after = None
        while True:
            page = await self._runtime.lists.list(status=_OPEN, after=after, limit=_PAGE)
            for row in page:
                await self._look_at(row)
            self._seen += len(page)
            if len(page) < _PAGE:
                break
            if self._most is not None and self._seen >= self._most:
                return [*await self._judged(), self._left_out()]
            after = (page[-1].info.created_at, page[-1].head.execution_id)
        return await self._judged()

    async def _judged(self) -> list[Finding]:
        return [self._queue(), *self._leases(), *await self._functions(), *self._stuck]

    def _left_out(self) -> Finding:
        hint = "`layover doctor` with the address of the database looks at all of them."
        return Finding("executions", "warning", f"only the newest {self._seen:,} open ones were looked at", hint)

    async def _look_at(self, row: ExecutionRow) -> None:
        head = row.head
        self._hashes[row.info.hash] += 1
        if head.owner is not None and self._living is not None and head.owner not in self._living:
            self._left[head.owner] += 1
        if head.wake_at is not None and head.wake_at <= self._now and not head.missing:
            self._due += 1
            self._oldest = min(head.wake_at, self._oldest or head.wake_at)
        trouble = _trouble(row, self._now)
        if trouble and len(self._stuck) < _MOST_TOLD:
            what, hint = trouble
            summary = (await self._runtime.queries.why(head.execution_id)).summary
            self._stuck.append(Finding(f"execution {head.execution_id}", "warning", f"{what}: {summary}", hint))

    def _queue(self) -> Finding:
        if self._oldest is None:
            return Finding("queue", "ok", "nothing is due")
        waits = self._now - self._oldest
        hint = "Start more workers, or raise `executions` and `calls`: work comes faster than it is done."
        text = f"{self._due:,} due, the oldest for {brief_duration(waits)}"
        return judged("queue", text, hint if waits > _LATE else "")

    def _leases(self) -> Iterator[Finding]:
        for owner, count in self._left.most_common(_MOST_TOLD):
            hint = "Another instance takes them over when the leases run out; start one if none is alive."
            executions = f"{count:,} execution{'' if count == 1 else 's'}"
            yield Finding("leases", "warning", f"{executions} held by {owner}, which is not alive", hint)

    async def _functions(self) -> list[Finding]:
        """Return which functions open executions may call that this machine does not have."""
        if self._known is None:
            return []
        missing: Counter[str] = Counter()
        for hash_, count in self._hashes.items():
            plan = await self._runtime.instance.plans.of(hash_)
            for type_ in sorted(set(_called_in(plan.graph)) - self._known):
                missing[type_] += count
        hint = f"Give them to an instance: --nodes MODULE with {', '.join(sorted(missing))}." if missing else ""
        told = ", ".join(f"{type_} ({count:,} open)" for type_, count in missing.most_common(_MOST_TOLD))
        return [judged("functions", f"missing here: {told}" if told else "all that open executions may call", hint)]


def _called_in(graph: PlannedGraph) -> Iterator[str]:
    """Yield the types of nodes that call a function, also in the bodies of containers."""
    for node in graph.nodes:
        if node.calls:
            yield node.calls
        for body in node.bodies.values():
            yield from _called_in(body)


def _trouble(row: ExecutionRow, now: int) -> tuple[str, str] | None:
    """Return what is wrong with an open execution at a glance, and the fix; nothing if it rests as it should."""
    head = row.head
    if head.missing:
        since = f" for {brief_duration(now - head.missing_since)}" if head.missing_since is not None else ""
        if kinds := kinds_in(head.missing):
            told = f"no instance understands the command {', '.join(kinds)}{since}"
            return told, "Start an instance of the release that sent it."
        told = f"no instance has a function and a free call slot for {', '.join(head.missing)}{since}"
        return told, "Start an instance with the function (--nodes), or raise `calls`."
    if head.takeovers > 1:
        hint = f"It may end its instances: read their logs; `layover pause {head.execution_id}` holds it meanwhile."
        return f"lost {head.takeovers} instances in a row", hint
    if head.wake_at is not None and now - head.wake_at > _LATE:
        return f"due for {brief_duration(now - head.wake_at)} and not claimed", "Start a worker that has its functions."
    return None


async def examine_outbox(runtime: Operations) -> Finding:
    """Tell whether messages are delivered in time."""
    now = runtime.instance.clock.now()
    found = await runtime.instance.store.outbox.read_due(now, _MOST_MESSAGES)
    late = [message for message in found.due if now - message.due_at > _LATE]
    if not late:
        return Finding("outbox", "ok", "no message is late")
    oldest = min(message.due_at for message in late)
    senders = len({message.sender for message in late})
    waits = brief_duration(now - oldest)
    text = f"{len(late):,} messages of {senders:,} executions not delivered, the oldest for {waits}"
    hint = "Start an instance: any delivers them. If one runs, its log says why not (`layover.outbox_relay`)."
    return Finding("outbox", "warning", text, hint)


async def examine_retention(runtime: Operations, closed: int) -> Finding:
    """Tell whether closed executions are ever deleted."""
    instance = runtime.instance
    kept = instance.settings.retention
    expiring = await horizons(instance.store, instance.plans, instance.clock.now(), None) if kept is None else []
    text = f"{closed:,} closed executions{f'; deleted after {_days(kept)}' if kept is not None else ''}"
    hint = ""
    if kept is None and not expiring and closed >= _MANY_CLOSED:
        hint = "Set `retention`, or that of workflows: nothing is ever deleted, and the database grows."
    return judged("retention", text, hint)


def _days(length: int) -> str:
    """Return a length as people give a retention: in days where that is exact."""
    days, rest = divmod(length, 86_400_000)
    return f"{days}d" if days and not rest else format_duration(length)
