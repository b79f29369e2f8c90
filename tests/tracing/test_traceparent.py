"""The text that names a span: what is none is ignored, whoever sends it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from layover.tracing.traceparent import read_traceparent

KNOWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_HEX = "0123456789abcdefABCDEFg"
_PARTS = [st.text(_HEX, min_size=most - 1, max_size=most) for most in (2, 32, 16, 2)]


def test_a_traceparent_stays_as_it_is() -> None:
    assert read_traceparent(KNOWN) == KNOWN


def test_a_later_version_is_read_as_far_as_it_is_known() -> None:
    assert read_traceparent(f"cc{KNOWN[2:]}-what-may-come") == KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "00-zz",
        KNOWN.upper(),
        f"{KNOWN}-01",
        f"ff{KNOWN[2:]}",
        f"{KNOWN[:-3]}",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        f"cc{KNOWN[2:]}-{'x' * 1_000_000}",
        "\ud800",
        f"{KNOWN}\n{KNOWN}",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert read_traceparent(text) == ""


@given(st.tuples(*_PARTS).map("-".join) | st.text(_HEX + "- ", max_size=70) | st.text(max_size=70))
@example(KNOWN)
@example(f"01{KNOWN[2:]}")
def test_it_is_read_as_the_sdk_reads_it(text: str) -> None:
    extracted = TraceContextTextMapPropagator().extract({"traceparent": text}, Context())
    context = trace.get_current_span(extracted).get_span_context()
    read = read_traceparent(text)
    assert bool(read) == context.is_valid
    if read:
        assert read.split("-")[1:3] == [f"{context.trace_id:032x}", f"{context.span_id:016x}"]
