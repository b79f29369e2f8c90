"""What traces cost: `python bench/tracing.py [--quick | --small]`.

Engines on the store in memory, which has no disk to hide anything behind, run executions of 20 calls in turn, 100 at
once: one without a provider of traces, and others with the SDK, whose spans are sampled out, or go in batches to an
exporter that drops them. CPU time of the process for one step, and the ratio to the first within each round.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from time import process_time
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from layover.runtime.machine import Machine
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryStore
from layover.tracing.tracer import Tracer
from measure import size_of, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

NODES = 20
AT_ONCE = 100


class Null(SpanExporter):
    """Drops spans."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - it looks at none
        return SpanExportResult.SUCCESS


class Traced(Machine):
    """A machine with a provider of traces, or without."""

    def __init__(self, provider: TracerProvider | None) -> None:
        super().__init__()
        self._provider = provider

    def tracer(self) -> Tracer | None:
        return None if self._provider is None else Tracer(self._provider)

    def watchdog(self, blocked_after: float) -> None:
        pass


async def step(n: int = 0) -> int:
    """Return at once."""
    return n + 1


def main(words: list[str]) -> None:
    size = size_of(words)
    rounds, at_once = size.of(41, quick=9, small=1), size.of(AT_ONCE, quick=AT_ONCE, small=2)
    sampled_out = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    batched = TracerProvider(shutdown_on_exit=False)
    batched.add_span_processor(BatchSpanProcessor(Null(), max_queue_size=100_000))
    providers = {"no provider": None, "SDK, sampled out": sampled_out, "SDK, batches to nowhere": batched}
    with asyncio.Runner() as runner:
        engines = {name: Runtime(MemoryStore(), nodes=[step], machine=Traced(one)) for name, one in providers.items()}
        for engine in engines.values():
            runner.run(_open(engine))
        taken = _rounds(runner, engines, rounds, at_once)
        for engine in engines.values():
            runner.run(engine.stop())
    batched.shutdown()
    first = taken["no provider"]
    rows: list[tuple[str, ...]] = [("", "µs a step", "ratio")]
    for name, times in taken.items():
        ratio = statistics.median(one / bare for one, bare in zip(times, first, strict=True))
        rows.append((name, f"{statistics.median(times) * 1e6:,.1f}", f"{ratio:.3f}"))
    print(table(f"CPU time, medians of {rounds} rounds, {at_once} executions of {NODES} calls at once", rows))


def _rounds(runner: asyncio.Runner, engines: dict[str, Runtime], rounds: int, at_once: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in engines}
    for turn in range(-1, rounds):  # the first one only warms up
        for name in list(engines) if turn % 2 else reversed(engines):
            began = process_time()
            done = runner.run(_execute(engines[name], at_once))
            seconds = process_time() - began
            runner.run(_forget(engines[name], done))
            if turn >= 0:
                taken[name].append(seconds / (at_once * NODES))
    return taken


async def _open(engine: Runtime) -> None:
    await engine.__aenter__()
    nodes = [{"id": f"n{n}", "type": "step", "next": f"n{n + 1}"} for n in range(NODES - 1)]
    await engine.workflows.register({"name": "chain", "nodes": [*nodes, {"id": f"n{NODES - 1}", "type": "step"}]})


async def _execute(engine: Runtime, at_once: int) -> list[str]:
    done = await asyncio.gather(*(engine.executions.start("chain", wait="end") for _ in range(at_once)))
    return [one.id for one in done]


async def _forget(engine: Runtime, ids: list[str]) -> None:
    """Purge what has run: the store in memory looks through all that there is."""
    await engine.instance.store.retention.purge(ids, None)


if __name__ == "__main__":
    main(sys.argv[1:])
