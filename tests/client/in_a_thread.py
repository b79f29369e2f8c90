"""A server for programs that block: it runs in a thread of its own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from layover import Engine
from layover.core.errors import LayoverError
from layover.runtime.loop_thread import LoopThread
from tests.api.harness import listening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def served_in_a_thread(folder: Path) -> Iterator[str]:
    """Serve a database in a folder while the block lasts; give the address of the server."""
    closed = LayoverError("The server is not running.")
    own = LoopThread("layover-test-server", closed=closed, ended=closed, inside="it would wait for itself")
    own.start()
    engine = Engine(f"sqlite:///{folder / 'app.db'}")
    listens = listening(engine)
    try:
        own.wait(engine.__aenter__())
        api = own.wait(listens.__aenter__())
        yield api.url
        own.wait(listens.__aexit__(None, None, None))
        own.wait(engine.stop())
    finally:
        own.end()
