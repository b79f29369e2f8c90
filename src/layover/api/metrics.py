"""Numbers for Prometheus: what the instance has counted, and how the database stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from layover.api.services import Services
    from layover.ports.records import Gauges
    from layover.runtime.metrics import Distribution, Metrics

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_DAY = 86_400_000


async def exposition(services: Services) -> bytes:
    """Return all numbers as text."""
    engine = services.engine
    instance = engine.instance
    now = instance.clock.now()
    gauges = await instance.store.gauges(now, now - _DAY)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected([*_of_instance(instance.metrics), *_of_store(gauges, now), *_of_services(services)]))
    return generate_latest(registry)


class _Collected(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _of_instance(metrics: Metrics) -> Iterator[Metric]:
    yield _counter("workflow_executions_paused", "Executions that came to wait for a person.", metrics.paused)
    yield _counter("workflow_executions_resumed", "Resumes: of operators, and applied answers.", metrics.resumed)
    yield _counter("workflow_executions_resume_errors", "Resumes and answers refused.", metrics.resume_errors)
    yield _histogram(
        "workflow_resumer_worker_cycle_duration_seconds", "How long a look for what is due took.", metrics.cycle_seconds
    )
    yield _histogram(
        "workflow_executions_pause_duration_seconds", "How long executions waited for a person.", metrics.pause_seconds
    )
    yield _histogram("layover_resume_latency_seconds", "From a durable answer to its effect.", metrics.resume_latency)
    yield _counter("layover_executions_started", "Executions begun here.", metrics.started)
    closed = CounterMetricFamily("layover_executions_closed", "Executions that ended here.", labels=["status"])
    for status, count in sorted(metrics.closed.items()):
        closed.add_metric([status], count)
    yield closed
    yield _histogram("layover_commit_batch_size", "Appends in one commit.", metrics.commit_size)
    yield _histogram("layover_commit_duration_seconds", "How long a commit took.", metrics.commit_seconds)
    yield _counter("layover_lease_takeovers", "Executions taken over from instances that were lost.", metrics.takeovers)


def _of_store(gauges: Gauges, now: int) -> Iterator[Metric]:
    executions = GaugeMetricFamily("layover_executions", "Executions by status.", labels=["status"])
    for status, count in sorted(gauges.executions.items()):
        executions.add_metric([status], count)
    yield executions
    oldest = (now - gauges.oldest_paused) / 1000 if gauges.oldest_paused is not None else 0.0
    yield _gauge("layover_oldest_pause_age_seconds", "How long the longest pause has lasted.", oldest)
    yield _gauge("layover_executions_paused_over_a_day", "Paused for more than 24 hours.", gauges.paused_long)
    yield _gauge("layover_executions_due", "Executions that wait for an instance to take them up.", gauges.due)
    yield _gauge("layover_commands_queued", "Commands and answers not yet taken.", gauges.commands)


def _of_services(services: Services) -> Iterator[Metric]:
    instance = services.engine.instance
    caller, threads = instance.node_runner, instance.node_runner.threads
    yield _gauge("layover_executions_driven", "Executions driven by this instance.", len(instance.driver.active))
    yield _gauge("layover_calls_running", "Calls that this instance is making.", caller.out)
    failures = GaugeMetricFamily("layover_service_failures", "Failures in a row of each service.", labels=["service"])
    for name, count in sorted(services.engine.failing_services.items()):
        failures.add_metric([name], count)
    yield failures
    yield _gauge("layover_executions_queued", "Executions here that wait for a place to make calls.", caller.waiting)
    yield _gauge("layover_threads_busy", "Threads that calls have.", threads.taken)
    yield _gauge("layover_threads_abandoned", "Threads held by calls that were given up.", threads.abandoned)
    yield _gauge("layover_threads_lacking", "Abandoned threads that nothing replaces.", threads.lacking)
    yield _gauge("layover_streams_open", "Streams that are open here.", services.streams.count)
    requests = HistogramMetricFamily(
        "layover_http_request_duration_seconds", "How long requests took.", labels=["method", "route", "status"]
    )
    for (method, route, code), seconds in sorted(services.requests.seconds.items()):
        requests.add_metric([method, route, str(code)], _buckets(seconds), seconds.total)
    yield requests


def _counter(name: str, help_: str, value: float) -> Metric:
    return CounterMetricFamily(name, help_, value=value)


def _gauge(name: str, help_: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_, value=value)


def _histogram(name: str, help_: str, found: Distribution) -> Metric:
    return HistogramMetricFamily(name, help_, buckets=_buckets(found), sum_value=found.total)


def _buckets(found: Distribution) -> list[tuple[str, float]]:
    """Return how many were at most so large, for each bound."""
    total, buckets = 0, []
    for bound, count in zip([*map(str, found.bounds), "+Inf"], found.counts, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets
