"""Engines whose spans a test looks at: a real SDK that keeps them in memory, for each engine one of its own.

The provider of the process is never set: other tests in it are not traced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from layover.core.engine.events import LegStarted
from layover.runtime.machine import Machine
from layover.runtime.runtime import Runtime
from layover.tracing.tracer import Tracer
from tests.runtime.harness import settings_with, store_in

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.sampling import Sampler
    from opentelemetry.trace import SpanContext

    from layover.nodes.registry import AnyFunction
    from layover.ports.store import Store


class TracedMachine(Machine):
    """A machine whose program has set up a provider."""

    def __init__(self, provider: TracerProvider) -> None:
        super().__init__()
        self._provider = provider

    def tracer(self) -> Tracer | None:
        return Tracer(self._provider)


class Recording:
    """The spans that have ended, of all engines that record here; `tracer` is for spans of the program itself."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("a program")

    def engine_at(self, folder: Path, *nodes: AnyFunction, **settings: object) -> Runtime:
        """Return a traced engine on the database of a folder."""
        return self.engine_on(store_in(folder), *nodes, **settings)

    def engine_on(self, store: Store, *nodes: AnyFunction, **settings: object) -> Runtime:
        """Return a traced engine on a store."""
        machine = TracedMachine(self.provider)
        return Runtime(store, nodes=nodes, settings=settings_with(**settings), machine=machine)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def legs(self, execution_id: str | None = None) -> list[ReadableSpan]:
        """Return the spans of legs, of one execution or all, in their order."""
        found = [span for span in self.spans if span.name.startswith("leg ")]
        found = [span for span in found if execution_id in (None, of(span, "layover.execution.id"))]
        return sorted(found, key=lambda span: (str(of(span, "layover.execution.id")), number_of(span)))

    def attempts(self) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name.startswith(("attempt ", "probe "))]


def of(span: ReadableSpan, attribute: str) -> object:
    """Return the value of an attribute."""
    return (span.attributes or {}).get(attribute)


def number_of(span: ReadableSpan) -> int:
    number = of(span, "layover.leg.number")
    assert isinstance(number, int)
    return number


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


def links_of(span: ReadableSpan) -> list[tuple[object, int]]:
    """Return where the links of a span lead: what each is, and the id of its span."""
    return [((link.attributes or {}).get("layover.link"), link.context.span_id) for link in span.links]


def events_of(span: ReadableSpan) -> list[tuple[str, dict[str, object]]]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def traceparent_of(span: ReadableSpan) -> str:
    context = context_of(span)
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


async def stored(engine: Runtime, execution_id: str) -> list[str]:
    """Return the traceparents that the log has of the legs of an execution."""
    entries = await engine.queries.history(execution_id)
    return [entry.event.traceparent for entry in entries if isinstance(entry.event, LegStarted)]
