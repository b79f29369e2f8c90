"""Sends deliveries that are due, for as long as the instance lives.

It sleeps until the next moment at which something is due, which the store tells, or until a hint. Each destination is
served by a task of its own, with a few deliveries in flight: one that is slow holds up no other. What was claimed is
not claimed again before its timeout is over, and half a minute more; so an instance that dies leaves a delivery that
another sends once more, under the same id. An outcome is written under the epoch of its claim: one that comes too late
changes nothing.

A transaction costs more than a post. So a few more are claimed than can be in flight, as many as are soon sent, and
while some of those wait, outcomes are gathered for a moment and written together (`served_destination`).
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.ids import uuid8
from layover.core.notifications import REQUESTS
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.delivery_records import DeliveryClaim, DeliveryRow
from layover.ports.errors import StoreError
from layover.runtime.deliveries.outcomes import SendOutcome, failed, hopeless
from layover.runtime.deliveries.parcels import Parcel, read_parcel, write_parcel
from layover.runtime.deliveries.served_destination import ServedDestination
from layover.runtime.deliveries.settlements import attempt_of, given_back, moot, settlement_of
from layover.runtime.deliveries.shipments import Shipment
from layover.runtime.secrets.errors import SecretMissing, SecretNotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random  # noqa: TID251 - what the machine gives is one

    from layover.ports.delivery_records import DestinationRow, Settled, Settlement
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.deliveries.destination_config import KnownDestination
    from layover.runtime.deliveries.destinations import Destinations
    from layover.runtime.deliveries.mail_links import MailLinks
    from layover.runtime.deliveries.shipments import DeliveryWire
    from layover.runtime.dispatch.service import Service
    from layover.runtime.metrics import Metrics
    from layover.runtime.secrets.cached_secrets import CachedSecrets
    from layover.runtime.secrets.grants import SecretGrants
    from layover.runtime.settings import RuntimeSettings

_MOST_DESTINATIONS: Final = 100  # that are served at once
_TO_SETTLE: Final = 30_000  # milliseconds beyond the timeout, before another instance may send
_UNKNOWN_TIMEOUT: Final = 60_000  # of a destination that is known only by what it gets
_LEFT_FOR: Final = 600_000  # how long an instance that does not know a destination leaves it to the others
_LONGEST_AHEAD: Final = 10_000  # how long a claimed one may wait to be sent; less than the time to settle
_POLLS_AT_REST: Final = 5

_log = logging.getLogger("layover.deliveries")


class DeliverySender:
    """Claims, sends and settles deliveries."""

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        store: Store,
        clock: Clock,
        settings: RuntimeSettings,
        destinations: Destinations,
        wire: DeliveryWire,
        secrets: CachedSecrets,
        grants: SecretGrants,
        chance: Random,
        metrics: Metrics,
        told: Callable[[], None],
        links: MailLinks,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._destinations = destinations
        self._wire = wire
        self._secrets = secrets
        self._grants = grants
        self._chance = chance
        self._metrics = metrics
        self._links = links
        self._told = told  # messages were written
        self._hinted = asyncio.Event()
        self._look_at = 0
        self._stopped = False
        self._at_rest = False
        self._served: dict[str, ServedDestination] = {}
        self._flights: dict[asyncio.Task[None], DeliveryRow] = {}
        self._unknown: dict[str, int] = {}  # destinations that this instance does not know, since when

    def hint(self, at: int = 0) -> None:
        """Look at a moment at the latest."""
        self._look_at = min(self._look_at, at)
        self._hinted.set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being looked for, claimed or sent: it rests until a moment or a hint."""
        rests = self._at_rest and not self._hinted.is_set() and self._rests()
        return rests and not self._served and not self._flights

    def managed(self) -> dict[str, dict[str, Any]]:
        """Return the destinations of the settings and the functions of the program, by name, each with its `kind`."""
        return self._destinations.managed()

    async def run(self, service: Service) -> None:
        """Send until told to stop."""
        while not self._stopped:
            await self._round()
            service.succeeded()
            while self._rests():
                self._hinted.clear()
                self._at_rest = True
                await self._clock.wait(self._look_at, self._hinted)
            self._at_rest = False

    def _rests(self) -> bool:
        return not self._stopped and self._look_at > self._clock.now()

    async def _round(self) -> None:
        """Begin to serve every destination for which something is due."""
        now = self._clock.now()
        self._look_at = now + _POLLS_AT_REST * self._settings.poll
        due = await self._store.deliveries.read_due(now)
        if due.next_due is not None:
            self.hint(due.next_due)
        self._unknown = {name: since for name, since in self._unknown.items() if name in due.names}
        for name in due.names:
            if name in self._served:
                self._served[name].wake.set()  # one that is slow leaves room for others
                continue
            if len(self._served) >= _MOST_DESTINATIONS:
                break  # as soon as one of them is served, it is looked again
            if await self._leaves(name, now):
                self.hint(now + self._settings.poll)
                continue
            served = self._served[name] = ServedDestination(name)
            served.task = asyncio.get_running_loop().create_task(self._serve(served), name=f"deliveries {name}")
            served.task.add_done_callback(partial(self._has_served, name))

    async def _leaves(self, name: str, now: int) -> bool:
        """Return whether a destination is left to other instances for now, because this one does not know it."""
        if name.startswith("webhook:") or await self._destinations.find(name) is not None:
            self._unknown.pop(name, None)
            return False
        since = self._unknown.setdefault(name, now)
        return now - since < _LEFT_FOR and bool(await self._store.instances.list_others())

    # One destination

    async def _serve(self, served: ServedDestination) -> None:
        """Send what is due for a destination, a few at once, until nothing is."""
        while not self._stopped:
            served.wake.clear()
            await self._give_back(served.late(self._clock.now()))
            self._fly(served)
            if served.has_room and await self._claim(served):
                continue
            if served.is_at_rest and not served.wake.is_set():  # else something came while it was claiming
                return
            await served.wake.wait()
        await self._give_back(served.drop())

    async def _claim(self, served: ServedDestination) -> bool:
        """Claim what is due, and begin to send it; return whether more is due."""
        name = served.name
        known = await self._destinations.find(name)
        now = self._clock.now()
        timeout = known.timeout if known is not None else _UNKNOWN_TIMEOUT
        until = now + timeout + _TO_SETTLE
        interval = known.interval if known is not None else 0
        claim = DeliveryClaim(destination=name, now=now, due_again=until, most=served.room, interval=interval)
        claimed = await self._store.deliveries.claim(claim)
        if claimed.deliveries:
            reached(CommitPoint.DELIVERY_CLAIMED)
        more = claimed.next_due is not None and claimed.next_due <= now
        if claimed.next_due is not None and not (more and claimed.deliveries):  # else this task claims again
            self.hint(max(claimed.next_due, now + 1))
        served.take(claimed.deliveries, until, now + _LONGEST_AHEAD)
        self._fly(served)
        return bool(claimed.deliveries) and more

    def _fly(self, served: ServedDestination) -> None:
        """Begin to send what was claimed, as far as there is room."""
        while (found := served.next()) is not None:
            row, until = found
            task = asyncio.get_running_loop().create_task(self._deliver(served, row, until), name=f"delivery {row.id}")
            self._flights[task] = row
            task.add_done_callback(partial(self._landed, served, row))

    def _landed(self, served: ServedDestination, row: DeliveryRow, task: asyncio.Task[None]) -> None:
        """Note that one was settled: its lane has another first one."""
        del self._flights[task]
        served.settled(row)

    def _has_served(self, name: str, task: asyncio.Task[None]) -> None:
        served = self._served.pop(name)
        if not task.cancelled() and (error := task.exception()) is not None:
            fault = None if isinstance(error, StoreError) else error
            _log.warning("deliveries_failed destination=%s error=%s", name, type(error).__name__, exc_info=fault)
            self.hint(self._clock.now() + self._settings.poll)
        elif served.wake.is_set() or len(self._served) >= _MOST_DESTINATIONS - 1:
            self.hint()  # for what came after its last look, or for the one that waits to be served

    # One delivery

    async def _deliver(self, served: ServedDestination, row: DeliveryRow, until: int) -> None:
        """Send a delivery that was claimed, and write what came of it; if that fails, it comes due again."""
        try:
            began = self._clock.running()
            settlement = await self._send(row, began)
            served.took(self._clock.running() - began)
            if settlement.health == "good":
                served.sent(row)
                await served.gather(self._clock)
            await self._settle(served, row, settlement, until)
        except StoreError as error:
            _log.warning("delivery_failed id=%s error=%s", row.id, error.message)
        except Exception:  # noqa: BLE001 - one that cannot be sent must not hold up the others
            _log.exception("delivery_failed id=%s", row.id)

    async def _send(self, row: DeliveryRow, began: int) -> Settlement:
        if await self._is_moot(row):
            return moot(row, self._clock.now())
        parcel, outcome = await self._tried(row)
        reached(CommitPoint.DELIVERY_MADE)
        ms = self._clock.running() - began
        now = self._clock.now()
        settlement = settlement_of(row, parcel, outcome, attempt_of(outcome, now, ms), now, self._chance)
        self._metrics.delivered(row.destination, _outcome_name(settlement), ms / 1000)
        _log.info(
            "delivery id=%s destination=%s kind=%s outcome=%s ms=%d",
            *(row.id, row.destination, row.kind, _outcome_name(settlement), ms),
        )
        return settlement

    async def _is_moot(self, row: DeliveryRow) -> bool:
        """Return whether a delivery asks for an answer that is not needed any more."""
        if row.kind not in REQUESTS or not row.point:
            return False
        point = await self._store.queries.find_point(row.point)
        return point is None or point.status != "open"

    async def _tried(self, row: DeliveryRow) -> tuple[Parcel, SendOutcome]:
        """Make one attempt; whatever goes wrong is its outcome, so that what can never be sent is given up."""
        parcel = Parcel(kind=row.kind, at=row.created_at)
        try:
            parcel = read_parcel(row.body)
            return parcel, await self._attempt(row, parcel)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - it is one more attempt that failed
            _log.exception("delivery_failed id=%s", row.id)
            return parcel, failed("send_failed", f"It could not be sent: {type(error).__name__}.", health="unknown")

    async def _attempt(self, row: DeliveryRow, parcel: Parcel) -> SendOutcome:
        known = await self._destinations.of(row.destination, parcel)
        if known is None:
            error = f"No instance knows the destination `{row.destination}`."
            return failed("unknown_destination", error, health="unknown")
        return await self._make(known, row, parcel)

    async def _make(self, known: KnownDestination, row: DeliveryRow, parcel: Parcel) -> SendOutcome:
        """Make one attempt, with the secrets as they are now."""
        names = known.secret_names
        try:
            if known.is_inline:
                self._grants.require(row.workflow, names)
            values = {name: (await self._secrets.require(name)).value for name in names}
        except SecretNotAllowed as error:
            return hopeless(error.code, error.message)
        except SecretMissing as error:
            return failed(error.code, error.message, health="unknown")
        shipment = Shipment(
            id=row.id,
            attempt=row.attempts,
            at=self._clock.now(),
            destination=known,
            parcel=await self._links.filled(row, parcel),
            user=row.user,
            address=row.address,
            values=values,
        )
        return await self._wire.send(shipment)

    async def _settle(self, served: ServedDestination, row: DeliveryRow, settlement: Settlement, until: int) -> None:
        """Write an outcome, however often that takes, until another instance may have taken over."""
        settled: Settled | None = None
        while settled is None:
            try:
                settled = await self._store.deliveries.settle(settlement)
            except StoreError as error:
                _log.warning("delivery_not_settled id=%s error=%s", row.id, error.message)
                again = self._clock.now() + self._settings.poll
                if again >= until:
                    return
                await self._clock.wait(again, asyncio.Event())
        if not settled.passed:
            _log.info("delivery_taken_over id=%s", row.id)
            return
        if settlement.state == "pending":
            self.hint(settlement.due_at)
        closed = settled.destination is not None and _lets_nothing_through(settled.destination, self._clock.now())
        if settlement.messages or settlement.outcome or closed:
            self._told()
        if closed:
            await self._give_back(served.drop())

    async def _give_back(self, rows: list[DeliveryRow]) -> None:
        """Give back what was claimed and not tried: nothing is to be sent now, or others may be sooner."""
        now = self._clock.now()
        await asyncio.gather(*(self._store.deliveries.settle(given_back(row, now)) for row in rows))

    # Tests of destinations

    async def send_test(self, destination: str, to: str | None) -> DeliveryRow:
        """Send a test once, and return what became of it; it is not stored."""
        now, began = self._clock.now(), self._clock.running()
        text = "This is a test of a destination."
        parcel = Parcel(kind="test", at=now, subject="Test", text=text, people=(to,) if to else ())
        id_ = uuid8(f"test/{destination}/{now}/{self._chance.random()}")
        row = DeliveryRow(
            id=id_,
            destination=destination,
            kind="test",
            user="" if to is None or "@" in to else to,
            address=to if to is not None and "@" in to else "",
            body=write_parcel(parcel),
            created_at=now,
            due_at=now,
            attempts=1,
        )
        outcome = await self._attempt(row, parcel)
        ended = self._clock.now()
        attempt = attempt_of(outcome, ended, self._clock.running() - began)
        return msgspec.structs.replace(
            row,
            state="sent" if outcome.verdict == "sent" else "dead",
            reason=outcome.reason,
            history=b"[" + attempt + b"]",
            settled_at=ended,
        )

    # Stopping

    def halt(self) -> None:
        """Claim no more."""
        self._stopped = True
        self._hinted.set()

    async def stop(self, grace: float) -> None:
        """Let what is in flight end for a while (in seconds), and give back the rest: another instance sends it.

        A claim that is on its way comes first: what it has claimed would be left alone until its timeout is over.
        """
        self.halt()
        for served in self._served.values():
            served.wake.set()
        if serving := self._tasks():
            await asyncio.wait(serving, timeout=grace)
        if self._flights:
            await asyncio.wait(list(self._flights), timeout=grace)
        left = dict(self._flights)
        self.dismiss()
        await asyncio.gather(*left, *self._tasks(), return_exceptions=True)
        for row in left.values():
            with suppress(StoreError):  # then it comes due again
                await self._store.deliveries.settle(given_back(row, self._clock.now()))

    def dismiss(self) -> None:
        """Give up what is in flight, without waiting for anything: it comes due again."""
        self.halt()
        for task in (*self._flights, *self._tasks()):
            task.cancel()

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [served.task for served in self._served.values() if served.task is not None]


def _lets_nothing_through(destination: DestinationRow, now: int) -> bool:
    return destination.state == "disabled" or (destination.open_until or 0) > now


def _outcome_name(settlement: Settlement) -> str:
    return "failed" if settlement.state == "pending" else settlement.state
