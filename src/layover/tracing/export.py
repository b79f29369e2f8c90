"""The SDK of OpenTelemetry for programs of our own (`layover serve`, `layover worker`): spans go out by OTLP over HTTP.

It is set up if the environment names a collector, and a provider is not set already. `OTEL_*` variables say the rest:
the SDK reads them. Stopping is bounded: a collector that is gone must not hold up a process that was told to stop.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP: Final = "http/protobuf"
_UNNAMED: Final = "unknown_service"  # what the SDK says if the environment names no service
_LONGEST_STOP: Final = 5.0  # seconds

_log = logging.getLogger("layover.tracing")


class SpanExport:
    """Exports spans until it is stopped; this one sends nothing."""

    def stop(self, grace: float | None) -> bool:  # noqa: ARG002 - nothing is left to send
        """Send the last spans, for 5 seconds or the grace period; return whether the exporter is done."""
        return True


class OtlpExport(SpanExport):
    """Exports the spans of this process to a collector."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider

    def stop(self, grace: float | None) -> bool:
        """Send the last spans, for 5 seconds or the grace period; return whether the exporter is done."""
        longest = _LONGEST_STOP if grace is None else min(grace, _LONGEST_STOP)
        # It is not ours how long the SDK tries: with no collector it was 26 seconds.
        stopping = threading.Thread(target=self._provider.shutdown, name="layover-tracing", daemon=True)
        stopping.start()
        stopping.join(longest)
        if stopping.is_alive():
            _log.warning("tracing_cut_short seconds=%g", longest)
        return not stopping.is_alive()


def set_up_export(environment: Mapping[str, str]) -> SpanExport:
    """Set up the SDK if the environment asks for it; what is not installed is logged, and does not stop the program."""
    if not is_wanted(environment):
        return SpanExport()
    protocol = next((environment[name] for name in _PROTOCOLS if environment.get(name)), _HTTP)
    if protocol != _HTTP:
        _log.warning("tracing_unavailable error=%s", f"only {_HTTP} is supported, not {protocol}")
        return SpanExport()
    try:
        return _otlp()
    except ModuleNotFoundError as error:
        _log.warning("tracing_unavailable error=%s", f'{error.name} is missing: pip install "layover[otel]"')
    except Exception as error:  # noqa: BLE001 - a program works without traces, too
        _log.warning("tracing_unavailable error=%r", error)
    return SpanExport()


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether an environment names a collector, and does not turn traces off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environment.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp":
        return False
    return any(environment.get(name) for name in _ENDPOINTS)


def _otlp() -> SpanExport:
    from opentelemetry import trace  # noqa: PLC0415 - only there with the extra
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - as above
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - as above

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return SpanExport()  # who started this process has set it up
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME)).startswith(_UNNAMED):
        resource = resource.merge(Resource({SERVICE_NAME: "layover"}))
    # Its own end would wait for the collector when the interpreter exits.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    _log.info("tracing_started")
    return OtlpExport(provider)
