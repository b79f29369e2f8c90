"""The span in which the caller is, and the tracer of an engine.

OpenTelemetry is not loaded here for its own sake: a program that has not loaded it has neither spans nor a provider,
and pays nothing.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.tracing.tracer import Tracer

_API: Final = "opentelemetry.trace"
_PROVIDER: Final = "OTEL_PYTHON_TRACER_PROVIDER"  # with it, the API itself loads a provider

_log = logging.getLogger("layover.tracing")


def current_traceparent() -> str:
    """Return the traceparent of the current span; empty if there is none."""
    if _API not in sys.modules:
        return ""
    try:
        from layover.tracing.tracer import current_span  # noqa: PLC0415 - only if it is in use

        return current_span()
    except Exception:  # noqa: BLE001 - a trace is never worth a request
        _log.debug("tracing_failed", exc_info=True)
        return ""


@contextmanager
def outside_spans() -> Iterator[None]:
    """Begin the services of an engine outside the span in which the program happens to open it."""
    if _API not in sys.modules:
        yield
        return
    from opentelemetry.context import Context, attach, detach  # noqa: PLC0415 - only if it is in use

    token = attach(Context())
    try:
        yield
    finally:
        detach(token)


def find_tracer() -> Tracer | None:
    """Return a tracer of the provider that the program has set up; None without one."""
    if _API not in sys.modules and _PROVIDER not in os.environ:
        return None
    try:
        from layover.tracing.tracer import tracer_of_program  # noqa: PLC0415 - only if it is in use

        return tracer_of_program()
    except Exception as error:  # noqa: BLE001 - an engine works without traces, too
        _log.warning("tracing_unavailable error=%r", error)
        return None
