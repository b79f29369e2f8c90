"""The link of a notification: where it leads, and the token that only the mail to one addressee has.

While a text is rendered, a mark stands in the place of the token. Only a mail to one user who is asked gets a token,
and only while it is sent; everything else that is told of a point leads to the page at which one signs in. The mark
cannot be foreseen, so no value in a text can be taken for it and carry the token elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from layover.core.notifications import REQUESTS, SERVICE_OCCASIONS
from layover.ports.access import NewLink
from layover.runtime.decision_links import LinkKeys, hash_of, link_address, point_address
from layover.runtime.deliveries.parcels import LinkToken

if TYPE_CHECKING:
    from layover.core.notifications import Occasion
    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.records import Message
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.deliveries.addressees import Addressee
    from layover.runtime.deliveries.occasion_facts import OccasionFacts
    from layover.runtime.deliveries.parcels import Parcel
    from layover.runtime.settings import RuntimeSettings

_FOR_PEOPLE: Final = frozenset({"approval", "form"})


class ToldLink(NamedTuple):
    """The link of one occasion: as texts have it, for everybody, and what makes the one for an addressee."""

    text: str  # with a mark, if there can be a token
    public: str
    token: LinkToken | None = None
    asks: bool = False  # for an answer, which is given on the page: the link is told even if the text has none

    def for_addressee(self, addressee: Addressee, *, is_mail: bool) -> LinkToken | None:
        """Return the token that the delivery to an addressee gets while it is sent; None if it gets none."""
        return self.token if is_mail and addressee.user else None


class MailLinks:
    """Makes the links of notifications, and fills in their tokens."""

    def __init__(self, store: Store, clock: Clock, settings: RuntimeSettings) -> None:
        self._store = store
        self._clock = clock
        self._url = settings.public_url
        self._keys = LinkKeys(settings.link_key)

    def of(self, message: Message, occasion: Occasion, facts: OccasionFacts) -> ToldLink:
        """Return the link of an occasion."""
        point = facts.point
        if occasion.kind in SERVICE_OCCASIONS:
            return ToldLink("", "")
        if point is None or point.kind not in _FOR_PEOPLE:
            base = f"{self._url.rstrip('/')}/api/v1"
            path = f"pause-points/{occasion.point}" if occasion.point else f"executions/{message.sender}"
            return ToldLink(f"{base}/{path}", f"{base}/{path}")
        public, key = point_address(self._url, point.id), self._keys.current
        if key is None or occasion.kind not in REQUESTS:
            return ToldLink(public, public, asks=occasion.kind in REQUESTS)
        token = LinkToken(key=key, mark=self._keys.mark(key, message.sender, str(message.n), point.id))
        return ToldLink(link_address(self._url, token.mark), public, token, asks=True)

    async def filled(self, row: DeliveryRow, parcel: Parcel) -> Parcel:
        """Return what is sent: with the link of its addressee, which is stored before anybody can follow it."""
        wanted = parcel.link_token
        if wanted is None:
            return parcel
        token = self._keys.token(wanted.key, row.point, row.user, row.id)
        link = point_address(self._url, row.point)
        if token is not None:
            made = NewLink(hash=hash_of(token), point=row.point, user=row.user, made_at=self._clock.now())
            if await self._store.links.add(made):
                link = link_address(self._url, token)
        marked = link_address(self._url, wanted.mark)
        return replace(parcel, link=link, text=parcel.text.replace(marked, link), link_token=None)
