"""Following one execution as it is driven here: showing what happens, and asking the person at the terminal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from layover.api.serializers.executions import event_of, node_of
from layover.api.serializers.points import context_of
from layover.cli.prompts import EndOfInput, Given, ask
from layover.cli.screen import note, say
from layover.core.approval_rules import ApprovalRules, may_decide
from layover.core.approval_rules import Person as Anybody
from layover.ports.records import CLOSED
from layover.runtime.errors import AnswerRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.cli.live_view import View
    from layover.cli.prompts import Typed
    from layover.ports.records import Head, PointRow
    from layover.runtime.engine import Engine

_PAGE = 1_000
_LOOK_AGAIN = 0.25  # seconds
_BETWEEN_PICTURES = 0.1  # seconds
_DEEPEST = 10  # of the children of children that are looked at
_RESTING = frozenset({"waiting", "paused"})
_NOBODY_HERE = frozenset({"not_allowed", "requester_excluded", "not_your_turn", "already_decided"})


class Person:
    """Who sits at the terminal, and what they type."""

    def __init__(self, by: str, roles: tuple[str, ...], typed: Typed) -> None:
        self.by = by
        self.roles = roles
        self.typed = typed


class Following:
    """Follows an execution until it is closed, rests, or nobody wants to answer."""

    def __init__(self, engine: Engine, execution_id: str, view: View, *, stay: bool, person: Person | None) -> None:
        self._engine = engine
        self._id = execution_id
        self._view = view
        self._stay = stay
        self._person = person
        self._seen = -1
        self._outdated = False
        self._drawn_at = 0.0
        self._passed_over: set[str] = set()

    async def follow(self) -> None:
        """Show what happens until there is nothing left to wait for."""
        while (row := await self._engine.instance.store.get(self._id)) is not None:
            head = row.head
            if head.last_seq > self._seen or self._outdated:
                await self._show(head)
            if head.status in CLOSED:
                return
            question = await self._question()
            if question is not None and self._person is not None:
                if not await self._asked(question, self._person):
                    return
            elif self._is_at_rest(head) and not await self._goes_on():
                return
            else:
                await self._news()

    async def _news(self) -> None:
        """Wait until something has happened, or long enough to see whether something has in a child."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_AGAIN):
                await self._engine.instance.listeners.until(self._id, lambda head: head.last_seq > self._seen)

    async def _show(self, head: Head) -> None:
        entries = await self._engine.history(self._id, self._seen + 1, _PAGE)
        while entries:
            self._seen = entries[-1].seq
            self._view.tell([event_of(entry) for entry in entries])
            entries = await self._engine.history(self._id, self._seen + 1, _PAGE)
        if not self._view.live:
            return
        # A picture is made from the whole log, so not every event of a fast execution gets one.
        is_still = head.status in CLOSED or self._is_at_rest(head)
        self._outdated = not is_still and monotonic() - self._drawn_at < _BETWEEN_PICTURES
        if not self._outdated:
            self._view.picture(head.status, [node_of(node) for node in await self._engine.nodes(self._id)])
            self._drawn_at = monotonic()

    async def _question(self) -> PointRow | None:
        if self._person is None:
            return None
        points: Sequence[PointRow] = await self._engine.points(self._id, children=True)
        asking = [row for row in points if row.point.kind in ("approval", "form") and row.point.status == "open"]
        self._passed_over |= {row.point.id for row in asking if not _may_answer(row, self._person)}
        return next((row for row in asking if row.point.id not in self._passed_over), None)

    async def _asked(self, row: PointRow, person: Person) -> bool:
        """Ask a person, and return whether they answered or the question was no longer theirs to answer."""
        self._view.suspend()
        asking = asyncio.ensure_future(ask(row, person.typed))
        gone = asyncio.ensure_future(self._gone(row))
        try:
            await asyncio.wait([asking, gone], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                say("")
                note(f"`{context_of(row.point)}` no longer waits for an answer.")
                return True
            return await self._answer(row, person, asking.result())
        except EndOfInput:
            return False
        except asyncio.CancelledError:
            say("")  # the line of the question was left unfinished
            raise
        finally:
            for task in (asking, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, EndOfInput):
                    await task

    async def _answer(self, row: PointRow, person: Person, given: Given) -> bool:
        try:
            await self._engine.answer(
                row.point.id,
                given.data,
                by=person.by,
                roles=person.roles,
                approved=given.approved,
                comment=given.comment,
            )
        except AnswerRefused as refused:
            note(f"{refused.message} ({refused.code})", "red")
            for path, what in refused.errors:
                note(f"  {path}: {what}")
            if refused.code in _NOBODY_HERE:  # it waits for somebody else
                self._passed_over.add(row.point.id)
        else:
            self._passed_over.add(row.point.id)
        return True

    async def _gone(self, row: PointRow) -> None:
        """Return when a point is answered elsewhere, has expired or was given up."""
        instance, seen = self._engine.instance, -1

        def is_news(head: Head) -> bool:
            return head.last_seq > seen

        while (found := await instance.store.point(row.point.id)) is not None and found.status == "open":
            head = await instance.listeners.until(row.execution_id, is_news)
            if head is None:
                return
            seen = head.last_seq

    async def _goes_on(self) -> bool:
        """Return whether an execution at rest is worth waiting for."""
        if self._stay:
            return self._person is None or not await self._waits_for_others()
        return await self._is_busy(self._id, _DEEPEST)

    async def _is_busy(self, execution_id: str, depth: int) -> bool:
        """Return whether an execution goes on by itself: it is driven, is tried again, or one of its children is."""
        row = await self._engine.instance.store.get(execution_id)
        if row is None or not self._is_at_rest(row.head):
            return True  # a child may be about to begin, or to tell that it is over
        waiting = (await self._engine.get(execution_id)).waiting_on
        if waiting and all(one.kind == "retry" for one in waiting):
            return True
        points = await self._engine.points(execution_id) if depth else ()
        children = [row.point.child for row in points if row.point.child]
        return any([await self._is_busy(child, depth - 1) for child in children])

    async def _waits_for_others(self) -> bool:
        """Return whether only people who are not here can bring it on: whoever is here has been asked."""
        points = await self._engine.points(self._id, children=True)
        return any(row.point.id in self._passed_over for row in points)

    def _is_at_rest(self, head: Head) -> bool:
        """Return whether nothing of an open execution is about to happen here: it waits, or lacks a function."""
        can_run = self._engine.instance.node_runner.can_run
        is_left = head.owner is None and any(not can_run(node_type) for node_type in head.missing)
        return (head.status in _RESTING or is_left) and head.commands_done >= head.commands_seq


def _may_answer(row: PointRow, sitting: Person) -> bool:
    """Return whether it is worth asking the person at the terminal."""
    who = Anybody(sitting.by, sitting.roles)
    return may_decide(row.point.rules or ApprovalRules(), who, row.point.decisions) is None
