"""What an occasion tells of: its event in the log, its point, its execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from layover.core.engine.approvals import plain_decision
from layover.core.engine.codec import decode_events
from layover.core.engine.events import (
    ExecutionCompleted,
    ExecutionCreated,
    PausePointAsked,
    PausePointFinal,
    PausePointReplied,
)
from layover.core.moments import moment
from layover.core.notifications import SERVICE_OCCASIONS
from layover.core.requesters import requester_of
from layover.runtime.deliveries.default_texts import TextFacts
from layover.runtime.deliveries.parcels import ToldPoint
from layover.runtime.results.points import answer_of, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import Point
    from layover.core.notifications import Occasion
    from layover.ports.records import Message, PointRow
    from layover.ports.store import Store

MOST_INCLUDED: Final = 65_536  # bytes of one included value


class OccasionFacts(NamedTuple):
    """What is known of an occasion when it is expanded."""

    at: int
    event: AnyEvent | None
    row: PointRow | None  # of its point, as it is now
    created: ExecutionCreated | None
    life: int  # when the execution was created: one of the same id may have existed before

    @property
    def point(self) -> Point | None:
        """The point that it tells of."""
        return self.row.point if self.row is not None else None

    @property
    def requester(self) -> str | None:
        """Who started the execution."""
        return requester_of(self.created.user, self.created.trigger) if self.created is not None else None

    @property
    def person(self) -> str | None:
        """Whom a question that was asked back is for, or its reply; None for all other occasions."""
        if isinstance(self.event, PausePointAsked):
            return self.event.to
        if isinstance(self.event, PausePointReplied) and self.point is not None:
            asked = self.point.questions[self.event.number - 1 : self.event.number]
            return asked[0].by if asked else None
        return None

    def told_point(self) -> ToldPoint | None:
        """Return what is told of its point."""
        point = self.point
        if point is None:
            return None
        return ToldPoint(id=point.id, title=title_of(point), kind=point.kind, deadline=point.deadline)

    def included(self, names: Sequence[str]) -> dict[str, object]:
        """Return more of it, as a destination asks for it; what is too large is left out, and named."""
        found: dict[str, object] = {}
        left_out: list[str] = []
        for name in names:
            value = self._value(name)
            if value is None:
                continue
            if len(msgspec.json.encode(value)) > MOST_INCLUDED:
                left_out.append(name)
            else:
                found[name] = value
        return found | {"left_out": left_out} if left_out else found

    def _value(self, name: str) -> object:
        point = self.point
        match name:
            case "shown":
                return point.details.get("shown") if point is not None else None
            case "input":
                return self.created.input if self.created is not None else None
            case "output":
                return self.event.output if isinstance(self.event, ExecutionCompleted) else None
            case "answer":
                return answer_of(self.row) if self.row is not None and self.row.status != "open" else None
            case _:
                return None


async def read_facts(store: Store, message: Message, occasion: Occasion, now: int) -> OccasionFacts | None:
    """Read what an occasion tells of; None if its execution is gone."""
    if occasion.kind in SERVICE_OCCASIONS:
        return OccasionFacts(now, None, None, None, 0)
    entries = await store.queries.read_history(message.sender, message.n, 1)
    if not entries:
        return None
    first = entries if entries[0].seq == 0 else await store.queries.read_history(message.sender, 0, 1)
    if not first:
        return None
    events = decode_events(entries[0].events)
    position = message.n - entries[0].seq
    created = decode_events(first[0].events)[0]
    return OccasionFacts(
        at=entries[0].at,
        event=events[position] if 0 <= position < len(events) else None,
        row=await store.queries.find_point(occasion.point) if occasion.point else None,
        created=created if isinstance(created, ExecutionCreated) else None,
        life=first[0].at,
    )


def text_facts(message: Message, occasion: Occasion, facts: OccasionFacts, link: str) -> TextFacts:
    """Return an occasion by the names that templates have for it."""
    event: dict[str, object] = {}
    if facts.event is not None:
        event = msgspec.to_builtins(facts.event) | _final_of(facts)
    if occasion.kind in SERVICE_OCCASIONS:
        event = {"subject": occasion.subject, "reason": occasion.reason}
    event |= {"kind": occasion.kind, "at": moment(facts.at), "number": message.n}
    of_execution = occasion.kind not in SERVICE_OCCASIONS
    return TextFacts(
        event=event,
        point=_point(facts.point),
        execution=_execution(message.sender, facts) if of_execution else {},
        workflow=occasion.workflow,
        link=link,
    )


def _final_of(facts: OccasionFacts) -> dict[str, object]:
    """Return what has become final, by the names that it has where it is final at once."""
    event, point = facts.event, facts.point
    if not isinstance(event, PausePointFinal) or point is None:
        return {}
    if event.by is None:
        return {"by": point.by, "port": point.port, "output": point.output}
    decision = next((one for one in point.decisions if one.by == event.by), None)
    return {"decision": plain_decision(decision)} if decision is not None else {}


def _point(point: Point | None) -> dict[str, object]:
    if point is None:
        return {}
    return {
        "id": point.id,
        "title": title_of(point),
        "kind": point.kind,
        "node": point.node.partition(":")[0],
        "deadline": moment(point.deadline),
        "shown": point.details.get("shown"),
    }


def _execution(execution_id: str, facts: OccasionFacts) -> dict[str, object]:
    created = facts.created
    if created is None:
        return {"id": execution_id}
    return {"id": execution_id, "workflow": created.workflow, "input": created.input, "user": created.user}
