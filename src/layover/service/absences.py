"""Who stands in for a person who is away.

The directory says until when a person is away, and who decides in their place. That counts at the moment at which it is
needed: when the substitute looks at their inbox or at a point, and when they act there. Nothing is written before. When
they act, the delegation is written first, marked as coming from an absence, so that the log says on whose behalf they
decided. It is then like any other: it stays when the absence ends, and the person who was away may still decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.approval_rules import Approver, DecisionRefused, check_delegation, may_decide
from layover.core.engine import commands as cmd
from layover.errors import AnswerRefused, WrongState
from layover.runtime.deliveries.directory_file import DirectoryFailed
from layover.runtime.queries.views import context_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import Point
    from layover.model.people import Person
    from layover.ports.records import PointRow
    from layover.service.actor import Actor


async def with_absences(actor: Actor, rows: Sequence[PointRow]) -> list[PointRow]:
    """Return points as they stand for the user who acts, who may stand in for people who are away."""
    open_to_others = [row for row in rows if _is_for_others(actor, row)]
    away = await _away(actor, open_to_others) if open_to_others else {}
    if not away:
        return list(rows)
    return [_with_delegate(actor, row, away) if row in open_to_others else row for row in rows]


async def stand_in(actor: Actor, row: PointRow) -> PointRow:
    """Write down that the user who acts stands in for a person who is away, if they do."""
    if not _is_for_others(actor, row):
        return row
    person = _giver(actor, row.point, await _away(actor, [row]))
    if person is None:
        return row
    now, user = actor.runtime.instance.clock.now(), actor.caller.user
    act = cmd.StandIn(point=row.point.id, by=person.user, roles=person.roles, to=user, at=now)
    entry = actor.entry(
        "approval.delegate",
        row.point.id,
        execution_id=row.execution_id,
        context_id=context_of(row.point),
        giver=person.user,
        to=user,
        absence=True,
    )
    try:
        return (await actor.runtime.answers.talk(act, audit=entry, applied=False)).row
    except (AnswerRefused, WrongState):  # it was answered meanwhile: the act itself is told so
        return row


def _is_for_others(actor: Actor, row: PointRow) -> bool:
    """Return whether a point is open, asks certain people, and the user is none of them."""
    rules = row.point.rules
    if row.status != "open" or rules is None or row.point.kind != "approval" or not actor.caller.user:
        return False
    refused = may_decide(rules, actor.person, row.point.decisions)
    return refused is not None and refused.code == "not_allowed"


async def _away(actor: Actor, rows: Sequence[PointRow]) -> dict[str, Person]:
    """Return those of the people whom points ask who are away, and for whom the user stands in."""
    users: dict[str, None] = {}
    roles: dict[str, None] = {}
    for row in rows:
        rules = row.point.rules
        if rules is not None:
            users |= dict.fromkeys((*rules.users, *rules.escalated_users))
            roles |= dict.fromkeys((*rules.roles, *rules.escalated_roles))
    instance = actor.runtime.instance
    try:
        people = await instance.directory.people(list(users), list(roles))
    except DirectoryFailed:  # then nobody is known to be away
        return {}
    now, user = instance.clock.now(), actor.caller.user
    return {
        one.user: one
        for one in people
        if one.away is not None and one.away.substitute == user and one.away.until.milliseconds > now
    }


def _giver(actor: Actor, point: Point, away: dict[str, Person]) -> Person | None:
    """Return a person in whose place the user may decide at a point."""
    rules, user = point.rules, actor.caller.user
    if rules is None:
        return None
    for person in away.values():
        approver = Approver(person.user, person.roles)
        if not isinstance(check_delegation(rules, approver, point.decisions, user), DecisionRefused):
            return person
    return None


def _with_delegate(actor: Actor, row: PointRow, away: dict[str, Person]) -> PointRow:
    """Return a point as it will be once its delegation is written down."""
    point, person = row.point, _giver(actor, row.point, away)
    if person is None or point.rules is None:
        return row
    rules = replace(point.rules, delegates=(*point.rules.delegates, (person.user, actor.caller.user)))
    return replace(row, point=replace(point, rules=rules))
