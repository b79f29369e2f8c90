"""Makes deliveries of an occasion: destinations and people are looked up, and texts rendered, once for all attempts.

The deliveries are inserted in the transaction that deletes the message, or not at all. So it does not matter how many
instances expand a message, or at which moment one dies. An occasion that only concerns destinations with enough to do
can wait (`expansion_pace`). The id of a delivery follows from the event, the destination
and the addressee: two rules that would tell one person the same by the same way make one delivery.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from layover.core.definitions.model import InlineDestination
from layover.core.definitions.problems import InvalidDefinition
from layover.core.ids import uuid8
from layover.core.notifications import SEND, SERVICE_OCCASIONS, Occasion
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.delivery_records import MUTED, DeliveryFilter, DeliveryRow
from layover.ports.errors import StoreUnavailable
from layover.runtime.deliveries.addressees import Addressee, Asked, addressees
from layover.runtime.deliveries.default_texts import SpokenText
from layover.runtime.deliveries.destination_config import KnownDestination, inline_destination
from layover.runtime.deliveries.directory_file import DirectoryFailed
from layover.runtime.deliveries.expansion_pace import ExpansionPace
from layover.runtime.deliveries.occasion_facts import read_facts, text_facts
from layover.runtime.deliveries.parcels import Parcel, write_parcel
from layover.runtime.deliveries.texts import cut_text, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.notifications import Sent
    from layover.core.plan import PlannedNotify
    from layover.ports.directory import Directory
    from layover.ports.records import Message
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.deliveries.default_texts import TextFacts
    from layover.runtime.deliveries.destinations import Destinations
    from layover.runtime.deliveries.mail_links import MailLinks, ToldLink
    from layover.runtime.deliveries.occasion_facts import OccasionFacts
    from layover.runtime.plans import Plans
    from layover.runtime.settings import RuntimeSettings

_ABOUT_DELIVERIES: Final = frozenset({"delivery.dead", "destination.disabled"})
_MOST_ROWS: Final = 1_000  # of one occasion

_log = logging.getLogger("layover.deliveries")


class Hinted(Protocol):
    """What is woken when there is something to send."""

    def hint(self, at: int = 0) -> None:
        """Look at a moment at the latest."""


class _Way(NamedTuple):
    """One way by which an occasion is told: a destination that is known or only named, for whom, and in which words."""

    name: str
    known: KnownDestination | None
    inline: dict[str, object] | None
    to: tuple[str, ...]
    text_in: Callable[[str, str], SpokenText]  # a language, and a time zone
    data: dict[str, object]
    is_send: bool = False  # a node sends it, in its own words
    is_usual: bool = False  # in the usual words of its kind


class _Telling(NamedTuple):
    """An occasion that is being expanded."""

    message: Message
    occasion: Occasion
    facts: OccasionFacts
    link: ToldLink
    now: int

    @property
    def execution_id(self) -> str | None:
        return None if self.occasion.kind in SERVICE_OCCASIONS else self.message.sender


class DeliveryExpander:
    """Expands occasions, for any instance."""

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        store: Store,
        plans: Plans,
        clock: Clock,
        settings: RuntimeSettings,
        destinations: Destinations,
        directory: Directory,
        sender: Hinted,
        links: MailLinks,
    ) -> None:
        self._store = store
        self._plans = plans
        self._clock = clock
        self._settings = settings
        self._destinations = destinations
        self._directory = directory
        self._sender = sender
        self._links = links
        self._pace = ExpansionPace(store.deliveries)

    async def put_off(self, messages: Sequence[Message]) -> dict[int, int]:
        """Return which occasions, by their places, are to be expanded later and when."""
        now = self._clock.now()
        later: dict[int, int] = {}
        for place, message in enumerate(messages):
            at = await self._pace.expand_at(await self._names(message), now)
            if at > now:
                later[place] = at
        return later

    async def _names(self, message: Message) -> list[str]:
        """Return the names of the destinations that an occasion concerns; none if that cannot be told."""
        try:
            occasion = msgspec.json.decode(message.body, type=Occasion)
            rules = await self._rules(occasion) if occasion.send is None else []
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - it is expanded at once, which tells what is wrong with it
            return []
        vias = [rule.definition.via for rule in rules] if occasion.send is None else [occasion.send.via]
        return [via if isinstance(via, str) else (await self._destination(via))[0] for via in vias]

    async def expand(self, message: Message) -> bool:
        """Insert the deliveries of an occasion and delete its message, in one transaction."""
        occasion = msgspec.json.decode(message.body, type=Occasion)
        now = self._clock.now()
        facts = await read_facts(self._store, message, occasion, now)
        try:
            rows = [] if facts is None else await self._all_rows(message, occasion, facts, now)
        except DirectoryFailed as error:
            _log.warning("notification_put_off kind=%s error=%s", occasion.kind, error.message)
            return False
        unique = list({row.id: row for row in reversed(rows)}.values())[::-1][:_MOST_ROWS]
        if len(rows) > _MOST_ROWS:
            _log.warning("too_many_addressees kind=%s count=%d", occasion.kind, len(rows))
        await self._store.deliveries.expand(message, unique)
        reached(CommitPoint.NOTICE_EXPANDED)
        if unique:
            self._sender.hint()
        return True

    async def _all_rows(
        self, message: Message, occasion: Occasion, facts: OccasionFacts, now: int
    ) -> list[DeliveryRow]:
        telling = _Telling(message, occasion, facts, self._links.of(message, occasion, facts), now)
        return [row for way in await self._ways(telling) for row in await self._rows(telling, way)]

    # Ways

    async def _ways(self, telling: _Telling) -> list[_Way]:
        occasion = telling.occasion
        if occasion.send is not None:
            return [await self._way_of_send(occasion.send)]
        texts = text_facts(telling.message, occasion, telling.facts, telling.link.text)
        ways: list[_Way] = []
        for rule in await self._rules(occasion):
            name, known, inline = await self._destination(rule.definition.via)
            if occasion.kind in _ABOUT_DELIVERIES and name == occasion.subject:
                continue  # what does not work cannot tell of it
            is_usual = rule.definition.message is None and occasion.kind not in SERVICE_OCCASIONS
            speech = self._speech(telling, rule, texts)
            ways.append(_Way(name, known, inline, rule.definition.to, speech, {}, is_usual=is_usual))
        return ways

    @staticmethod
    def _speech(telling: _Telling, rule: PlannedNotify, texts: TextFacts) -> Callable[[str, str], SpokenText]:
        """Return what says the text of a rule in a language and a time zone, once for each."""
        kind, at = telling.occasion.kind, telling.facts.at
        return cache(lambda language, zone: spoken(rule, kind, texts, at, language=language, zone=zone))

    async def _rules(self, occasion: Occasion) -> list[PlannedNotify]:
        """Return the rules that ask for a kind of occasions: those of the definition, then those of the settings."""
        of_plan: Sequence[PlannedNotify] = ()
        if occasion.hash:
            of_plan = (await self._plans.of(occasion.hash)).notify
        return [one for one in (*of_plan, *self._settings.notify) if occasion.kind in one.definition.on]

    async def _way_of_send(self, sent: Sent) -> _Way:
        name, known, inline = await self._destination(sent.via)
        data: dict[str, object] = {} if sent.data is None else {"data": sent.data}
        text = cut_text(SpokenText(sent.subject, sent.text))
        return _Way(name, known, inline, sent.to, lambda _language, _zone: text, data, is_send=True)

    async def _destination(self, via: object) -> tuple[str, KnownDestination | None, dict[str, object] | None]:
        """Return the name of a destination, what is known of it, and what it is if it is in place."""
        if isinstance(via, str):
            return via, await self._destinations.find(via), None
        written: dict[str, object] = msgspec.to_builtins(via) if isinstance(via, InlineDestination) else _fields(via)
        try:
            known = inline_destination(written)
        except InvalidDefinition:
            return "webhook:", None, written
        return known.name, known, written

    # Rows

    async def _rows(self, telling: _Telling, way: _Way) -> list[DeliveryRow]:
        """Return a delivery for each addressee of a mail; for everything else, one."""
        asked = Asked(
            telling.occasion.kind, telling.facts.point, telling.facts.requester, telling.now, telling.facts.person
        )
        people = await addressees(way.to, asked, self._directory) if way.to else []
        if len(people) > _MOST_ROWS:
            _log.warning("too_many_addressees kind=%s count=%d", telling.occasion.kind, len(people))
            people = people[:_MOST_ROWS]
        if way.known is None or way.known.kind != "mail":
            users = tuple(one.user or one.mail for one in people if not one.muted)
            return [self._row(telling, way, Addressee("", ""), users)]
        # Nobody who could be told: that is a delivery as well, which says so.
        return [await self._mail(telling, way, one) for one in people] or [
            self._row(telling, way, Addressee("", ""), ())
        ]

    async def _mail(self, telling: _Telling, way: _Way, addressee: Addressee) -> DeliveryRow:
        """Return the delivery to one person; for one who does not want it, it only says so."""
        first = await self._first(telling, way, addressee) if not addressee.muted else ""
        row = self._row(telling, way, addressee, _users(addressee), first)
        if not addressee.muted:
            return row
        return replace(row, state="moot", reason=MUTED, body=b"", settled_at=telling.now)

    async def _first(self, telling: _Telling, way: _Way, addressee: Addressee) -> str:
        """Return the id of the first mail to somebody about the same point; nothing if this is the first."""
        occasion = telling.occasion
        if not occasion.point or occasion.kind in (SEND, "pause.opened"):
            return ""
        wanted = DeliveryFilter(execution_id=telling.message.sender, point=occasion.point, destination=way.name)
        before = [row for row in await self._store.deliveries.list_deliveries(wanted) if row.address == addressee.mail]
        return before[-1].id if before else ""

    def _row(
        self, telling: _Telling, way: _Way, addressee: Addressee, people: tuple[str, ...], first: str = ""
    ) -> DeliveryRow:
        message, occasion, facts = telling.message, telling.occasion, telling.facts
        whom = addressee.mail or addressee.user
        execution_id = telling.execution_id
        ordered = execution_id is not None and (way.known is None or way.known.ordered)
        include = way.known.include if way.known is not None else ()
        link, is_mail = telling.link, way.known is not None and way.known.kind == "mail"
        token = link.for_addressee(addressee, is_mail=is_mail)
        said = way.text_in(addressee.language, addressee.zone)
        parcel = Parcel(
            kind=occasion.kind,
            at=facts.at,
            workflow=occasion.workflow,
            hash=occasion.hash,
            execution_id=execution_id,
            point=facts.told_point(),
            people=people,
            subject=said.subject,
            text=said.text if token is not None else said.text.replace(link.text, link.public),
            link="" if way.is_send or not link.asks else link.text if token is not None else link.public,
            link_token=token,
            data=way.data | facts.included(include),
            first=first,
            via=way.inline,
            reports_on=occasion.subject,
            is_usual=way.is_usual,
        )
        return DeliveryRow(
            id=uuid8(f"delivery/{message.sender}/{facts.life}/{message.n}/{way.name}/{whom}"),
            execution_id=execution_id,
            workflow=occasion.workflow,
            n=message.n,
            lane=f"{way.name}/{execution_id}/{whom}" if ordered else "",
            destination=way.name,
            kind=occasion.kind,
            point=occasion.point,
            user=addressee.user,
            address=addressee.mail,
            body=write_parcel(parcel),
            created_at=telling.now,
            due_at=telling.now,
            awaited=occasion.send is not None and occasion.send.awaited,
        )


def _users(addressee: Addressee) -> tuple[str, ...]:
    return (addressee.user,) if addressee.user else ()


def _fields(given: object) -> dict[str, object]:
    return given if isinstance(given, dict) else {}
