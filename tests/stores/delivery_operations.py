"""Random operations on deliveries, destinations and people, beside executions that write and close."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.notifications import NOTIFY
from layover.ports.delivery_records import (
    DELIVERY_STATES,
    ClaimedDeliveries,
    DeliveryChange,
    DeliveryClaim,
    DeliveryFilter,
    DeliveryRow,
    DestinationRow,
    DestinationSave,
    DestinationSaved,
    DueDestinations,
    PersonRow,
    Settled,
    Settlement,
)
from layover.ports.records import CLOSED, ClosedExecution, Message
from tests.stores.conformance import following, uid
from tests.stores.exchanges import EXECUTIONS
from tests.stores.operations import Operation, Operations, kinds_of

if TYPE_CHECKING:
    import random

    from layover.ports.delivery_records import DeliveryState, Health
    from tests.stores.exchanges import Call
    from tests.stores.operations import State

DELIVERIES = [uid(1_000 + n) for n in range(14)]
SENDERS = [uid(77)]  # of what settlements write
DESTINATIONS = ("chat", "mail", "shop")
LANES = ("", "l1", "l2")
POINTS = ("", "p1", "p2")
CONFIGS = (b'{"webhook":1}', b'{"webhook":2}')
USERS = ("ann", "bob", "zoe")
ROLES = ("clerk", "chief", "cook")
UNFIT = "a\0b"  # for any database
LEAPS = (0, 0, 0, 1, 1, 1, 30, 900, 40_000)
DAYS = 5 * 86_400_000

INHERITED = ("purge", "outbox", "outgoing", "audit", "save_version")
OFTEN = {"commit": 5, "expand": 6, "claim_deliveries": 8, "settle": 14, "change": 4, "deliveries": 3, "enable": 2}

DELIVERY_READS = {
    *("read_due", "delivery", "deliveries", "count_sent", "count_waiting", "count_deliveries"),
    *("destination", "destinations"),
    *("people", "people_listed", "outbox", "outgoing", "audit"),
}

DELIVERY_WAYS = {
    f"{name}: {way}"
    for name, ways in {
        "commit": "passed fenced unknown_version",
        "expand": "some nothing malformed_id malformed",
        "read_due": "some later nothing",
        "claim_deliveries": "some several trial later nothing malformed",
        "settle": "late sent again given_back dead moot opened closed disabled failing outcome dead_outcome "
        "discarded malformed_id",
        "change": "again discarded moot outcome dead_outcome nothing malformed_id",
        "delivery": "some nothing malformed_id",
        "deliveries": "some nothing malformed_id",
        "count_sent": "some nothing malformed_id",
        "count_waiting": "some nothing",
        "count_deliveries": "some nothing",
        "forget_deliveries": "some nothing",
        "save_destination": "saved taken unknown malformed",
        "delete_destination": "saved unknown",
        "enable": "active disabled malformed",
        "destination": "some nothing",
        "destinations": "some nothing",
        "save_person": "done nothing malformed",
        "delete_person": "some nothing",
        "people": "some nothing",
        "people_listed": "some nothing",
        "purge": "some nothing malformed_id",
        "outbox": "some nothing",
        "outgoing": "some nothing malformed_id",
        "audit": "some nothing",
        "save_version": "done nothing",
    }.items()
    for way in ways.split()
}


class DeliveryOperations(Operations):
    """A stream of operations about deliveries that belong to one seed."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        own = [name.removeprefix("draw_") for name in vars(DeliveryOperations) if name.startswith("draw_")]
        self._names = [*own, *INHERITED, *(name for name, more in OFTEN.items() for _ in range(more))]
        self._names_used = DESTINATIONS if self._chance(60) else DESTINATIONS[:1]
        self._luck = self._dice.choice((5, 90))  # of 100 attempts
        self._deliveries: list[DeliveryRow] = []
        self._destinations: list[DestinationRow] = []

    def draw(self, state: State) -> Operation:
        """Draw the next operation; time goes fast at times, for breakers to open."""
        self._now += DAYS if self._chance(1) else self._dice.choice(LEAPS)
        self._deliveries = cast("list[DeliveryRow]", state["deliveries"])
        self._destinations = cast("list[DestinationRow]", state["destinations"])
        return super().draw(state)

    def kinds(self, name: str, answer: object, before: State, after: State) -> set[str]:
        """Return how an operation went: what it answered, and what it changed."""
        ways = _changes(before, after) if name in ("settle", "change") else set[str]()
        match answer:
            case Settled(passed=False):
                ways = {"late"}
            case DestinationSaved():
                ways = {answer.verdict}
            case DestinationRow() if name == "enable":
                ways = {answer.state}
            case DueDestinations(names=()) | ClaimedDeliveries(deliveries=()):
                ways = {"nothing" if answer.next_due is None else "later"}
            case ClaimedDeliveries():
                row = next(iter(answer.deliveries))
                tried = any(one.name == row.destination and one.open_until for one in _destinations(before))
                ways = {"some" if len(answer.deliveries) == 1 else "several", *(["trial"] if tried else [])}
            case Settled() if not ways:  # it has changed nothing
                ways = {"again"}
            case None if name == "change":
                ways = {"nothing"}
            case None if name == "save_person":
                ways = {"done" if after != before else "nothing"}
            case _ if not ways:
                return kinds_of(name, answer, changed=after != before)
        return {f"{name}: {way}" for way in ways}

    # From the log to deliveries

    def draw_commit(self) -> Call:
        execution_id = self._dice.choice(EXECUTIONS)
        head = self._heads.get(execution_id)
        if head is None:
            append = self._creation(execution_id)
        else:
            append = following(head, at=self._now, **self._dice.choice(({}, {}, {}, {"epoch": head.epoch - 1})))
        if head is not None and (head.status in CLOSED or self._chance(25)):
            append = replace(append, status="completed", closed=ClosedExecution())
        message = Message(
            sender=execution_id, n=self._dice.randrange(10**6), destination=NOTIFY, kind=NOTIFY, body=b"{}", due_at=0
        )
        append = replace(append, messages=(message,) if append.closed is None or self._chance(30) else ())
        return lambda store: store.appends.commit([append])

    def draw_expand(self) -> Call:
        message = self._known_message()
        if self._chance(10):
            message = replace(message, n=message.n + 10**6)
        rows = [self._delivery(id_) for id_ in self._dice.sample(DELIVERIES, self._dice.randrange(5))]
        told = [self._told("expanded")] if self._chance(20) else []
        return lambda store: store.deliveries.expand(message, rows, told)

    def _delivery(self, id_: str) -> DeliveryRow:
        state: DeliveryState = self._dice.choice(DELIVERY_STATES) if self._chance(15) else "pending"
        awaited = self._chance(40)
        row = DeliveryRow(
            id=id_,
            execution_id=self._dice.choice((*EXECUTIONS[:2], *(() if awaited else (None,)))),
            workflow="order",
            n=self._dice.randrange(3),
            lane=self._dice.choice(LANES),
            destination=self._dice.choice(self._names_used),
            kind="pause.opened",
            point=self._dice.choice(POINTS),
            user=self._dice.choice(("", *USERS)),
            body=b"%d" % self._now,
            state=state,
            created_at=self._now // 8,
            due_at=self._soon(),
            settled_at=None if state == "pending" else self._now,
            awaited=awaited,
        )
        if not self._chance(4):
            return row
        unfit: list[dict[str, object]] = [
            {"id": "no-uuid"},
            {"execution_id": "no-uuid"},
            {"lane": UNFIT},
            {"destination": UNFIT},
            {"execution_id": None, "awaited": True},  # for which point?
        ]
        return replace(row, **self._dice.choice(unfit))

    def _told(self, what: str) -> Message:
        return Message(
            sender=self._dice.choice(SENDERS),
            n=self._dice.randrange(200),
            destination="there",
            kind="Told",
            body=what.encode(),
            due_at=self._soon(),
        )

    # Sending

    def draw_read_due(self) -> Call:
        now = self._dice.choice((self._now, self._now, 0))
        return lambda store: store.deliveries.read_due(now)

    def draw_claim_deliveries(self) -> Call:
        claim = DeliveryClaim(
            destination=UNFIT if self._chance(3) else self._dice.choice((*self._names_used, *self._names_used, "new")),
            now=self._now,
            due_again=self._now + self._dice.choice((1, 45, 45_000)),
            most=self._dice.choice((-1, 0, 1, 2, 4, 4)),
            interval=self._dice.choice((0, 0, 0, 1, 20, 300, 2_000)),
        )
        return lambda store: store.deliveries.claim(claim)

    def draw_settle(self) -> Call:
        tried = [row for row in self._deliveries if row.state == "pending" and row.epoch]
        row = self._dice.choice(tried or self._deliveries or [self._delivery(DELIVERIES[0])])
        luck = 60 if any(row.open_until for row in self._destinations) else self._luck  # else none would close
        state: DeliveryState = self._dice.choice(DELIVERY_STATES) if self._chance(luck) else "pending"
        health: Health = "bad" if state == "pending" else "unknown"
        settlement = Settlement(
            id="no-uuid" if self._chance(3) else row.id,
            epoch=row.epoch - self._chance(8),
            at=self._now,
            state=state,
            due_at=self._soon() if state == "pending" else 0,
            reason=self._dice.choice(("", "Refused.", UNFIT, "half \ud800", "long" * 500)),
            attempt=b'{"at":%d}' % self._now if self._chance(70) else b"",
            health="good" if state == "sent" or self._chance(luck // 4) else health,
            disable="Gone." if self._chance(3) else "",
            gives_back=self._chance(12),
            messages=(self._told("made"),) if self._chance(20) else (),
            outcome=self._told("outcome") if self._chance(80) else None,
            dead_outcome=self._told("dead_outcome") if self._chance(80) else None,
            on_disabled=self._told("disabled") if self._chance(80) else None,
        )
        return lambda store: store.deliveries.settle(settlement)

    def draw_change(self) -> Call:
        row = self._dice.choice(self._deliveries or [self._delivery(DELIVERIES[0])])
        state: DeliveryState = self._dice.choice(("pending", "pending", "discarded", "moot"))
        change = DeliveryChange(
            id="no-uuid" if self._chance(3) else row.id,
            of=tuple(self._dice.sample(DELIVERY_STATES, self._dice.randrange(5))),
            state=state,
            at=self._now,
            reason=self._dice.choice(("", "By hand.", UNFIT)),
            audit=self._audit(),
            outcome=self._told("outcome") if self._chance(80) else None,
            dead_outcome=self._told("dead_outcome") if self._chance(80) else None,
        )
        return lambda store: store.deliveries.change(change)

    # Views

    def draw_delivery(self) -> Call:
        id_ = self._dice.choice((*DELIVERIES, *["no-uuid"] * 2))
        return lambda store: store.deliveries.find(id_)

    def draw_deliveries(self) -> Call:
        wanted = DeliveryFilter(
            state=self._dice.choice((None, None, None, *DELIVERY_STATES, "none")),
            destination=self._dice.choice((None, None, None, *DESTINATIONS)),
            execution_id=self._dice.choice((None, None, *EXECUTIONS[:3], "no-uuid")),
            point=self._dice.choice((None, None, None, *POINTS)),
            after=(self._dice.randrange(2 + self._now // 8), self._dice.choice((*DELIVERIES, "no-uuid")))
            if self._chance(30)
            else None,
            limit=self._limit(),
        )
        return lambda store: store.deliveries.list_deliveries(wanted)

    def draw_count_sent(self) -> Call:
        execution_id = self._dice.choice((*EXECUTIONS[:3], "no-uuid"))
        return lambda store: store.deliveries.count_sent(execution_id)

    def draw_count_waiting(self) -> Call:
        name, most = self._dice.choice(DESTINATIONS), self._limit()
        return lambda store: store.deliveries.count_waiting(name, most)

    def draw_count_deliveries(self) -> Call:
        return lambda store: store.deliveries.count_by_destination()

    def draw_forget_deliveries(self) -> Call:
        bodies, rows = self._now - self._dice.randrange(50_000), self._now - self._dice.choice((90, 80_000, DAYS))
        most = self._dice.choice((-1, 0, 1, 2, 3))
        return lambda store: store.deliveries.delete_old(bodies, rows, most)

    # Destinations

    def _named(self) -> str:
        return UNFIT if self._chance(5) else self._dice.choice((*DESTINATIONS, "new"))

    def draw_save_destination(self) -> Call:
        save = DestinationSave(
            name=self._named(),
            create=self._chance(60),
            config=self._dice.choice(CONFIGS),
            at=self._now,
            audit=self._audit(),
        )
        return lambda store: store.deliveries.save_destination(save)

    def draw_delete_destination(self) -> Call:
        known = [row.name for row in self._destinations]
        name = self._dice.choice([*known, *DESTINATIONS])
        save = DestinationSave(name=name, create=False, at=self._now, audit=self._audit())
        return lambda store: store.deliveries.save_destination(save)

    def draw_enable(self) -> Call:
        name, now, audit = self._named(), self._now, self._audit()
        why = self._dice.choice(("", "Gone.", UNFIT))
        disabled = self._chance(25)
        return lambda store: store.deliveries.set_destination_state(
            name, "disabled" if disabled else "active", why, now, audit
        )

    def draw_destination(self) -> Call:
        name = self._dice.choice((*DESTINATIONS, "new", "none"))
        return lambda store: store.deliveries.find_destination(name)

    def draw_destinations(self) -> Call:
        after, limit = self._dice.choice(("", *DESTINATIONS)), self._limit()
        return lambda store: store.deliveries.list_destinations(after, limit)

    # People

    def draw_save_person(self) -> Call:
        roles = tuple(self._dice.choices(ROLES, k=self._dice.randrange(4)))  # a role may be named twice
        row = PersonRow(
            user=UNFIT if self._chance(8) else self._dice.choice(USERS), roles=roles, changed_at=self._now // 10**6
        )
        audit = self._audit()
        return lambda store: store.people.save_person(row, audit)

    def draw_delete_person(self) -> Call:
        user, audit = self._dice.choice(USERS), self._audit()
        return lambda store: store.people.delete_person(user, audit)

    def draw_people(self) -> Call:
        users = self._dice.choices((*USERS, "none"), k=self._dice.randrange(3))
        roles = self._dice.choices((*ROLES, "none"), k=self._dice.randrange(3))
        return lambda store: store.people.find_people(users, roles)

    def draw_people_listed(self) -> Call:
        after, limit = self._dice.choice(("", *USERS)), self._limit()
        return lambda store: store.people.list_people(after, limit)


def _destinations(state: State) -> list[DestinationRow]:
    return cast("list[DestinationRow]", state["destinations"])


def _changes(before: State, after: State) -> set[str]:
    """Return what a settlement or a change has done to deliveries, to a breaker, and to those who wait."""
    ways: set[str] = set()
    rows = {row.id: row for row in cast("list[DeliveryRow]", after["deliveries"])}
    for was in cast("list[DeliveryRow]", before["deliveries"]):
        row = rows[was.id]
        if row.attempts == was.attempts - 1 and row.epoch == was.epoch:
            ways.add("given_back")
        if replace(row, awaited=was.awaited) != was:
            ways.add("again" if row.state == "pending" else row.state)
    known = {row.name: row for row in _destinations(before)}
    for now in _destinations(after):
        then = known.get(now.name, DestinationRow(name=now.name))
        if now.state != then.state:
            ways.add("disabled" if now.reason == "Gone." else "failing")
        if now.opened != then.opened:
            ways.add("opened" if now.opened else "closed")
    old, new = (cast("list[list[Message]]", state["told"])[0] for state in (before, after))
    ways |= {one.body.decode() for one in new if one not in old} & {"outcome", "dead_outcome"}
    return ways
