"""Random operations on links to pause points, beside executions that open points, close and are purged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.access import NewLink
from tests.stores.accesses import USERS
from tests.stores.operations import Operations

if TYPE_CHECKING:
    import random

    from tests.stores.exchanges import Call

HASHES_OF_LINKS = [b"%02d" % n * 16 for n in range(8)]

INHERITED = {"commit": 12, "purge": 2, "save_version": 1}

LINK_READS = {"link"}
LINK_WAYS = {
    f"{name}: {way}"
    for name, ways in {
        "add_link": "some repeated nothing malformed",
        "link": "some nothing",
        "revoke_links": "some nothing",
    }.items()
    for way in ways.split()
}


class LinkOperations(Operations):
    """A stream of operations about links that belong to one seed."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        own = [name.removeprefix("draw_") for name in vars(LinkOperations) if name.startswith("draw_")]
        self._names = [*own * 6, *(name for name, times in INHERITED.items() for _ in range(times))]

    def kinds(self, name: str, answer: object, before: dict[str, object], after: dict[str, object]) -> set[str]:
        """Return how an operation went; those of others are known from their own streams."""
        if name in INHERITED:
            return set()
        if name == "add_link" and answer is True and after["links"] == before["links"]:
            return {"add_link: repeated"}
        return super().kinds(name, answer, before, after)

    def _point(self) -> str:
        known = [row.point.id for row in self._points]
        return "none" if not known or self._chance(15) else self._dice.choice(known)

    def draw_add_link(self) -> Call:
        link = NewLink(
            hash=self._dice.choice(HASHES_OF_LINKS),
            point=self._point(),
            user="a\0b" if self._chance(8) else self._dice.choice(USERS),
            made_at=self._now,
            expires_at=self._now + 5 if self._chance(50) else None,
        )
        audit = self._audit()
        return lambda store: store.links.add(link, audit)

    def draw_link(self) -> Call:
        hash_ = self._dice.choice(HASHES_OF_LINKS)
        return lambda store: store.links.find(hash_)

    def draw_revoke_links(self) -> Call:
        point, user, now, audit = self._point(), self._dice.choice((None, *USERS)), self._now, self._audit()
        return lambda store: store.links.revoke(point, user, now, audit)
