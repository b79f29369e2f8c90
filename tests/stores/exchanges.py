"""Random operations on what executions exchange: messages, signals, limits, and what is left of them in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import CLOSED, Message, Signal, Token
from tests.stores.conformance import WORKFLOWS, uid

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    from layover.ports.records import Head
    from layover.ports.store import Store

Call: TypeAlias = "Callable[[Store], Awaitable[object]]"

EXECUTIONS = [uid(n) for n in range(1, 7)]
INSTANCES = ("one", "two")
TYPES = ("mail", "fax", "phone")
NAMES, KEYS = ("paid", "sent"), ("k1", "k2")
SIGNALS = [f"s{n}" for n in range(20)]
HASHES_OF_TOKENS = [b"t%d" % n for n in range(12)]


class Exchanges:
    """Pieces of operations, and the operations beside those that move executions."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._now = 0
        self._heads: dict[str, Head] = {}
        self._messages: list[Message] = []
        self._signals: list[Signal] = []
        self._tokens_known: list[bytes] = []
        self._admissions: list[str] = []

    def _chance(self, percent: int) -> bool:
        return self._dice.randrange(100) < percent

    def _soon(self) -> int:
        return self._now + self._dice.randrange(12)

    def _id(self) -> str:
        return "no-uuid" if self._chance(12) else self._dice.choice(EXECUTIONS)

    def _ids(self) -> list[str]:
        return [self._id() for _ in range(self._dice.randrange(4))]

    def _limit(self) -> int:
        return self._dice.choice((-1, 0, 1, 2, 3, 100, 100, 100))

    def _types(self) -> tuple[str, ...]:
        return tuple(self._dice.sample(TYPES, self._dice.choice((0, 0, 1, 2))))

    def _tokens(self) -> tuple[Token, ...]:
        return tuple(Token(hash=self._dice.choice(HASHES_OF_TOKENS), point="p") for _ in range(2))

    # Outboxes

    def _sending(self, execution_id: str) -> tuple[Message, ...]:
        return tuple(self._message(execution_id) for _ in range(self._dice.randrange(1, 4)))

    def _message(self, execution_id: str) -> Message:
        return Message(
            sender=self._dice.choice(EXECUTIONS) if self._chance(2) else execution_id,
            n=self._now * 3 + self._dice.randrange(6),
            destination=self._dice.choice(("a", "b", execution_id)),
            kind="Start",
            body=b"%d" % self._now,
            due_at=self._soon(),
        )

    def _known_message(self) -> Message:
        message = self._dice.choice(self._messages or [self._message(uid(1))])
        return replace(message, sender="no-uuid") if self._chance(8) else message

    def draw_outbox(self) -> Call:
        now, most = self._now, self._limit()
        return lambda store: store.outbox.read_due(now, most)

    def draw_sent(self) -> Call:
        messages = [self._known_message() for _ in range(self._dice.randrange(4))]
        return lambda store: store.outbox.delete_delivered(messages)

    def draw_postpone(self) -> Call:
        message, due_at = self._known_message(), self._soon()
        message = replace(message, n=message.n + 50) if self._chance(20) else message
        return lambda store: store.outbox.postpone(message, due_at)

    def draw_outgoing(self) -> Call:
        sender = self._id()
        return lambda store: store.outbox.list_undelivered(sender)

    def draw_token(self) -> Call:
        hash_ = self._dice.choice([*self._tokens_known * 3, *HASHES_OF_TOKENS])
        return lambda store: store.queries.find_token(hash_)

    # Signals

    def draw_keep_signal(self) -> Call:
        signal = Signal(
            id=self._dice.choice(SIGNALS),
            name=self._dice.choice(NAMES),
            key=self._dice.choice(KEYS),
            at=self._now - self._dice.randrange(3),
            data=b"%d" % self._now,
        )
        return lambda store: store.signals.add(signal)

    def draw_waits(self) -> Call:
        name, key = self._dice.choice(NAMES), self._dice.choice(KEYS)
        return lambda store: store.signals.list_waits(name, key)

    def draw_signals(self) -> Call:
        known = [(one.name, one.key) for one in self._signals]
        name, key = self._dice.choice([*known, ("paid", "k1")])
        since = self._now - self._dice.randrange(20)
        return lambda store: store.signals.list_since(name, key, since)

    def draw_undispatched(self) -> Call:
        before, most = self._now - self._dice.randrange(9), self._limit()
        return lambda store: store.signals.list_undispatched(before, most)

    def draw_dispatched(self) -> Call:
        known = [one.id for one in self._signals]
        ids = [self._dice.choice([*known, *SIGNALS[:3]]) for _ in range(self._dice.randrange(6))]
        return lambda store: store.signals.mark_dispatched(ids)

    def draw_forget_signals(self) -> Call:
        before, most = self._now - self._dice.randrange(5), self._limit()
        return lambda store: store.signals.delete_old(before, most)

    # Limits

    def draw_forget_rates(self) -> Call:
        now = self._now - self._dice.randrange(5)
        return lambda store: store.limits.delete_unused_rates(now)

    def draw_admit(self) -> Call:
        most = 0 if self._chance(4) else self._dice.choice((1, 1, 2))
        slots = ConcurrencyLimit(
            name=self._dice.choice(("s", "s", "s", "t")),
            limit=most,
            on_conflict=self._dice.choice(("queue", "queue", "reject", "cancel_running")),
        )
        rate = RateLimit(name=self._dice.choice(("r", "q")), limit=self._dice.choice((1, 1, 3)), per_ms=20)
        wish = AdmissionRequest(
            execution_id=self._id(),
            slots=slots if self._chance(70) else None,
            rate=rate if self._chance(50) else None,
            priority=self._dice.choice((0, 0, 1)),
        )
        now = self._now
        return lambda store: store.limits.admit(wish, now)

    def _placed(self) -> str:
        """Draw an execution that has a place more often than one that has none."""
        return self._dice.choice(self._admissions) if self._admissions and self._chance(60) else self._id()

    def draw_free(self) -> Call:
        execution_id, now = self._placed(), self._now
        return lambda store: store.limits.release_slot(execution_id, now)

    def draw_admission(self) -> Call:
        execution_id = self._placed()
        return lambda store: store.limits.find_admission(execution_id)

    # Retention

    def draw_expendable(self) -> Call:
        before, most, workflow = self._soon(), self._limit(), self._dice.choice((None, None, *WORKFLOWS))
        return lambda store: store.retention.list_purgeable(before, most, workflow)

    def draw_purge(self) -> Call:
        closed = [id_ for id_, head in self._heads.items() if head.status in CLOSED]
        ids = [*self._ids(), *self._dice.sample(closed, min(len(closed), self._dice.randrange(2)))]
        before = self._dice.choice((None, self._soon()))
        return lambda store: store.retention.purge(ids, before)
