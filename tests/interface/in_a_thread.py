"""A server for programs that block: it runs in a thread of its own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from layover.errors import LayoverError
from layover.runtime.loop_thread import LoopThread
from tests.api.harness import listening
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from layover.nodes.registry import AnyFunction
    from tests.api.harness import Api


class Served:
    """A server in a thread, and the keys of its callers."""

    def __init__(self, api: Api, thread: LoopThread) -> None:
        self._api = api
        self._thread = thread
        self.url = api.url

    def key_of(self, name: str) -> str:
        """Return the key of a caller such as `ada:admin`."""
        return self._thread.wait(self._api.key_of(name))


@contextmanager
def served_in_a_thread(folder: Path, *nodes: AnyFunction) -> Iterator[Served]:
    """Serve the database of a folder while the block lasts."""
    closed = LayoverError("The server is not running.")
    thread = LoopThread("layover-test-server", closed=closed, ended=closed, inside="it would wait for itself")
    thread.start()
    runtime = engine_at(folder, *nodes)
    listens = listening(runtime)
    try:
        thread.wait(runtime.__aenter__())
        api = thread.wait(listens.__aenter__())
        yield Served(api, thread)
        thread.wait(listens.__aexit__(None, None, None))
        thread.wait(runtime.stop())
    finally:
        thread.end()
