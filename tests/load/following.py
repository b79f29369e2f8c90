"""Many who follow executions while they go on, some of whom take nothing of what they are sent.

Executions ask for something again and again, and are answered while all of them are followed. Those who read must be
told every event once, in order and to the end; those who do not are let go, and cost little until then.
"""

from __future__ import annotations

import asyncio
import socket
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from .wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

CHATTY = """
name: chatty
variables: {text: ""}
nodes:
  - id: rounds
    type: loop
    times: ${input.rounds}
    body:
      - {id: ask, type: form, schema: {type: object}, next: keep}
      - {id: keep, type: set, values: {text: "${nodes.ask.text}"}}
"""

_SMALL = 4096  # bytes that the system takes for a client that reads nothing
_BETWEEN_LOOKS = 0.02
_PART = 65_536


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """How many follow how many executions, and how much happens there."""

    executions: int
    readers: int
    stalled: int
    rounds: int
    text: int  # characters of each answer, so that those who do not read are soon behind


class Seen(msgspec.Struct):
    """What was noticed while they followed."""

    problems: list[str] = []
    answer_times: list[float] = []  # of a small request meanwhile, in seconds
    events: int = 0

    def percentile(self, part: float) -> float:
        """Return what so large a part of the small requests was faster than."""
        ordered = sorted(self.answer_times)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


class Follower:
    """One connection on which an execution is followed."""

    def __init__(self, url: str, key: str, execution_id: str, *, stalled: bool = False) -> None:
        place = urlsplit(url)
        self._place = (place.hostname or "", place.port or 80)
        head = f"host: {place.netloc}\r\nauthorization: Bearer {key}\r\n\r\n"
        self._request = f"GET /api/v1/executions/{execution_id}/stream HTTP/1.1\r\n{head}".encode()
        self._socket = socket.socket()
        self._socket.setblocking(False)
        if stalled:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
        self.execution_id = execution_id

    async def begin(self) -> None:
        """Ask for the stream; nothing is read."""
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self._socket, self._place)
        await loop.sock_sendall(self._socket, self._request)

    async def rest(self) -> bytes:
        """Return all that comes until the server closes the connection."""
        loop, parts = asyncio.get_running_loop(), []
        try:
            while part := await loop.sock_recv(self._socket, _PART):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)

    async def events(self) -> Told:
        """Read to the end of the stream; return what was told on the way."""
        loop = asyncio.get_running_loop()
        told, text = Told(), b""
        while not told.ended:
            try:
                part = await loop.sock_recv(self._socket, _PART)
            except ConnectionResetError:
                break
            if not part:
                break
            text += part
            *whole, text = text.split(b"\n\n")
            for one in whole:
                told.add(one)
        return told

    def close(self) -> None:
        self._socket.close()


class Told:
    """What one follower was told: the numbers of events, and whether that was all."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.ended = False

    def add(self, text: bytes) -> None:
        """Take one event; chunks of HTTP come between its lines, which say nothing here."""
        for line in text.split(b"\n"):
            if line.startswith(b"id: "):
                self.numbers.append(int(line[4:]))
            elif line == b"event: end":
                self.ended = True

    def is_whole(self, count: int) -> bool:
        return self.ended and self.numbers == list(range(count))


class Following:
    """A server that is followed; `count` tells how many streams it has open."""

    def __init__(self, url: str, key: str, plot: Plot, say: Callable[[str], None]) -> None:
        self._url = url
        self._key = key
        self._plot = plot
        self._say = say
        self.seen = Seen()

    async def play(self) -> Seen:
        """Follow to the end, and return what was noticed."""
        plot = self._plot
        async with Wire(self._url, self._key) as wire:
            ids = [await self._started(wire) for _ in range(plot.executions)]
        everybody = [ids[number % len(ids)] for number in range(plot.readers + plot.stalled)]
        followers = [
            Follower(self._url, self._key, id_, stalled=number >= plot.readers) for number, id_ in enumerate(everybody)
        ]
        readers, stalled = followers[: plot.readers], followers[plot.readers :]
        try:
            for one in followers:
                await one.begin()
            await self._until(len(followers))
            self._say(f"{plot.readers} read and {plot.stalled} do not")
            measuring = asyncio.create_task(self._measure())
            reading = [asyncio.create_task(one.events()) for one in readers]
            await asyncio.gather(*(self._answer_all(id_) for id_ in ids))
            await self._check(ids, readers, await asyncio.gather(*reading))
            self._say(f"{self.seen.events} events were told")
            for one in readers:
                one.close()
            await self._until(0)
            self._say("those who do not read were let go")
            measuring.cancel()
            for text in await asyncio.gather(*(one.rest() for one in stalled)):
                if b"event: end" in text:
                    self.seen.problems.append("One who did not read was told all: it was never behind.")
        finally:
            for one in followers:
                one.close()
        return self.seen

    async def _started(self, wire: Wire) -> str:
        body = {"workflow": "chatty", "input": {"rounds": self._plot.rounds}, "wait": "60s"}
        heard = await wire.ask("POST", "/api/v1/executions", body)
        assert heard.status == 202, heard
        return str(heard.json["id"])

    async def _answer_all(self, execution_id: str) -> None:
        """Answer an execution each time that it asks, until it has ended."""
        async with Wire(self._url, self._key) as wire:
            for number in range(self._plot.rounds):
                point = await self._open_point(wire, execution_id)
                text = f"{number} " + "x" * self._plot.text
                heard = await wire.ask("POST", f"/api/v1/pause-points/{point}/answer", {"data": {"text": text}})
                if heard.status != 201:
                    self.seen.problems.append(f"An answer was not taken: {heard.status} {heard.body[:300]!r}")

    async def _open_point(self, wire: Wire, execution_id: str) -> str:
        while True:
            heard = await wire.ask("GET", f"/api/v1/pause-points?execution_id={execution_id}&status=open")
            items = heard.json["items"]
            if items:
                return str(items[0]["id"])
            await asyncio.sleep(_BETWEEN_LOOKS)

    async def _check(self, ids: list[str], readers: list[Follower], told: list[Told]) -> None:
        async with Wire(self._url, self._key) as wire:
            lasts = {id_: await self._last(wire, id_) for id_ in ids}
        for one, heard in zip(readers, told, strict=True):
            self.seen.events += len(heard.numbers)
            if not heard.is_whole(lasts[one.execution_id] + 1):
                wanted = f"not 0 to {lasts[one.execution_id]} in order"
                self.seen.problems.append(f"{one.execution_id}: told {heard.numbers[-5:]} at last, {wanted}.")

    async def _last(self, wire: Wire, execution_id: str) -> int:
        found: Any = (await wire.ask("GET", f"/api/v1/executions/{execution_id}")).json
        if found["status"] != "completed":
            self.seen.problems.append(f"{execution_id} is {found['status']}.")
        return int(found["last_seq"])

    async def _until(self, count: int) -> None:
        """Wait until so many streams are open."""
        async with Wire(self._url, self._key) as wire:
            while await streams_open(wire) != count:  # noqa: ASYNC110 - it is in another process
                await asyncio.sleep(_BETWEEN_LOOKS)

    async def _measure(self) -> None:
        """Ask for something small again and again."""
        async with Wire(self._url, self._key) as wire:
            while True:
                began = perf_counter()
                await wire.ask("GET", "/healthz")
                self.seen.answer_times.append(perf_counter() - began)
                await asyncio.sleep(_BETWEEN_LOOKS)


async def streams_open(wire: Wire) -> int:
    """Return how many streams a server says that it has open."""
    text = (await wire.ask("GET", "/metrics")).body.decode()
    line = next(line for line in text.splitlines() if line.startswith("layover_streams_open"))
    return int(float(line.rpartition(" ")[2]))
