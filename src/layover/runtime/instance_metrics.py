"""Everything that an open instance exports of itself: what it has counted, and how it stands at this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.metrics.process import add_process

if TYPE_CHECKING:
    from layover.metrics.samples import Samples
    from layover.runtime.runtime import Runtime


def instance_samples(runtime: Runtime) -> Samples:
    """Return the metrics of an instance; those of several processes can be added."""
    instance = runtime.instance
    samples, node_runner = instance.metrics.snapshot(), instance.node_runner
    add_process(samples)
    for name, value in (
        ("layover_executions_driven", len(instance.driver.active)),
        ("layover_executions_queued", node_runner.slots.waiting),
        ("layover_calls_running", node_runner.out),
        ("layover_threads_busy", node_runner.threads.taken),
        ("layover_threads_abandoned", node_runner.threads.abandoned),
        ("layover_threads_lacking", node_runner.threads.lacking),
    ):
        samples.add(name, value)
    for service, failures in runtime.failing_services.items():
        samples.add("layover_service_failures", failures, service)
    if (lag := runtime.loop_lag) is not None:
        samples.add_distribution("layover_event_loop_lag_seconds", lag)
    return samples
