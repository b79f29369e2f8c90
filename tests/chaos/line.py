"""A line between one server and its database that falls silent: connections stay open, and nothing passes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

_AT_ONCE = 65_536


class Line:
    """Passes on what comes to a port of its own, on a thread of its own."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._loop = asyncio.new_event_loop()
        self._going: list[asyncio.Event] = []  # one for each connection
        self._all_silent = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()

    def fall_silent(self, *, for_new: bool) -> None:
        """Pass on nothing on the connections that there are; with `for_new`, on later ones neither."""
        self._loop.call_soon_threadsafe(self._silence, for_new)

    def go_on(self) -> None:
        """Pass on again, what was held up first."""
        self._loop.call_soon_threadsafe(self._release)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _silence(self, for_new: bool) -> None:
        self._all_silent = for_new
        for going in self._going:
            going.clear()

    def _release(self) -> None:
        self._all_silent = False
        for going in self._going:
            going.set()

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        try:
            self._loop.run_forever()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.run_until_complete(asyncio.sleep(0))  # connections are closed at the next turn
            self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            their_reader, their_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        going = asyncio.Event()
        if not self._all_silent:
            going.set()
        self._going.append(going)
        for work in (self._pump(reader, their_writer, going), self._pump(their_reader, writer, going)):
            task = self._loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, going: asyncio.Event) -> None:
        try:
            with suppress(OSError):
                while data := await reader.read(_AT_ONCE):
                    await going.wait()
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.transport.abort()
