"""Metrics for Prometheus: what the processes of this server have counted, and how the database stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.api.sibling_metrics import ProcessNumbers
from layover.metrics.families import FAMILIES
from layover.metrics.samples import Samples
from layover.metrics.text import render
from layover.runtime.instance_metrics import instance_samples

if TYPE_CHECKING:
    from layover.api.services import Services
    from layover.metrics.samples import Numbers

_GAUGES: Final = frozenset(family.name for family in FAMILIES if family.kind == "gauge")


async def exposition(services: Services) -> bytes:
    """Return all metrics as text: those of all processes of this server, added, and those of the database."""
    siblings = services.siblings
    samples = _process_samples(services) if siblings is None else Samples(siblings.of_all())
    samples.merge(await services.runtime.instance.store_gauges.samples())
    return render(samples)


def process_numbers(services: Services) -> ProcessNumbers:
    """Return the metrics of this process, for the others that serve the same port."""
    sums: Numbers = {}
    gauges: Numbers = {}
    for series, numbers in _process_samples(services).items():
        (gauges if series[0] in _GAUGES else sums)[series] = numbers
    return ProcessNumbers(sums=sums, gauges=gauges)


def _process_samples(services: Services) -> Samples:
    samples = instance_samples(services.runtime)
    services.requests.add_to(samples)
    samples.add("layover_streams_open", services.streams.count)
    return samples
