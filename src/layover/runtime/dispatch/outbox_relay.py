"""Delivers messages between executions.

Messages are rows of an outbox, committed with the log of their sender. The instance that wrote them delivers them at
once; those that a dead instance leaves behind come due, and any instance delivers them. A message is delivered in a
transaction of its destination and deleted afterwards, so it may arrive twice: the destination recognises it by sender
and number. Messages from one sender to one destination arrive in order: each is sent when the one before has arrived.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from layover.core.engine.command_codec import UnknownCommand, knows_command
from layover.core.notifications import NOTIFY
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreUnavailable
from layover.ports.limit_records import AdmissionRequest
from layover.ports.records import Enqueue
from layover.runtime.execution.outbox_messages import (
    ADMIT,
    FREE,
    HELD,
    OWN_FOR,
    REPORT,
    SCAN,
    START,
    ChildStart,
    Scanning,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.records import Message
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.new_messages import NewMessages
    from layover.runtime.dispatch.service import Service
    from layover.runtime.dispatch.signal_router import SignalRouter
    from layover.runtime.operations.starter import Starter

_MOST_AT_ONCE = 200
_LOOK_AGAIN = 60_000

_Way: TypeAlias = "tuple[str, str]"
_Key: TypeAlias = "tuple[str, int, str]"

_log = logging.getLogger("layover.outbox_relay")


class Expander(Protocol):
    """Makes deliveries of an occasion."""

    async def expand(self, message: Message) -> bool:
        """Insert the deliveries of an occasion and delete its message, in one transaction; false: try it later."""

    async def put_off(self, messages: Sequence[Message]) -> dict[int, int]:
        """Return which occasions, by their places, are to be expanded later and when: their destinations are busy."""


class OutboxRelay:
    """Delivers messages for as long as the instance lives."""

    def __init__(
        self, store: Store, driver: Driver, new: NewMessages, starter: Starter, signal_router: SignalRouter
    ) -> None:
        self._store = store
        self._driver = driver
        self._new = new
        self._starter = starter
        self._signal_router = signal_router
        self._at_hand: dict[_Key, Message] = {}
        self.expander: Expander | None = None
        self.post = new.post

    def stop(self) -> None:
        """Deliver the messages at hand and stop; other instances deliver the rest."""
        self._new.stop()

    async def run(self, service: Service) -> None:
        """Deliver until told to stop."""
        while self._new.written or self._at_hand or not self._new.is_stopped:
            try:
                await self._round()
            except Exception:
                self._leave_to_the_outbox()
                raise
            service.succeeded()
            if not (self._new.written or self._at_hand or self._new.is_stopped):
                await self._sleep()

    def _leave_to_the_outbox(self) -> None:
        """Forget all messages: each is still in the outbox, and comes due."""
        self._new.written.clear()
        self._at_hand.clear()
        self._new.look_at = self._driver.clock.now() + self._driver.settings.outbox_poll

    async def _round(self) -> None:
        """Read overdue messages from the outbox if it is time to, and deliver the messages at hand."""
        now = self._driver.clock.now()
        if now >= self._new.look_at and not self._new.is_stopped:
            await self._look(now)
        if self._new.written:
            written, self._new.written = self._new.written, []
            await self._take_up(written)
        batch = _first_of_each(self._at_hand.values())
        for message in batch:
            del self._at_hand[_key(message)]
        if batch:
            await self._deliver(batch)

    async def _look(self, now: int) -> None:
        outbox = await self._store.outbox.read_due(now, _MOST_AT_ONCE)
        self._at_hand.update((_key(message), message) for message in outbox.due)
        self._new.look_at = now + self._driver.settings.outbox_poll
        if len(outbox.due) == _MOST_AT_ONCE:
            self._new.look_at = now  # there may be more
        elif outbox.next_due is not None:
            self._new.look_at = min(self._new.look_at, outbox.next_due)
        oldest = outbox.undispatched_since
        if oldest is not None and oldest < now - OWN_FOR:  # else there is nothing to ask for, and asking costs
            await self._signal_router.look(now)

    async def _take_up(self, written: list[Message]) -> None:
        """Take up messages that were just written, behind those that another instance has left on the same way."""
        ways = dict.fromkeys(_way(message) for message in written if message.kind not in _NEED_NOT_WAIT)
        for sender in dict.fromkeys(sender for sender, _ in ways):
            for message in await self._store.outbox.list_undelivered(sender):
                if _way(message) in ways:
                    self._at_hand[_key(message)] = message
        self._at_hand.update((_key(message), message) for message in written)

    async def _deliver(self, batch: list[Message]) -> None:
        batch = await self._without_those_put_off(batch)
        own = [message for message in batch if not _is_command(message)]
        commands = [message for message in batch if _is_command(message)]
        told, brought = await asyncio.gather(self._command(commands), asyncio.gather(*map(self._bring, own)))
        arrived = [*told, *(message for message, has_arrived in zip(own, brought, strict=True) if has_arrived)]
        reached(CommitPoint.MESSAGES_DELIVERED)
        if arrived:
            await self._store.outbox.delete_delivered(arrived)
            reached(CommitPoint.MESSAGES_SENT)

    async def _without_those_put_off(self, batch: list[Message]) -> list[Message]:
        """Postpone the occasions that need not be expanded yet, and return the other messages."""
        notices = [message for message in batch if message.kind == NOTIFY]
        if not notices or self.expander is None:
            return batch
        later = {_key(notices[place]): at for place, at in (await self.expander.put_off(notices)).items()}
        if not later:
            return batch
        put_off = [message for message in notices if _key(message) in later]
        self._hold_back(put_off)
        self._new.look_at = min(self._new.look_at, *later.values())
        await asyncio.gather(*(self._store.outbox.postpone(message, later[_key(message)]) for message in put_off))
        return [message for message in batch if _key(message) not in later]

    async def _command(self, messages: list[Message]) -> list[Message]:
        """Enqueue commands for other executions, and return them; closed and purged ones need none."""
        try:
            await self._driver.send([_command_of(message) for message in messages])
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - each is tried alone, and the one that cannot be delivered is logged
            return [message for message in messages if await self._bring(message)]
        return messages

    async def _bring(self, message: Message) -> bool:
        """Deliver one message; return whether it has arrived."""
        try:
            return await self._bring_one(message)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one that cannot be delivered must not keep back the others
            _log.exception("message_undeliverable sender=%s n=%d kind=%s", message.sender, message.n, message.kind)
            self._hold_back([message])
            await self._store.outbox.postpone(message, self._driver.clock.now() + _LOOK_AGAIN)
            return False

    def _hold_back(self, messages: Sequence[Message]) -> None:
        """Leave messages in the outbox that would overtake some that have not arrived."""
        ways = {_way(message) for message in messages}
        self._at_hand = {key: one for key, one in self._at_hand.items() if _way(one) not in ways}

    async def _bring_one(self, message: Message) -> bool:
        now = self._driver.clock.now()
        match message.kind:
            case "start":
                start = msgspec.json.decode(message.body, type=ChildStart)
                await self._starter.begin_child(message.sender, message.destination, start)
            case "scan":
                scanning = msgspec.json.decode(message.body, type=Scanning)
                await self._signal_router.scan(message.sender, scanning)
            case "admit":
                await self._starter.apply(msgspec.json.decode(message.body, type=AdmissionRequest), message)
                return False  # by now it is gone, or kept for later
            case "held":
                await self._starter.look_again(message.sender, message.body.decode())
            case "free":
                if await self._store.limits.release_slot(message.sender, now):
                    self._driver.hint(0)
            case "notify":
                return await self._expand(message)
            case _ if _is_command(message):
                await self._driver.send([_command_of(message)])
            case _:  # a newer release wrote it, and knows whether it is a command at all
                raise UnknownCommand(f"There is no message `{message.kind}` in this release of Layover.")
        return True

    async def _expand(self, message: Message) -> bool:
        """Make deliveries of an occasion, with which the message goes; without a way to do that, it stays."""
        if self.expander is None or not await self.expander.expand(message):
            self._hold_back([message])
            await self._store.outbox.postpone(message, self._driver.clock.now() + _LOOK_AGAIN)
        return False

    async def _sleep(self) -> None:
        await self._new.wait(self._driver.clock)


_OWN_KINDS = frozenset({START, SCAN, ADMIT, FREE, HELD, NOTIFY})
# What goes before anything else to its destination; what has one reader; occasions, whose order the store keeps; and
# word of the end, after which nothing that was to be there before it makes a difference.
_NEED_NOT_WAIT = _OWN_KINDS | {REPORT}


def _first_of_each(messages: Iterable[Message]) -> list[Message]:
    """Return the messages that can go at once: the first of each pair of sender and destination."""
    first: dict[_Way, Message] = {}
    for message in messages:
        way = _way(message)
        known = first.get(way)
        if known is None or message.n < known.n:
            first[way] = message
    return list(first.values())[:_MOST_AT_ONCE]


def _is_command(message: Message) -> bool:
    return message.kind not in _OWN_KINDS and knows_command(message.kind)


def _command_of(message: Message) -> Enqueue:
    return Enqueue(
        execution_id=message.destination,
        kind=message.kind,
        body=message.body,
        source=message.sender,
        source_n=message.n,
    )


def _way(message: Message) -> _Way:
    return message.sender, message.destination


def _key(message: Message) -> _Key:
    return message.sender, message.n, message.destination
