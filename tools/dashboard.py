"""Write the Grafana dashboard that `layover monitoring` copies: python tools/dashboard.py [--check].

Panels stand side by side in rows of 24 columns, in the order in which they are listed. Numbers that are read from the
database are the same on every instance, so their maximum is shown; numbers of instances are added.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[1] / "src" / "layover" / "cli" / "monitoring_files" / "layover-dashboard.json"

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_JOB = 'job=~"$job"'
_WORKFLOW = f'{_JOB},workflow=~"$workflow"'
_WIDE = 24


class Panel(NamedTuple):
    """A panel: its queries with their legends, and how wide it is."""

    title: str
    queries: dict[str, str]  # by legend
    unit: str = "short"
    width: int = 8
    kind: str = "timeseries"
    about: str = ""
    red_above: float | None = None

    @property
    def height(self) -> int:
        """How high it is, in rows of the grid."""
        return 4 if self.kind == "stat" else 8


def quantile(share: float, name: str, *labels: str, where: str = _JOB) -> str:
    """Return the query for a percentile of a histogram."""
    by = ", ".join(["le", *labels])
    return f"histogram_quantile({share}, sum by ({by}) (rate({name}_bucket{{{where}}}[$__rate_interval])))"


def percentiles(name: str, *labels: str) -> dict[str, str]:
    """Return the median and the high percentiles of a histogram."""
    shown = "".join(f" {{{{{label}}}}}" for label in labels)
    return {f"p{share}{shown}": quantile(share / 100, name, *labels) for share in (50, 95, 99)}


def per_minute(name: str, *labels: str, where: str = _JOB) -> str:
    """Return the query for how much a counter grows in a minute."""
    by = f" by ({', '.join(labels)})" if labels else ""
    return f"60 * sum{by} (rate({name}{{{where}}}[$__rate_interval]))"


def average(name: str, *labels: str, where: str = _JOB) -> str:
    """Return the query for the mean of a histogram or summary."""
    by = f" by ({', '.join(labels)})" if labels else ""
    total, count = (f"sum{by} (rate({name}_{part}{{{where}}}[$__rate_interval]))" for part in ("sum", "count"))
    return f"{total} / {count}"


def of_database(name: str, *labels: str, where: str = _JOB) -> str:
    """Return the query for a number that every instance reads from the same database."""
    by = f" by ({', '.join(labels)})" if labels else ""
    return f"max{by} ({name}{{{where}}})"


def stat(title: str, query: str, unit: str = "short", *, red_above: float | None = None, about: str = "") -> Panel:
    """Return a panel with one large number."""
    return Panel(title, {"": query}, unit, width=4, kind="stat", red_above=red_above, about=about)


_CLOSED = "layover_executions_closed_total"
_SUCCESS = (
    f'sum{{by}} (increase({_CLOSED}{{{{{_WORKFLOW},status="completed"}}}}[1h])) / '
    f'sum{{by}} (increase({_CLOSED}{{{{{_WORKFLOW},status=~"completed|failed"}}}}[1h]))'
)
_REQUESTS = "layover_http_request_duration_seconds"

ROWS: dict[str, list[Panel]] = {
    "Now": [
        stat("Paused now", of_database("layover_executions", where=f'{_JOB},status="paused"')),
        stat("Paused over 24 h", of_database("layover_executions_paused_over_a_day"), red_above=1),
        stat("Due", of_database("layover_executions_due"), red_above=1_000, about="Waiting to be claimed."),
        stat("Age of the queue", of_database("layover_oldest_due_age_seconds"), "s", red_above=60),
        stat("Instances alive", of_database("layover_instances")),
        stat("Success rate, 1 h", _SUCCESS.format(by=""), "percentunit"),
    ],
    "Executions": [
        Panel(
            "Started per minute",
            {"{{workflow}}": per_minute("layover_executions_started_total", "workflow", where=_WORKFLOW)},
        ),
        Panel(
            "Ended per minute",
            {"{{status}} {{outcome}}": per_minute(_CLOSED, "status", "outcome", where=_WORKFLOW)},
        ),
        Panel("Success rate by workflow, 1 h", {"{{workflow}}": _SUCCESS.format(by=" by (workflow)")}, "percentunit"),
        Panel("Duration", percentiles("layover_execution_duration_seconds", "status"), "s"),
        Panel("Open executions", {"{{status}}": of_database("layover_executions", "status")}),
        Panel(
            "Retries and incidents per minute",
            {
                "retries {{workflow}}": per_minute("layover_retries_total", "workflow", where=_WORKFLOW),
                "incidents {{workflow}}": per_minute("layover_incidents_total", "workflow", where=_WORKFLOW),
            },
        ),
    ],
    "Pauses": [
        Panel(
            "Paused now by workflow",
            {"{{workflow}}": of_database("layover_executions_paused", "workflow", where=_WORKFLOW)},
        ),
        Panel(
            "Pauses and resumes per minute",
            {
                "paused": per_minute("workflow_executions_paused_total"),
                "resumed": per_minute("workflow_executions_resumed_total"),
                "refused": per_minute("workflow_executions_resume_errors_total"),
            },
        ),
        Panel(
            "Average pause by workflow",
            {"{{workflow}}": average("layover_workflow_pause_duration_seconds", "workflow", where=_WORKFLOW)},
            "s",
        ),
        Panel(
            "Wait by cause, 95th percentile",
            {"{{cause}}": quantile(0.95, "layover_wait_duration_seconds", "cause")},
            "s",
        ),
        Panel("Length of pauses", percentiles("workflow_executions_pause_duration_seconds"), "s"),
        Panel(
            "Resume latency",
            percentiles("layover_resume_latency_seconds"),
            "s",
            about="From a durable command or answer to its effect.",
        ),
        Panel("Paused over 24 h", {"": of_database("layover_executions_paused_over_a_day")}, width=12),
        Panel("Longest pause", {"": of_database("layover_oldest_pause_age_seconds")}, "s", width=12),
    ],
    "Queue": [
        Panel(
            "Depth",
            {
                "executions due": of_database("layover_executions_due"),
                "commands": of_database("layover_commands_queued"),
                "wait for a call slot": f"sum (layover_executions_queued{{{_JOB}}})",
            },
        ),
        Panel(
            "Age",
            {
                "oldest due": of_database("layover_oldest_due_age_seconds"),
                "oldest message": of_database("layover_outbox_oldest_age_seconds"),
            },
            "s",
        ),
        Panel("Outbox", {"messages": of_database("layover_outbox_messages")}),
        Panel("Not in the search index", {"executions": of_database("layover_executions_unindexed")}),
        Panel("Cycle of the claimer", percentiles("workflow_resumer_worker_cycle_duration_seconds"), "s"),
        Panel(
            "Work in progress",
            {
                "driven {{instance}}": f"layover_executions_driven{{{_JOB}}}",
                "calls {{instance}}": f"layover_calls_running{{{_JOB}}}",
            },
        ),
        Panel(
            "Leases",
            {
                "taken over": per_minute("layover_lease_takeovers_total"),
                "lost": per_minute("layover_leases_lost_total"),
            },
            about="Per minute. A takeover follows a lost instance; a lost lease, an instance that stood still.",
        ),
    ],
    "Nodes": [
        Panel(
            "Attempts, 95th percentile",
            {"{{node_type}}": quantile(0.95, "layover_node_attempt_duration_seconds", "node_type")},
            "s",
        ),
        Panel("Attempts", percentiles("layover_node_attempt_duration_seconds"), "s"),
        Panel(
            "Attempts per minute",
            {
                "{{node_type}} {{outcome}}": per_minute(
                    "layover_node_attempt_duration_seconds_count", "node_type", "outcome"
                )
            },
        ),
    ],
    "Database": [
        Panel("Commits", percentiles("layover_commit_duration_seconds"), "s"),
        Panel("Appends in a commit, average", {"": average("layover_commit_batch_size")}),
        Panel(
            "Reads, 95th percentile",
            {"{{operation}}": quantile(0.95, "layover_store_read_duration_seconds", "operation")},
            "s",
        ),
        Panel(
            "File (SQLite)",
            {
                "size": of_database("layover_store_size_bytes"),
                "free on its disk": of_database("layover_store_free_bytes"),
            },
            "bytes",
            width=12,
        ),
        Panel(
            "Age of the numbers read from the database",
            {"{{instance}}": f"layover_store_gauges_age_seconds{{{_JOB}}}"},
            "s",
            width=12,
        ),
    ],
    "HTTP": [
        Panel(
            "Requests per second",
            {"{{status}}": f"sum by (status) (rate({_REQUESTS}_count{{{_JOB}}}[$__rate_interval]))"},
        ),
        Panel(
            "Answers, 95th percentile",
            {"{{method}} {{route}}": quantile(0.95, _REQUESTS, "method", "route")},
            "s",
        ),
        Panel("Open streams", {"{{instance}}": f"layover_streams_open{{{_JOB}}}"}),
    ],
    "Triggers": [
        Panel(
            "Inputs per minute",
            {"{{trigger}} {{outcome}}": per_minute("layover_trigger_inputs_total", "trigger", "outcome")},
        ),
        Panel("Triggers by state", {"{{state}}": of_database("layover_trigger_state", "state")}),
        Panel("Pending inputs", {"{{trigger}}": of_database("layover_trigger_pending", "trigger")}),
        Panel("Lateness of starts", percentiles("layover_trigger_lateness_seconds"), "s"),
        Panel("Polls of sources", percentiles("layover_trigger_poll_seconds"), "s"),
        Panel(
            "Refused deliveries of webhooks per minute",
            {"{{reason}}": per_minute("layover_webhooks_refused_total", "reason")},
        ),
    ],
    "Batches": [
        Panel("Items per minute", {"{{act}} {{outcome}}": per_minute("layover_batch_items_total", "act", "outcome")}),
    ],
    "Deliveries": [
        Panel(
            "Attempts per minute",
            {"{{destination}} {{outcome}}": per_minute("layover_deliveries_total", "destination", "outcome")},
        ),
        Panel("Attempts", percentiles("layover_deliveries_seconds"), "s"),
        Panel(
            "Not sent yet",
            {
                "{{destination}}": of_database("layover_deliveries_pending", "destination"),
                "{{destination}}, given up": of_database("layover_deliveries_dead", "destination"),
            },
        ),
        Panel(
            "Longest wait", {"{{destination}}": of_database("layover_deliveries_oldest_seconds", "destination")}, "s"
        ),
        Panel(
            "Destinations by state",
            {"{{destination}} {{state}}": of_database("layover_destination_state", "destination", "state")},
        ),
    ],
    "Processes": [
        Panel("Memory", {"{{instance}}": f"layover_process_resident_memory_bytes{{{_JOB}}}"}, "bytes"),
        Panel(
            "Processors",
            {"{{instance}}": f"rate(layover_process_cpu_seconds_total{{{_JOB}}}[$__rate_interval])"},
        ),
        Panel("Event loop lag", percentiles("layover_event_loop_lag_seconds"), "s"),
        Panel(
            "Threads",
            {
                "busy {{instance}}": f"layover_threads_busy{{{_JOB}}}",
                "abandoned {{instance}}": f"layover_threads_abandoned{{{_JOB}}}",
                "lacking {{instance}}": f"layover_threads_lacking{{{_JOB}}}",
            },
        ),
        Panel("Failing services", {"{{service}} {{instance}}": f"layover_service_failures{{{_JOB}}}"}),
        Panel(
            "Instances",
            {
                "alive": of_database("layover_instances"),
                "scraped {{version}}": f"sum by (version) (layover_processes{{{_JOB}}})",
            },
        ),
    ],
}


def page() -> str:
    """Return the dashboard as the file that Grafana imports."""
    return json.dumps(_dashboard(), indent=2) + "\n"


def _dashboard() -> dict[str, Any]:
    return {
        "uid": "layover",
        "title": "Layover",
        "description": "Executions, pauses, queues, the database and the processes of Layover.",
        "tags": ["layover"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": _variables()},
        "panels": _panels(),
    }


def _variables() -> list[dict[str, Any]]:
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    return [source, _variable("job", "layover_processes"), _variable("workflow", "layover_executions_started_total")]


def _variable(label: str, metric: str) -> dict[str, Any]:
    return {
        "name": label,
        "label": label.capitalize(),
        "type": "query",
        "datasource": _SOURCE,
        "definition": f"label_values({metric}, {label})",
        "query": {"query": f"label_values({metric}, {label})", "refId": label},
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": ["All"], "value": ["$__all"]},
        "refresh": 2,
        "sort": 1,
    }


def _panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    top = 0
    for title, panels in ROWS.items():
        grid = {"x": 0, "y": top, "w": _WIDE, "h": 1}
        found.append(
            {"id": len(found) + 1, "type": "row", "title": title, "collapsed": False, "gridPos": grid, "panels": []}
        )
        top, left = top + 1, 0
        for panel in panels:
            if left + panel.width > _WIDE:
                top, left = top + panel.height, 0
            found.append(_panel(panel, len(found) + 1, {"x": left, "y": top, "w": panel.width, "h": panel.height}))
            left += panel.width
        top += panels[-1].height
    return found


def _panel(panel: Panel, number: int, grid: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.red_above is not None:
        steps.append({"color": "red", "value": panel.red_above})
    defaults = {"unit": panel.unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps}}
    options: dict[str, Any] = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    if panel.kind == "stat":
        options = {"colorMode": "value", "graphMode": "area", "reduceOptions": {"calcs": ["lastNotNull"]}}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": grid,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": [
            {"refId": chr(65 + place), "datasource": _SOURCE, "expr": query, "legendFormat": legend or "__auto"}
            for place, (legend, query) in enumerate(panel.queries.items())
        ],
    }


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
