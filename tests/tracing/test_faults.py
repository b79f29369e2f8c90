"""Whatever goes wrong with traces, executions go on as if there were none."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, NoReturn

import pytest
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Sampler, SamplingResult

from layover.runtime.runtime import Runtime
from tests.runtime.harness import Scripted, approval, call, end, flow, settings_with, store_in
from tests.tracing.recording import Recording, TracedMachine
from tests.tracing.test_legs import the_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExportResult


def broken(*_given: object, **_named: object) -> NoReturn:
    raise ZeroDivisionError("a trace")


class BrokenSampler(Sampler):
    def should_sample(self, *_given: object, **_named: object) -> SamplingResult:
        broken()

    def get_description(self) -> str:
        return "broken"


class BrokenIds(IdGenerator):
    def generate_span_id(self) -> int:
        broken()

    def generate_trace_id(self) -> int:
        broken()


class BrokenAtStart(SpanProcessor):
    on_start = broken


class BrokenAtEnd(SpanProcessor):
    on_end = broken


class BrokenExporter(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - it looks at none
        broken()


def provider_with(*processors: SpanProcessor) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


@pytest.mark.parametrize(
    "provider",
    [
        TracerProvider(sampler=BrokenSampler(), shutdown_on_exit=False),
        TracerProvider(id_generator=BrokenIds(), shutdown_on_exit=False),
        provider_with(BrokenAtStart()),
        provider_with(BrokenAtEnd()),
        provider_with(SimpleSpanProcessor(BrokenExporter())),
    ],
    ids=["sampler", "ids", "start", "end", "exporter"],
)
async def test_an_execution_does_not_notice(tmp_path: Path, provider: TracerProvider) -> None:
    work = Scripted(ValueError("no"), 1)
    engine = Runtime(store_in(tmp_path), nodes=[work], settings=settings_with(), machine=TracedMachine(provider))
    async with engine:
        await engine.workflows.register(
            flow(call("a", retry={"max_attempts": 2, "delay": "1ms"}), approval(), call("b"), end("done"))
        )
        started = await engine.executions.start("flow")
        await engine.executions.wait(started.id, "people")
        await engine.answers.answer(await the_point(engine, started.id), approved=True, by="ann")
        assert await engine.executions.result(started.id) == "done"
    assert len(work.calls) == 3


async def test_what_goes_wrong_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class OfThisTest(Exception):  # noqa: N818 - it says where it is from
        pass

    class BrokenOnce(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002 - it looks at none
            raise OfThisTest

    spans = Recording()
    spans.provider.add_span_processor(BrokenOnce())
    async with spans.engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), end("done")))
        await engine.executions.start("flow", wait="end")
    warnings = [record for record in caplog.records if "OfThisTest" in record.getMessage()]
    assert [record.levelname for record in warnings] == ["WARNING"]
    assert warnings[0].getMessage().startswith("tracing_failed ")
