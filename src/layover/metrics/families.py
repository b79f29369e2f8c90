"""Every metric there is: its name, kind, labels and meaning. What is not here is not exported.

Names begin with `layover_`, but for five that monitoring of workflow resumers has in common. Counters end in `_total`;
lengths of time are in seconds and sizes in bytes. Labels never hold ids, and those whose values users choose are
bounded (`labels.py`). A metric `of="database"` says the same on every instance of a database: take its maximum, not its
sum.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal["counter", "gauge", "histogram", "summary"]

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CALLS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0)
PAUSES: Final = (1.0, 10.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0)
LIVES: Final = (0.01, 0.1, 0.5, *PAUSES)
SIZES: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)


class Family(NamedTuple):
    """A metric: all time series of one name."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    of: Literal["instance", "server", "database"] = "instance"


def _counter(name: str, help_: str, *labels: str) -> Family:
    return Family(name, "counter", help_, labels)


def _gauge(name: str, help_: str, *labels: str) -> Family:
    return Family(name, "gauge", help_, labels)


def _histogram(name: str, help_: str, bounds: tuple[float, ...], *labels: str) -> Family:
    return Family(name, "histogram", help_, labels, bounds)


def _of_database(*families: Family) -> tuple[Family, ...]:
    return tuple(family._replace(of="database") for family in families)


def _of_server(*families: Family) -> tuple[Family, ...]:
    return tuple(family._replace(of="server") for family in families)


_COMMON = (
    _counter("workflow_executions_paused_total", "Executions that came to wait for a person or an operator."),
    _counter("workflow_executions_resumed_total", "Resumes by operators, and answers that were applied."),
    _counter("workflow_executions_resume_errors_total", "Resumes and answers that were refused."),
    _histogram("workflow_resumer_worker_cycle_duration_seconds", "Time to look for due executions.", SECONDS),
    _histogram("workflow_executions_pause_duration_seconds", "Time that executions were paused.", PAUSES),
)
_EXECUTIONS = (
    _counter("layover_executions_started_total", "Executions created here.", "workflow"),
    _counter("layover_executions_closed_total", "Executions that ended here.", "workflow", "status", "outcome"),
    _histogram("layover_execution_duration_seconds", "Time from creation to end, pauses included.", LIVES, "status"),
    _histogram(
        "layover_node_attempt_duration_seconds", "Time that one call of a node took.", CALLS, "node_type", "outcome"
    ),
    _counter("layover_retries_total", "Failed attempts that are retried.", "workflow"),
    _counter("layover_incidents_total", "Failures that wait for an operator.", "workflow"),
    _histogram("layover_wait_duration_seconds", "Time that was waited, by what for.", PAUSES, "cause"),
    Family("layover_workflow_pause_duration_seconds", "summary", "Time that executions were paused.", ("workflow",)),
    _histogram("layover_resume_latency_seconds", "Time from a durable command or answer to its effect.", SECONDS),
)
_TRIGGERS = (
    _counter("layover_trigger_inputs_total", "Inputs of triggers, by what became of them.", "trigger", "outcome"),
    _counter("layover_webhooks_refused_total", "Deliveries of webhooks that proved nothing, by why.", "reason"),
    _histogram("layover_trigger_lateness_seconds", "Time from an occurrence or input to its execution.", CALLS),
    _histogram("layover_trigger_poll_seconds", "Time that polled sources took to return or fail.", CALLS),
)
_DELIVERIES = (
    _counter("layover_batch_items_total", "Items of batches, by act and what became of them.", "act", "outcome"),
    _counter("layover_deliveries_total", "Attempts at deliveries, by what came of them.", "destination", "outcome"),
    _histogram("layover_deliveries_seconds", "Time that an attempt at a delivery took.", CALLS, "destination"),
)
_INSTANCE = (
    _gauge("layover_processes", "Processes, by release.", "version"),
    _gauge("layover_executions_driven", "Executions that are driven here."),
    _gauge("layover_executions_queued", "Executions driven here that wait for a call slot."),
    _gauge("layover_calls_running", "Calls that are being made."),
    _gauge("layover_threads_busy", "Threads that calls have."),
    _gauge("layover_threads_abandoned", "Threads held by calls that were given up."),
    _gauge("layover_threads_lacking", "Abandoned threads that nothing replaces."),
    _gauge("layover_service_failures", "Failures in a row of each service.", "service"),
    _counter("layover_lease_takeovers_total", "Executions taken over from instances that were lost."),
    _counter("layover_leases_lost_total", "Executions that another instance took over from here."),
    _histogram("layover_event_loop_lag_seconds", "Time until the event loop answered its watchdog.", SECONDS),
    _gauge("layover_process_resident_memory_bytes", "Memory of the process."),
    _counter("layover_process_cpu_seconds_total", "Processor time of the process."),
)
_STORE = (
    _histogram("layover_commit_duration_seconds", "Time that a commit took.", SECONDS),
    _histogram("layover_commit_batch_size", "Appends in one commit.", SIZES),
    _histogram("layover_store_read_duration_seconds", "Time that a read of the database took.", SECONDS, "operation"),
)
_SERVER = _of_server(
    _histogram(
        "layover_http_request_duration_seconds", "Time to answer a request.", SECONDS, "method", "route", "status"
    ),
    _gauge("layover_streams_open", "Streams of events that are open."),
)
_DATABASE = _of_database(
    _gauge("layover_executions", "Executions that have not ended, by status.", "status"),
    _gauge("layover_executions_paused", "Executions that are paused now.", "workflow"),
    _gauge("layover_executions_paused_over_a_day", "Executions paused for more than 24 hours."),
    _gauge("layover_oldest_pause_age_seconds", "How long the longest pause has lasted."),
    _gauge("layover_executions_due", "Executions that wait for an instance to claim them."),
    _gauge("layover_oldest_due_age_seconds", "How long the first of them has waited."),
    _gauge("layover_commands_queued", "Commands and answers that wait with them."),
    _gauge("layover_executions_unindexed", "Executions that the search index does not have yet."),
    _gauge("layover_outbox_messages", "Messages between executions that are not delivered."),
    _gauge("layover_outbox_oldest_age_seconds", "How long the first of them has been due."),
    _gauge("layover_trigger_state", "Triggers, by state.", "state"),
    _gauge("layover_trigger_pending", "Inputs of triggers that wait to start.", "trigger"),
    _gauge("layover_deliveries_pending", "Deliveries that are not sent yet.", "destination"),
    _gauge("layover_deliveries_oldest_seconds", "How long the first of them has waited.", "destination"),
    _gauge("layover_deliveries_dead", "Deliveries that were given up.", "destination"),
    _gauge(
        "layover_destination_state", "Destinations: active, open (the breaker) or disabled.", "destination", "state"
    ),
    _gauge("layover_instances", "Instances that are alive."),
    _gauge("layover_store_size_bytes", "Size of the database file (SQLite)."),
    _gauge("layover_store_free_bytes", "Free space on the disk of the database file (SQLite)."),
    _gauge("layover_store_gauges_age_seconds", "Age of the numbers that are read from the database."),
    _counter("layover_store_gauges_failures_total", "Failed attempts to read them."),
)

FAMILIES: Final = (*_COMMON, *_EXECUTIONS, *_TRIGGERS, *_DELIVERIES, *_INSTANCE, *_STORE, *_SERVER, *_DATABASE)
