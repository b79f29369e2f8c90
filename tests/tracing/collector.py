"""A collector on this machine: takes spans by OTLP over HTTP, as the SDK sends them, and keeps them."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.proto.trace.v1.trace_pb2 import Span

PATIENCE = 60  # seconds; only a test that fails waits so long


class Collected:
    """A span as it arrived."""

    def __init__(self, span: Span, service: str) -> None:
        self.name = span.name
        self.service = service
        self.span_id = span.span_id.hex()
        self.trace_id = span.trace_id.hex()
        self.parent_id = span.parent_span_id.hex()
        self.attributes = {
            one.key: one.value.string_value or one.value.int_value or one.value.bool_value for one in span.attributes
        }
        self.links = [(link.attributes[0].value.string_value, link.span_id.hex()) for link in span.links]
        self.events = [event.name for event in span.events]

    @property
    def leg(self) -> object:
        """The number of the leg, if it is one."""
        return self.attributes.get("layover.leg.number")


class Collector:
    """What has arrived so far."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Collected] = []
        self._more = threading.Condition()

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self._more:
            for resource in request.resource_spans:
                names = {one.key: one.value.string_value for one in resource.resource.attributes}
                self.spans += [
                    Collected(span, names["service.name"]) for scope in resource.scope_spans for span in scope.spans
                ]
            self._more.notify_all()

    def until(self, wanted: Callable[[Collected], bool]) -> Collected:
        """Return the first span that is as wanted, once it has arrived."""
        with self._more:
            assert self._more.wait_for(lambda: any(map(wanted, self.spans)), PATIENCE), [one.name for one in self.spans]
            return next(span for span in self.spans if wanted(span))


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect spans while the block lasts."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            collector.take(gzip.decompress(raw) if self.headers["content-encoding"] == "gzip" else raw)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
