"""A wire that records what is sent and answers as a test wants, and engines whose time passes when the test says so."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from layover.model.people import Person
from layover.ports.delivery_records import DeliveryFilter
from layover.runtime.deliveries.outcomes import SendOutcome, failed
from layover.runtime.machine import Machine
from layover.runtime.runtime import Runtime
from layover.settings import Settings, runtime_settings
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from layover.testing.virtual_time import VirtualClock, VirtualTime
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from layover.nodes.registry import AnyFunction
    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.runtime.deliveries.shipments import Shipment

SENT = SendOutcome(verdict="sent", health="good")
REFUSED = failed("http_status", "The receiver said 500.")
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000

DESTINATIONS: dict[str, dict[str, object]] = {
    "mail": {"kind": "mail", "address": "smtp://localhost", "from": "layover@example.org"},
    "erp": {"kind": "webhook", "address": "https://erp.example/hook"},
    "ops-chat": {"kind": "chat", "address": {"secret": "OPS_CHAT"}, "rate": "100/s"},
}


# Nothing is looked for between the moments at which something is due: a test goes from one to the next.
_AT_REST: dict[str, object] = {
    "poll": "1000d",
    "command_poll": "1000d",
    "outbox_poll": "1000d",
    "audit_poll": "1000d",
    "purge_every": "1000d",
    "lease_ttl": "9000d",
    "grace": "1s",
}


class RecordingWire:
    """Takes every shipment; what becomes of it is up to the test."""

    def __init__(self) -> None:
        self.made: list[Shipment] = []
        self._made = asyncio.Event()
        self.answer: Callable[[Shipment], SendOutcome | Awaitable[SendOutcome]] = lambda _: SENT

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Record an attempt."""
        self.made.append(shipment)
        self._made.set()
        answer = self.answer(shipment)
        return answer if isinstance(answer, SendOutcome) else await answer

    async def until(self, count: int, destination: str | None = None) -> None:
        """Wait until so many attempts were begun."""
        while len(self.told(destination)) < count:
            self._made.clear()
            await self._made.wait()

    def told(self, destination: str | None = None) -> list[tuple[str, str]]:
        """Return what was attempted, in order: the kind, and whom it was for."""
        return [
            (one.parcel.kind, one.user or one.address)
            for one in self.made
            if destination in (None, one.destination.name)
        ]


class People:
    """A directory in Python: everybody has a mail address, unless they are nobody."""

    def __init__(self, roles: dict[str, tuple[str, ...]] | None = None) -> None:
        self.roles = roles or {}

    async def people(self, users: Sequence[str], roles: Sequence[str]) -> list[Person]:
        """Return people."""
        named = dict.fromkeys(users, ()) | {u: r for u, r in self.roles.items() if u in users or {*r} & {*roles}}
        return [
            Person(user=user, roles=found, addresses={"mail": f"{user}@example.org"})
            for user, found in named.items()
            if user != "nobody"
        ]


class FixedSecrets:
    """Secrets that a test can change."""

    def __init__(self, **values: str) -> None:
        self.values = values

    async def get(self, name: str) -> Any:
        """Return a secret."""
        from layover.ports.secrets import Secret  # noqa: PLC0415

        return Secret(self.values[name]) if name in self.values else None


def store_at(folder: Path, time: VirtualTime) -> Store:
    """Return a store on the database of a folder, which goes by the time of the test."""
    address = address_in(folder)
    if address.startswith("postgres"):
        return PostgresStore(address, clock=time)
    return SqliteStore(folder / "layover.db", clock=time, between_looks=0)


_TURNS = 20  # of the event loop


class Office:
    """The engines of one test, on one database and one time, with one wire."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = VirtualTime()
        self.wire = RecordingWire()
        self.secrets = FixedSecrets(OPS_CHAT="https://chat.example/services/T1")

    @asynccontextmanager
    async def engine(
        self, *nodes: AnyFunction, secrets: Iterable[Secrets] | None = None, wire: bool = True, **settings: Any
    ) -> AsyncIterator[Runtime]:
        """Open an engine."""
        fields: dict[str, Any] = {"destinations": DESTINATIONS, "directory": People(), **_AT_REST} | settings
        machine = Machine()
        machine.chance.seed(7)
        if wire:
            machine.wire = self.wire
        made = Runtime(
            store_at(self.folder, self.time),
            nodes=nodes,
            settings=runtime_settings(Settings(**fields)),
            secrets=[self.secrets] if secrets is None else secrets,
            clock=VirtualClock(self.time),
            machine=machine,
        )
        async with made:
            yield made

    async def skip(self, milliseconds: int, *engines: Runtime) -> None:
        """Let time pass, from one moment at which something is due to the next."""
        until = self.time.now + milliseconds
        while True:
            await self.settle(*engines)
            due = self.time.next_due()
            if due is None or due > until:
                break
            self.time.pass_to(due)
        self.time.pass_to(until)
        await self.settle(*engines)

    async def settle(self, *engines: Runtime) -> None:
        """Wait until nothing is on its way: what is due is sent, and no message is in the outbox."""
        for _ in range(3):
            for engine in engines:
                while not await self._is_quiet(engine):
                    pass  # it asks the store, and meanwhile the engine goes on
            for _ in range(_TURNS):  # in which services that were hinted say when they look next
                await asyncio.sleep(0)

    async def _is_quiet(self, engine: Runtime) -> bool:
        instance, now = engine.instance, self.time.now
        if (await instance.store.queries.read_gauges(now, 0, 1)).due or len(instance.driver.active):
            return False
        messages = await instance.store.outbox.read_due(now + 2_000, 1)
        if messages.due:
            instance.outbox_relay.post(())
            return False
        due = await instance.store.deliveries.read_due(now)
        if due.names:
            instance.delivery_sender.hint()
            return False
        return instance.delivery_sender.is_idle


async def deliveries(engine: Runtime, **wanted: Any) -> list[DeliveryRow]:
    """Return deliveries, the oldest first."""
    found = await engine.instance.store.deliveries.list_deliveries(DeliveryFilter(**wanted, limit=1_000))
    return sorted(found, key=lambda row: (row.created_at, row.n, row.destination, row.address))


def asking(*rules: Mapping[str, object], **fields: object) -> dict[str, object]:
    """Return a workflow that asks two people for an approval."""
    ask = {"id": "ask", "type": "approval", "title": "Approve the order", "approvers": {"users": ["ada", "bob"]}}
    return {"name": "order", "notify": list(rules), "nodes": [ask | fields]}
