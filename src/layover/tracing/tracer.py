"""Spans of legs and attempts, made with the API of OpenTelemetry.

A leg is the work between two rests, and its span is the root of a trace of its own: nothing is open while an execution
rests, so a pause may last for years. Links lead to the leg before it, and to what started or resumed it. The attempts
of nodes are the children of their leg's span; inside a call the span of the attempt is the current one.

Nothing that goes wrong here reaches an execution: what an exporter, a processor or a sampler raises is logged, and the
leg goes on without that span.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags

from layover.tracing import names
from layover.tracing.traceparent import read_traceparent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextvars import Token

    from opentelemetry.trace import Span, TracerProvider

    from layover.tracing.leg_facts import LegFacts

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

_MOST_LINKS: Final = 32
_NO_SPAN: Final = Context()

_log = logging.getLogger("layover.tracing")


class _Faults:
    """Logs the first fault of each kind, and the others for those who look closely."""

    def __init__(self) -> None:
        self._known: set[type] = set()

    def note(self, error: Exception) -> None:
        level = logging.DEBUG if type(error) in self._known else logging.WARNING
        self._known.add(type(error))
        _log.log(level, "tracing_failed error=%r", error, exc_info=error)


_faults = _Faults()


def _harmless(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R | None]:
    """Return a method that logs what it raises, and returns None instead."""

    @wraps(method)
    def run(self: S, /, *given: P.args, **named: P.kwargs) -> R | None:
        try:
            return method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - samplers, processors and exporters are foreign code
            _faults.note(error)
            return None

    return run


class AttemptSpan:
    """The span of a call that is being made; it is the current span of the task that makes it."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span, around: Context) -> None:
        self._span = span
        self._token: Token[Context] = attach(trace.set_span_in_context(span, around))

    def end(self, outcome: str, error_type: str = "") -> None:
        """End it, in the task that began it."""
        detach(self._token)
        self._finish(outcome, error_type)

    @_harmless
    def _finish(self, outcome: str, error_type: str) -> None:
        _finish(self._span, outcome, error_type)


class LegSpan:
    """The span of a leg, the root of its trace; `senders` are the spans that sent the commands which it has read."""

    __slots__ = ("_context", "_ended", "_linked", "_senders", "_span", "_tracer", "traceparent")

    def __init__(self, tracer: trace.Tracer, span: Span, senders: Sequence[str], linked: int) -> None:
        self._tracer = tracer
        self._span = span
        self._senders = senders
        self._linked = linked
        self._context = trace.set_span_in_context(span, _NO_SPAN)
        self._ended = False
        self.traceparent = _text_of(span.get_span_context())

    @_harmless
    def begin_attempt(self, node: str, node_type: str, attempt: int, purpose: str = "work") -> AttemptSpan:
        """Begin the span of a call, and make it the current one of this task."""
        attributes: dict[str, str | int | bool] = {
            names.NODE: node,
            names.NODE_TYPE: node_type,
            names.NODE_ATTEMPT: attempt,
        }
        if purpose != "work":
            attributes[names.PROBE if purpose == "probe" else names.UNDO] = True
        name = f"{names.ATTEMPT} {node.partition(':')[0]}"  # without the rounds that it is in: there may be thousands
        return AttemptSpan(self._tracer.start_span(name, self._context, attributes=attributes), self._context)

    @_harmless
    def end(self, outcome: str, *, pause_cause: str = "", error_type: str = "") -> None:
        """End it, unless it has ended; with a cause, the execution pauses."""
        if self._ended:
            return
        self._ended = True
        for sender in self._senders[self._linked : _MOST_LINKS]:  # what was sent while it ran
            if (sent_from := _context_of(sender)) is not None:
                self._span.add_link(sent_from, {names.LINK: names.RESUMED_BY})
        if pause_cause:
            self._span.set_attribute(names.PAUSE_CAUSE, pause_cause)
            self._span.add_event(names.PAUSED, {names.PAUSE_CAUSE: pause_cause})
        _finish(self._span, outcome, error_type)


class Tracer:
    """Makes the spans of one engine."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(names.SCOPE)

    @property
    def is_recording(self) -> bool:
        """Whether there is an SDK behind it that makes spans."""
        return not isinstance(self._tracer, trace.NoOpTracer)

    @_harmless
    def begin_leg(self, leg: LegFacts, before: str, senders: Sequence[str]) -> LegSpan | None:
        """Begin the span of a leg; `before` is the span of the leg before it, or the one that started the execution."""
        attributes: dict[str, str | int] = {
            names.EXECUTION: leg.execution_id,
            names.EXECUTION_DEPTH: leg.depth,
            names.WORKFLOW: leg.workflow,
            names.INSTANCE: leg.instance,
            names.LEG_NUMBER: leg.number,
            names.LEG_DEPTH: leg.number - 1,
            names.LEG_CAUSE: leg.cause,
        }
        if leg.version is not None:
            attributes[names.VERSION] = leg.version
        first = names.PREVIOUS_LEG if leg.number > 1 else names.STARTED_BY
        known = senders[:_MOST_LINKS]
        links = [*_links(first, (before,)), *_links(names.RESUMED_BY, known)]
        span = self._tracer.start_span(f"{names.LEG} {leg.workflow}", _NO_SPAN, attributes=attributes, links=links)
        if not span.get_span_context().is_valid:
            return None
        if leg.number > 1:
            span.add_event(names.RESUMED, {names.LEG_CAUSE: leg.cause})
        return LegSpan(self._tracer, span, senders, len(known))

    @contextmanager
    def received(self, header: str) -> Iterator[None]:
        """Let a request act in the span that its header names, unless it is in one already."""
        sent_from = _context_of(header) if not current_span() else None
        if sent_from is None:
            yield
            return
        token = attach(trace.set_span_in_context(NonRecordingSpan(sent_from)))
        try:
            yield
        finally:
            detach(token)


def current_span() -> str:
    """Return the traceparent of the current span; empty if there is none."""
    context = trace.get_current_span().get_span_context()
    return _text_of(context) if context.is_valid else ""


def tracer_of_program() -> Tracer | None:
    """Return a tracer of the provider that the program has set; None if it has set none, or has it turned off."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    tracer = Tracer(provider)
    return tracer if tracer.is_recording else None


def _finish(span: Span, outcome: str, error_type: str) -> None:
    span.set_attribute(names.OUTCOME, outcome)
    if error_type:  # its message may hold anything
        span.set_attribute(names.ERROR_TYPE, error_type)
        span.set_status(Status(StatusCode.ERROR, error_type))
    span.end()


def _text_of(context: SpanContext) -> str:
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def _context_of(traceparent: str) -> SpanContext | None:
    known = read_traceparent(traceparent)
    if not known:
        return None
    _, trace_id, span_id, flags = known.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _links(kind: str, traceparents: Iterable[str]) -> list[Link]:
    contexts = (_context_of(one) for one in traceparents)
    return [Link(context, {names.LINK: kind}) for context in contexts if context is not None]
