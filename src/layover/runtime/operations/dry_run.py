"""A dry run: an execution simulated with given outputs and answers. Nothing is called, stored or waited for.

The engine decides as always; only the outside world is simulated. A call or a child returns the output that was given
for it, or null. Time advances to the next timer. Answers of people and of other systems are never invented: without
one, the run stops there, and its result says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.approval_rules import ApprovalRules
from layover.core.definitions.node_types import WaitSignal
from layover.core.engine import commands as cmd
from layover.core.engine.answers import refusal
from layover.core.engine.decide import play
from layover.core.engine.state import ExecutionState
from layover.core.engine.timing import wake_at
from layover.core.payloads import plain
from layover.errors import AnswerRefused, LayoverError
from layover.runtime.operations.starter import check_input

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.core.definitions.model import Node
    from layover.core.engine import events as ev
    from layover.core.engine.state import Point
    from layover.core.engine.tables import Overwritten
    from layover.core.plan import Plan

MOST_EVENTS: Final = 10_000
_ID: Final = "00000000-0000-8000-8000-000000000000"
_MISSING: Final = object()


class TooManySteps(LayoverError):  # noqa: N818 - it says what happened
    """A dry run that exceeds the limit of steps."""

    code = "too_many_steps"


class DryRunner:
    """One simulated execution; `outputs` and `answers` are by context id, or by node id for all scopes."""

    def __init__(
        self,
        plan: Plan,
        *,
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
        now: int,
        most: int = MOST_EVENTS,
    ) -> None:
        self.state = ExecutionState(plan)
        self.log: list[tuple[int, ev.AnyEvent]] = []
        self._plan = plan
        self._outputs = outputs
        self._answers = answers
        self._now = now
        self._heard: set[str] = set()  # points that were told what was given for them
        self._bound(most)

    def run(self, given: object) -> None:
        """Play until it has ended, or stands still for want of an answer."""
        value = plain(given)
        check_input(self._plan, value)
        self._send(cmd.Create(id=_ID, input=value))
        while not self.state.facts.closed and (self._call() or self._answer() or self._wait()):
            pass

    def _call(self) -> bool:
        """Let all calls that are out come to their end; false if there are none."""
        running = [(name, node) for name, node in self.state.nodes.rows.items() if node.status == "running"]
        for name, node in sorted(running, key=lambda found: (found[1].started_at, found[0])):
            output = self._value_for(self._outputs, name)
            self._send(cmd.Complete(node=name, attempt=node.attempt, output=None if output is _MISSING else output))
        return bool(running)

    def _answer(self) -> bool:
        """Say what was given for one open point; false if there is nothing to say."""
        for point in sorted(self.state.points.rows.values(), key=lambda one: (one.opened_at, one.node)):
            if point.id in self._heard or point.kind == "timer":
                continue
            said = self._value_for(self._answers, point.node)
            if said is _MISSING and point.kind in ("child", "delivery"):
                said = self._value_for(self._outputs, point.node)
                said = None if said is _MISSING else said
            if said is not _MISSING:
                self._heard.add(point.id)
                self._tell(point, said)
                return True
        return False

    def _tell(self, point: Point, said: object) -> None:
        if point.kind == "approval":
            self._decide(point, said)
        elif point.kind == "form":
            self._say(cmd.Answer(point=point.id, by="dry run", data=said))
        elif point.kind == "signal":
            node = self.state.planned(point.node).node
            for number, (name, key, data) in enumerate(_signals(point, node, said)):
                self._send(cmd.Deliver(id=f"{point.id} {number}", point=point.id, name=name, key=key, data=data))
        elif point.kind == "delivery":
            self._send(cmd.Delivered(point=point.id, id=point.id, at=self._now))
        else:
            self._send(cmd.Report(point=point.id, output=said))

    def _decide(self, point: Point, said: object) -> None:
        """Let all who are needed decide alike."""
        decision = said if isinstance(said, dict) else {"approved": said}
        approved, comment = decision.get("approved"), decision.get("comment", "dry run")
        if not isinstance(approved, bool) or not isinstance(comment, str):
            raise AnswerRefused("invalid_answer", f"The answer for `{point.node}` says not whether it is approved.")
        rules = point.rules or ApprovalRules()
        for user in _people(rules):
            open_point = self.state.points.get(point.id)
            if open_point is None or open_point.status != "open":
                return
            self._say(
                cmd.Answer(
                    point=point.id,
                    by=user,
                    roles=(*rules.roles, *rules.escalated_roles),
                    approved=approved,
                    comment=comment,
                    data=decision.get("data"),
                )
            )

    def _say(self, answer: cmd.Answer) -> None:
        """Answer for a person; what would be refused is a mistake in the request."""
        found = refusal(self.state, answer)
        if found is not None and found.code in ("invalid_answer", "comment_required"):
            raise AnswerRefused(found.code, found.message, found.errors)
        self._send(answer)

    def _wait(self) -> bool:
        """Let time pass to the next thing that is due; false if only others could go on."""
        rows = self.state.points.rows.values()
        is_timed = any(point.kind == "timer" for point in rows) or not self.state.facts.started_at
        is_timed = is_timed or any(node.status == "backoff" for node in self.state.nodes.rows.values())
        due = wake_at(self.state) if is_timed else None
        if due is None:
            return False
        self._now = max(self._now, due)
        return self._send(cmd.Wake())

    def _value_for(self, values: Mapping[str, object], context_id: str) -> object:
        found = values.get(context_id, _MISSING)
        if found is _MISSING:
            found = values.get(context_id.partition(":")[0], _MISSING)
        return found if found is _MISSING else plain(found)

    def _send(self, command: cmd.AnyCommand) -> bool:
        """Do what a command leads to; false if it leads to nothing."""
        events = play(self.state, command, self._now)
        self.state.undo_log.keep()
        self.log.extend((self._now, event) for event in events)
        return bool(events)

    def _bound(self, most: int) -> None:
        """Stop the run after so many events: one command may lead to any number of them."""
        undo_log, counts = self.state.undo_log, self.state.counts.rows
        note = undo_log.note

        def bounded(change: Overwritten) -> None:
            if counts["seq"] >= most:
                raise TooManySteps(f"The dry run takes more than {most:,} steps.")
            note(change)

        undo_log.note = bounded


def _people(rules: ApprovalRules) -> Iterator[str]:
    """Return who may decide, in their order: those who are named, and as many others as are needed."""
    yield from (name for name in (*rules.users, *rules.escalated_users) if name != rules.requester)
    if rules.roles or rules.escalated_roles or not rules.users:
        yield from (f"person {number}" for number in range(1, max(rules.need, rules.reject_need) + 1))


def _signals(point: Point, node: Node, said: object) -> Iterator[tuple[str, str, object]]:
    """Return the signals that bring what was given; where several are awaited, it is given by their aliases."""
    details = point.details
    if not isinstance(node, WaitSignal) or not node.signals:
        yield str(details.get("signal", "")), str(details.get("key", "")), said
        return
    by_alias = said if isinstance(said, dict) else {}
    for index, one in enumerate(node.signals):
        if one.alias in by_alias:
            key = str(details.get(f"signals.{index}.key", ""))
            yield str(details[f"signals.{index}.signal"]), key, by_alias[one.alias]
