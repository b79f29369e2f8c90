"""A system outside that takes its time: it accepts jobs over HTTP and reports by webhook.

It knows nothing of workflows. A job has an address to report to: a heartbeat while it works, and the result at the end.
A report that nobody takes is tried again, as systems outside do, so the one who waits may be restarted meanwhile.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRIES = 20


class RenderFarm:
    """Renders films, each frame for a while."""

    def __init__(self, frames: int, seconds: float) -> None:
        self.frames = frames
        self.seconds = seconds  # for each frame
        self.jobs: list[dict[str, str]] = []  # as they came in
        self.answers: list[int] = []  # to its reports of results
        self.closed = Event()
        self.address = ""

    def work(self, job: dict[str, str]) -> None:
        """Render a film, and report."""
        for _ in range(self.frames):
            if self.closed.wait(self.seconds):
                return
            self.report(f"{job['report_to']}/heartbeat", {})
        result = {"film": job["film"], "file": f"{job['film']}.mp4", "frames": self.frames}
        self.answers.append(self.report(job["report_to"], result))

    def report(self, address: str, content: dict[str, object]) -> int:
        """Send a report, again and again until somebody takes or refuses it; return the status of the answer."""
        body, headers = json.dumps(content).encode(), {"content-type": "application/json"}
        for _ in range(_TRIES):
            try:
                with urlopen(Request(address, body, headers), timeout=10) as answer:  # noqa: S310 - our own address
                    return int(answer.status)
            except HTTPError as refused:
                return refused.code
            except (URLError, OSError):
                if self.closed.wait(1):
                    break
        return 0


def _handler(farm: RenderFarm) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            job = json.loads(self.rfile.read(int(self.headers["content-length"])))
            farm.jobs.append(job)
            Thread(target=farm.work, args=[job], daemon=True).start()
            self.send_response(202)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base class has it
            """Say nothing."""

    return Handler


@contextmanager
def render_farm(frames: int = 5, seconds: float = 0.3) -> Iterator[RenderFarm]:
    """Serve a farm."""
    farm = RenderFarm(frames, seconds)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(farm))
    farm.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield farm
    finally:
        farm.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()
