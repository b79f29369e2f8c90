"""What an instance counts of itself.

Only sums are kept, so it costs the same however long it runs. What can be read from the database is not counted here.
The path of a step pays for one pass over its few events and one histogram; everything else is counted where it is rare.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

from layover.core.engine import commands as cmd
from layover.core.engine.events import ExecutionResumed, NodeFailed, PausePointApplied
from layover.metrics.distribution import Distribution
from layover.metrics.families import CALLS, LIVES, PAUSES, SECONDS, SIZES
from layover.metrics.labels import LabelValues
from layover.metrics.samples import Samples
from layover.ports.records import ClosedPoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Append

_RARE: Final = frozenset({ExecutionResumed, NodeFailed, PausePointApplied})
_OUTCOMES: Final[dict[type, str]] = {
    cmd.Complete: "completed",
    cmd.Fail: "failed",
    cmd.Ask: "paused",
    cmd.Sleep: "paused",
    cmd.Probed: "probed",
    cmd.Undone: "undone",
    type(None): "stopped",
}
_MOST_OUTCOMES: Final = 20


class Metrics:
    """The sums of an instance."""

    def __init__(self) -> None:
        self.started: Counter[str] = Counter()  # by workflow
        self.closed: Counter[tuple[str, str, str]] = Counter()  # by workflow, status and outcome
        self.retries: Counter[str] = Counter()  # by workflow
        self.incidents: Counter[str] = Counter()  # the same
        self.paused = 0
        self.resumed = 0
        self.resume_errors = 0
        self.takeovers = 0
        self.leases_lost = 0
        self.trigger_inputs: Counter[tuple[str, str]] = Counter()  # by trigger and outcome
        self.webhooks_refused: Counter[str] = Counter()  # by reason
        self.batch_items: Counter[tuple[str, str]] = Counter()  # by act and what became of them
        self.deliveries: Counter[tuple[str, str]] = Counter()  # by destination and outcome
        self._delivery_seconds: dict[str, Distribution] = {}  # by destination
        self.trigger_lateness = Distribution(CALLS)
        self.trigger_poll = Distribution(CALLS)
        self.pause_seconds = Distribution(PAUSES)
        self.resume_latency = Distribution(SECONDS)
        self.cycle_seconds = Distribution(SECONDS)
        self.commit_seconds = Distribution(SECONDS)
        self.commit_size = Distribution(SIZES)
        self._pauses: dict[str, list[float]] = {}  # their sum and number, by workflow
        self._waits: dict[str, Distribution] = {}  # by cause
        self._lives: dict[str, Distribution] = {}  # by status
        self._reads: dict[str, Distribution] = {}  # by operation
        self._attempts: dict[tuple[str, type], Distribution] = {}  # by node type and report
        self._workflows = LabelValues()
        self._node_types = LabelValues()
        self._triggers = LabelValues()
        self._destinations = LabelValues()
        self._outcomes = LabelValues(_MOST_OUTCOMES)

    # Counting

    def wrote(
        self,
        append: Append,
        events: Sequence[object],
        asked_at: Iterable[int],
        paused_at: int | None,
        state: ExecutionState,
    ) -> int | None:
        """Count what an append says of an execution that was paused since a moment, or not; return since when it is.

        `asked_at` are the moments of the commands that it takes note of; the state still knows what it was before.
        """
        for at in asked_at:
            self.resume_latency.observe(max(append.at - at, 0) / 1000)
        for event in events:
            if type(event) in _RARE:
                self.happened(events, state, was_paused=paused_at is not None)
                break
        if append.points:
            self._points_closed(append, state)
        if append.new is not None:
            self.started[self._workflows.bounded(state.facts.workflow)] += 1
        if append.closed is not None:
            self._closed(append, append.closed.outcome, state)
        if paused_at is not None:
            if append.status == "paused":
                return paused_at
            self._pause_ended(append, events, paused_at, state)
            return None
        if append.status != "paused":
            return None
        self.paused += 1
        return append.at

    def happened(self, events: Iterable[object], state: ExecutionState, *, was_paused: bool) -> None:
        """Count resumes and failures among the events of a step."""
        for event in events:
            if isinstance(event, NodeFailed):
                if event.retry_at is not None:
                    self.retries[self._workflows.bounded(state.facts.workflow)] += 1
                elif event.incident:
                    self.incidents[self._workflows.bounded(state.facts.workflow)] += 1
            elif was_paused and type(event) in _RARE:
                self.resumed += 1

    def attempted(self, node_type: str, report: object, seconds: float) -> None:
        """Count a call that took so long and ended with a report, or without one."""
        found = self._attempts.get((node_type, type(report)))
        if found is None:
            key = self._node_types.bounded(node_type), type(report)
            found = self._attempts.get(key)
            if found is None:
                found = self._attempts[key] = Distribution(CALLS)
        found.counts[bisect_left(CALLS, seconds)] += 1
        found.total += seconds

    def trigger_input(self, workflow: str, name: str, outcome: str, count: int = 1) -> None:
        """Count what became of inputs of a trigger."""
        self.trigger_inputs[self._triggers.bounded(f"{workflow}/{name}"), outcome] += count

    def webhook_refused(self, reason: str) -> None:
        """Count a delivery that did not prove who sent it."""
        self.webhooks_refused[reason] += 1

    def count_batch_item(self, act: str, state: str) -> None:
        """Count an item of a batch."""
        self.batch_items[act, state] += 1

    def delivered(self, destination: str, outcome: str, seconds: float) -> None:
        """Count an attempt at a delivery."""
        known = self._destinations.bounded(destination)
        self.deliveries[known, outcome] += 1
        _observe(self._delivery_seconds, known, CALLS, seconds)

    def read(self, operation: str, seconds: float) -> None:
        """Count a read of the store."""
        found = self._reads.get(operation)
        if found is None:
            found = self._reads[operation] = Distribution(SECONDS)
        found.counts[bisect_left(SECONDS, seconds)] += 1
        found.total += seconds

    def _closed(self, append: Append, outcome: str, state: ExecutionState) -> None:
        if not state.facts.closed:
            return  # it was reopened
        workflow = self._workflows.bounded(state.facts.workflow)
        self.closed[workflow, append.status, self._outcomes.bounded(outcome or append.status)] += 1
        _observe(self._lives, append.status, LIVES, max(append.at - state.facts.created_at, 0) / 1000)

    def _points_closed(self, append: Append, state: ExecutionState) -> None:
        """Count how long closed points were open; they are gone from the state, but can still be gone back to."""
        closed = [change.id for change in append.points if isinstance(change, ClosedPoint)]
        if not closed:
            return
        stood = state.undo_log.overwritten(state.points.rows)
        for point in closed:
            if (was := stood.get(point)) is not None:
                _observe(self._waits, was.kind, PAUSES, max(append.at - was.opened_at, 0) / 1000)

    def _pause_ended(self, append: Append, events: Iterable[object], paused_at: int, state: ExecutionState) -> None:
        seconds = max(append.at - paused_at, 0) / 1000
        self.pause_seconds.observe(seconds)
        sums = self._pauses.setdefault(self._workflows.bounded(state.facts.workflow), [0.0, 0])
        sums[0] += seconds
        sums[1] += 1
        if any(isinstance(event, ExecutionResumed) for event in events):
            _observe(self._waits, "operator", PAUSES, seconds)
        elif not append.points and append.closed is None:
            _observe(self._waits, "incident", PAUSES, seconds)

    # Telling

    def snapshot(self) -> Samples:
        """Return all sums."""
        found = Samples()
        for name, value in (
            ("workflow_executions_paused_total", self.paused),
            ("workflow_executions_resumed_total", self.resumed),
            ("workflow_executions_resume_errors_total", self.resume_errors),
            ("layover_lease_takeovers_total", self.takeovers),
            ("layover_leases_lost_total", self.leases_lost),
        ):
            found.add(name, value)
        self._add_counts(found)
        for workflow in self._workflows:  # so that the first of something is seen as a change
            found.add("layover_retries_total", 0, workflow)
            found.add("layover_incidents_total", 0, workflow)
            for status, outcome in (("completed", "executed"), ("failed", "failed")):
                found.add("layover_executions_closed_total", 0, workflow, status, outcome)
        for labels, count in self.closed.items():
            found.add("layover_executions_closed_total", count, *labels)
        for name, distribution in (
            ("workflow_resumer_worker_cycle_duration_seconds", self.cycle_seconds),
            ("workflow_executions_pause_duration_seconds", self.pause_seconds),
            ("layover_resume_latency_seconds", self.resume_latency),
            ("layover_trigger_lateness_seconds", self.trigger_lateness),
            ("layover_trigger_poll_seconds", self.trigger_poll),
            ("layover_commit_duration_seconds", self.commit_seconds),
            ("layover_commit_batch_size", self.commit_size),
        ):
            found.add_distribution(name, distribution)
        for name, distributions in (
            ("layover_wait_duration_seconds", self._waits),
            ("layover_execution_duration_seconds", self._lives),
            ("layover_store_read_duration_seconds", self._reads),
            ("layover_deliveries_seconds", self._delivery_seconds),
        ):
            for label, distribution in distributions.items():
                found.add_distribution(name, distribution, label)
        for (node_type, report), distribution in self._attempts.items():
            outcome = _OUTCOMES.get(report, "completed")
            found.add_distribution("layover_node_attempt_duration_seconds", distribution, node_type, outcome)
        for workflow, sums in self._pauses.items():
            found.add_summary("layover_workflow_pause_duration_seconds", sums[0], sums[1], workflow)
        return found

    def _add_counts(self, found: Samples) -> None:
        for name, counts in (
            ("layover_executions_started_total", self.started),
            ("layover_retries_total", self.retries),
            ("layover_incidents_total", self.incidents),
        ):
            for workflow, count in counts.items():
                found.add(name, count, workflow)
        for trigger, count in self.trigger_inputs.items():
            found.add("layover_trigger_inputs_total", count, *trigger)
        for labels, count in self.batch_items.items():
            found.add("layover_batch_items_total", count, *labels)
        for labels, count in self.deliveries.items():
            found.add("layover_deliveries_total", count, *labels)
        for reason, count in self.webhooks_refused.items():
            found.add("layover_webhooks_refused_total", count, reason)


def _observe(found: dict[str, Distribution], label: str, bounds: tuple[float, ...], value: float) -> None:
    distribution = found.get(label)
    if distribution is None:
        distribution = found[label] = Distribution(bounds)
    distribution.observe(value)
