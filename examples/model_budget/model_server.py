"""A language model that knows nothing: it answers a prompt word by word, over HTTP, as the real ones do.

Each line of an answer is a JSON object with a piece of text and the tokens that it cost.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = 40
TOKENS_OF_A_WORD = 10


class _Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
        self.server.prompts.append(prompt)  # type: ignore[attr-defined]  # the server below has it
        self.send_response(200)
        self.end_headers()
        for word in range(WORDS):
            piece = {"text": f"{prompt.split()[-1]}-{word} ", "tokens": TOKENS_OF_A_WORD}
            self.wfile.write(json.dumps(piece).encode() + b"\n")
            sleep(self.server.thinks)  # type: ignore[attr-defined]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base class has it
        """Say nothing."""


@contextmanager
def model_server(thinks: float = 0) -> Iterator[tuple[str, list[str]]]:
    """Serve a model that thinks for so many seconds about each word; return its address, and what it was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    prompts: list[str] = []
    server.prompts, server.thinks = prompts, thinks  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", prompts
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
