"""A mail server that keeps what it gets: enough of SMTP for one client, and nothing else."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from email.message import EmailMessage


class MailServer:
    """Takes mails, in the order in which they come."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.address = ""
        self._came = asyncio.Condition()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk to one client until it leaves."""
        writer.write(b"220 here\r\n")
        async for line in reader:
            word = line.split(b" ")[0].strip().upper()
            if word == b"DATA":
                writer.write(b"354 go on\r\n")
                content = await reader.readuntil(b"\r\n.\r\n")
                async with self._came:
                    self.mails.append(message_from_bytes(content[:-5], policy=policy.default))
                    self._came.notify_all()
            elif word == b"QUIT":
                break
            writer.write(b"250 fine\r\n")
            await writer.drain()
        writer.close()

    async def received(self, count: int) -> list[EmailMessage]:
        """Return the mails once there are so many."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.mails) >= count)
        return self.mails


@asynccontextmanager
async def mail_server() -> AsyncIterator[MailServer]:
    """Serve mail at a free port of this machine."""
    found = MailServer()
    async with await asyncio.start_server(found.talk, "127.0.0.1", 0) as server:
        found.address = f"smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield found
