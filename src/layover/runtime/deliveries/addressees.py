"""Whom a notification is for: people who are asked, the requester, users, roles, and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.approval_rules import Approver, may_decide
from layover.core.notifications import REQUESTS, SEND
from layover.model.people import ALL, Person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.approval_rules import ApprovalRules
    from layover.core.engine.state import Point
    from layover.ports.directory import Directory

PEOPLE: Final = "people"
REQUESTER: Final = "requester"
_USER: Final = "user:"
_ROLE: Final = "role:"


class Addressee(NamedTuple):
    """A person, or an address; a person whose address is not known has none. Some have `muted` the kind of occasion."""

    user: str
    mail: str
    language: str = ""
    zone: str = ""
    muted: bool = False


class Asked(NamedTuple):
    """What decides who is meant: the occasion, its point, and who started the execution.

    A question that was asked back, and its reply, are for one `person`: for these, `people` means them.
    """

    kind: str
    point: Point | None
    requester: str | None
    now: int
    person: str | None = None


async def addressees(to: Sequence[str], asked: Asked, directory: Directory) -> list[Addressee]:
    """Return whom a list means: each person and each address once."""
    users, roles, mails = _named(to, asked)
    people = {one.user: one for one in await directory.people(users, roles)}
    asks = asked.kind in REQUESTS and asked.person is None
    if PEOPLE in to and asks and asked.point is not None and asked.point.rules is not None:
        people = _who_may_answer(people, users, to, asked.point, asked.point.rules)
        users = [one for one in users if one in people]
    people |= await _substitutes(people, asked.now, directory)
    found = [_addressee(one, people.get(one), asked.kind) for one in dict.fromkeys([*users, *sorted(people)])]
    found += [Addressee("", one) for one in mails]
    return list({one.mail or f"user:{one.user}": one for one in reversed(found)}.values())[::-1]


def _named(to: Sequence[str], asked: Asked) -> tuple[list[str], list[str], list[str]]:
    """Return the users, roles and addresses that a list names."""
    users: list[str] = []
    roles: list[str] = []
    mails: list[str] = []
    for one in to:
        if one == PEOPLE and asked.person is not None:
            users.append(asked.person)
        elif one == PEOPLE:
            named, of_roles = _asked_by(asked.point)
            users += named
            roles += of_roles
        elif one == REQUESTER:
            users += [asked.requester] if asked.requester else []
        elif one.startswith(_USER):
            users.append(one.removeprefix(_USER))
        elif one.startswith(_ROLE):
            roles.append(one.removeprefix(_ROLE))
        elif "@" in one:
            mails.append(one)
    return list(dict.fromkeys(users)), list(dict.fromkeys(roles)), list(dict.fromkeys(mails))


def _asked_by(point: Point | None) -> tuple[list[str], list[str]]:
    rules = point.rules if point is not None else None
    if rules is None:
        return [], []
    takers = [taker for _, taker in rules.delegates]
    return [*rules.users, *rules.escalated_users, *takers], [*rules.roles, *rules.escalated_roles]


def _who_may_answer(
    people: dict[str, Person], users: Sequence[str], to: Sequence[str], point: Point, rules: ApprovalRules
) -> dict[str, Person]:
    """Return those who may decide now, and those who are named beside them."""
    beside = {one.removeprefix(_USER) for one in to if one.startswith(_USER)}
    roles = {one.removeprefix(_ROLE) for one in to if one.startswith(_ROLE)}
    known = {user: people.get(user) or Person(user=user) for user in users} | people
    return {
        user: person
        for user, person in known.items()
        if user in beside
        or not roles.isdisjoint(person.roles)
        or may_decide(rules, Approver(user, person.roles), point.decisions) is None
    }


async def _substitutes(people: dict[str, Person], now: int, directory: Directory) -> dict[str, Person]:
    """Return who stands in for those who are away, if they are not told anyway."""
    away = [one.away for one in people.values() if one.away is not None and one.away.until.milliseconds > now]
    names = [one.substitute for one in away if one.substitute and one.substitute not in people]
    return {one.user: one for one in await directory.people(names, [])} if names else {}


def _addressee(user: str, person: Person | None, kind: str) -> Addressee:
    if person is None:
        return Addressee(user, _mail_of(person, user))
    muted = kind in person.mute or (ALL in person.mute and kind != SEND)
    return Addressee(user, _mail_of(person, user), person.language, person.zone, muted)


def _mail_of(person: Person | None, user: str) -> str:
    """Return where mail to a person goes; a name that is an address is one."""
    known = person.addresses.get("mail", "") if person is not None else ""
    return known or (user if "@" in user else "")
