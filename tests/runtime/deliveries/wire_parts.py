"""Shipments for the tests of wires, and a mail server on this machine that behaves as a test wants."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from email import message_from_bytes
from email.policy import default
from typing import TYPE_CHECKING, Any, cast

from aiosmtpd.smtp import SMTP

from layover.core.ids import uuid8
from layover.runtime.deliveries.parcels import Parcel
from layover.runtime.deliveries.shipments import Shipment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from email.message import EmailMessage

    from aiosmtpd.smtp import Envelope, Session

    from layover.runtime.deliveries.destination_config import KnownDestination

NOW = 1_780_000_000_000
ID = uuid8("a delivery")
LONG = 60_000


def shipment(destination: KnownDestination, parcel: Parcel | None = None, **fields: Any) -> Shipment:
    """Return the first attempt at something."""
    told = parcel or Parcel(kind="pause.opened", at=NOW, workflow="order", subject="Approve", text="Please look.")
    found: dict[str, Any] = {"id": ID, "attempt": 1, "at": NOW, "destination": destination, "parcel": told} | fields
    return Shipment(**found)


class MailServer:
    """Takes mails, unless the test has it do something else at RCPT or after DATA."""

    def __init__(
        self, at_recipient: Callable[[str], str] | None = None, at_end: Callable[[SMTP], object] | None = None
    ) -> None:
        self._at_recipient = at_recipient or (lambda _: "250 OK")
        self._at_end = at_end
        self.taken: list[tuple[str, EmailMessage]] = []
        self.raw: list[bytes] = []
        self.port = 0
        self.never = asyncio.Event()

    @property
    def address(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[MailServer]:
        loop = asyncio.get_running_loop()
        made: list[SMTP] = []

        def make() -> SMTP:
            made.append(SMTP(self, hostname="mail.test", loop=loop))
            return made[-1]

        server = await loop.create_server(make, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.never.set()
            server.close()
            serving = [one._handler_coroutine for one in made if one._handler_coroutine is not None]  # noqa: SLF001 - else it outlives the test
            for one in made:
                if isinstance(one.transport, asyncio.Transport):
                    one.transport.abort()
            await asyncio.gather(*serving, return_exceptions=True)
            await server.wait_closed()

    async def handle_RCPT(  # noqa: N802 - the library calls it so
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        reply = self._at_recipient(address)
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = cast("bytes", envelope.content)
        self.raw.append(content)
        self.taken.append((envelope.rcpt_tos[0], message_from_bytes(content, policy=default)))
        if self._at_end is not None:
            outcome = self._at_end(server)
            if asyncio.iscoroutine(outcome):
                await outcome
            elif isinstance(outcome, str):
                return outcome
        return "250 OK: taken"


@asynccontextmanager
async def dripping(first: bytes, drop: bytes) -> AsyncIterator[int]:
    """Open a server that sends byte after byte, and never comes to an end; yield its port."""
    serving: list[asyncio.Task[None] | None] = []

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        with suppress(ConnectionError):
            writer.write(first)
            while True:
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.transport.abort()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        await asyncio.gather(*filter(None, serving))
