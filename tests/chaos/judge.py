"""Whether what happened is what was promised: calls as their functions wrote them down, against what callers were told.

Nothing here asks the engine for its opinion of itself, but for how each execution ended.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from .people import CLOSED
from .record import SECOND
from .servers import LEASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .record import Entry, Fault, Record

_LEASE = LEASE * SECOND // 1000
_AFTER_STOP = SECOND  # in which one that was stopped at the last moment before a call may still write it down
_TO_START = 10 * SECOND  # that a process may take until it asks the database for the time
_MOST_POISONED = 12  # calls of a function that kills its process


class Judge:
    """Compares the calls of a run with everything else that is known about it."""

    def __init__(self, record: Record, calls: list[Entry], ends: dict[str, dict[str, object]]) -> None:
        self._record = record
        self._ends = ends
        self._entered: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        self._left: set[str] = set()
        self._shipped: dict[str, Entry] = {}
        for one in calls:
            if one.what == "leave":
                self._left.add(one.token)
                continue
            self._entered[one.execution, one.node].append(one)
            if one.node == "ship":
                self._shipped.setdefault(one.execution, one)
        self._excuses = [fault for fault in record.faults if fault.excuses]
        self._began = {fault.process: fault.begun for fault in record.faults if fault.kind == "began"}

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return sum(len(made) for made in self._entered.values())

    @property
    def repeated(self) -> int:
        """How many of them were made again, each with an excuse or among what is wrong."""
        return sum(len(made) - 1 for made in self._entered.values())

    def findings(self) -> Iterator[str]:
        """Yield everything that is not as it must be."""
        yield from self._ends_are_right()
        yield from self._told_is_durable()
        yield from self._calls_are_needed()
        yield from self._holds_hold()
        yield from self._timeouts_were_calls()

    def _ends_are_right(self) -> Iterator[str]:
        for id_, workflow in self._record.starts.items():
            end = self._ends.get(id_)
            if end is None:
                yield f"{id_} ({workflow}) was acknowledged, and cannot be read at the end"
            elif workflow == "poison":
                calls = len(self._entered[id_, "poison"])
                if end["status"] not in ("failed", "paused") or calls > _MOST_POISONED:
                    yield f"{id_} kills its process: it is {end['status']} after {calls} calls"
            elif end["status"] not in CLOSED:
                yield f"{id_} ({workflow}) is {end['status']} at the end, when nothing disturbs it any more"
            elif end["status"] != "completed" and not self._may_fail(id_, workflow, end):
                yield f"{id_} ({workflow}) is {end['status']}, and nothing in it fails: {end.get('error')}"

    def _may_fail(self, id_: str, workflow: str, end: dict[str, object]) -> bool:
        if workflow == "halves":  # unless its retry was acknowledged
            return id_ not in self._record.retried
        error = end.get("error")
        return workflow == "hurry" and isinstance(error, dict) and error.get("code") == "timeout"

    def _told_is_durable(self) -> Iterator[str]:
        for id_, output in self._record.outputs.items():
            end = self._ends.get(id_)
            if end is not None and (end["status"], end.get("output")) != ("completed", output):
                yield f"{id_} was told to have completed with {output}; it is {end['status']} with {end.get('output')}"
        for id_, end in self._ends.items():
            made = set(_tokens(end.get("output")))
            if unmade := made - self._left:
                yield f"{id_} has an output that no call returned: {sorted(unmade)}"

    def _calls_are_needed(self) -> Iterator[str]:
        for (id_, node), made in self._entered.items():
            if self._record.starts.get(id_) == "poison" or node.startswith("flaky"):
                continue
            shipped = self._shipped.get(id_)
            for before, again in pairwise(made):
                if node != "ship" and shipped is not None and again.at > shipped.at:
                    late = (again.at - shipped.at) / SECOND
                    yield f"{id_} {node} was called {late:.3f} s after its result was used: {again}"
                elif not self._is_excused(before, again):
                    apart = (again.at - before.at) / SECOND
                    yield f"{id_} {node} was called again after {apart:.3f} s without a reason: {before} {again}"

    def _is_excused(self, before: Entry, again: Entry) -> bool:
        if before.token not in self._left and before.process != again.process and self._died(before.process):
            return True
        return any(self._touches(fault, before, again) for fault in self._excuses)

    def _died(self, process: str) -> bool:
        return any(fault.kind == "died" and fault.process == process for fault in self._excuses)

    def _touches(self, fault: Fault, before: Entry, again: Entry) -> bool:
        if fault.process not in ("", before.process):
            return False
        if fault.kind == "died":  # it is noted a little later than it was
            return before.at < fault.ended and fault.begun < again.at + SECOND
        if fault.kind == "clock stepped" and self._began.get(again.process, 0) < fault.begun - _TO_START:
            return False  # it has known the time from before, and knows that the others live
        # Before each call a process looks at its lease: so one that goes on makes none that others have taken.
        longer = _AFTER_STOP if fault.kind == "stopped past the lease" else _LEASE
        return fault.begun < again.at and before.at < fault.ended + longer

    def _holds_hold(self) -> Iterator[str]:
        entered: dict[str, list[Entry]] = defaultdict(list)
        for (id_, _), made in self._entered.items():
            entered[id_] += made
        for hold in self._record.holds:
            for one in entered[hold.execution]:
                if hold.begun < one.at < hold.ended:
                    late = (one.at - hold.begun) / SECOND
                    yield f"{hold.execution} {one.node} was entered {late:.3f} s after its pause was taken: {one}"

    def _timeouts_were_calls(self) -> Iterator[str]:
        for id_, end in self._ends.items():
            error = end.get("error")
            if not isinstance(error, dict) or error.get("code") != "timeout":
                continue
            node, attempt = str(error.get("context_id") or ""), error.get("attempt")
            if node and not any(one.attempt == attempt for one in self._entered[id_, node]):
                yield f"{id_} {node} failed by its timeout in attempt {attempt}, which was never called"


def _tokens(value: object) -> Iterable[str]:
    """Return what in an output comes from calls."""
    if isinstance(value, str):
        return [value] if len(value) == 32 else []
    if isinstance(value, dict):
        return [token for part in value.values() for token in _tokens(part)]
    return [token for part in value for token in _tokens(part)] if isinstance(value, list) else []
