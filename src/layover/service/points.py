"""Pause points as one user reads and answers them, and the inbox of a user."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, Approver, may_decide
from layover.core.suggest import did_you_mean
from layover.errors import NotFound
from layover.model.shared import Page
from layover.ports.view_records import PointFilter as StoredFilter
from layover.runtime.ids import checked_id
from layover.runtime.queries.views import context_of
from layover.runtime.results.points import point_of
from layover.service import answers, conversations, links
from layover.service.absences import stand_in, with_absences
from layover.service.actor import READ
from layover.service.answers import needs_of, point_row
from layover.service.conversations import shown_to
from layover.service.cursors import cursor_of, parsed
from layover.service.pages import MOST, fitting
from layover.service.permissions import PROGRAM, caller_of
from layover.service.proofs import receipt
from layover.service.take_backs import take_back
from layover.service.unreached_points import not_there
from layover.service.visible import point_without_data

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.core.engine.events import PointKind
    from layover.interface.requests import PointAnswer, PointQuery
    from layover.model.access import Caller
    from layover.model.executions import Why
    from layover.model.points import PausePoint, PointLink
    from layover.model.proofs import Receipt
    from layover.ports.records import PointRow
    from layover.service.actor import Actor

    Rows: TypeAlias = list[PointRow]

FOR_PEOPLE: Final[tuple[PointKind, ...]] = ("approval", "form")
_PAGE: Final = 100
_MOST_PAGES: Final = 10
_MOST_NAMED: Final = 10
_PAST: Final = frozenset({"completed", "failed", "skipped", "stopped"})


class PointService:
    """Pause points: reading and answering."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    @property
    def actor(self) -> Actor:
        """As whom points are read and answered."""
        return self._actor

    async def get(self, point_id: str, kind: PointKind | None = None) -> PausePoint:
        """Return a pause point."""
        self._actor.require(*READ)
        return await self.describe(await point_row(self._actor, point_id, kind))

    async def at(self, execution_id: str, context_id: str) -> PausePoint:
        """Return the newest pause point of an execution at a context id."""
        self._actor.require(*READ)
        try:
            row = await self.row_at(execution_id, context_id)
        except NotFound as error:
            if error.code != "unknown_point":
                raise
            where = [context_of(one.point) for one in await self._actor.runtime.points.list(execution_id)]
            listed = ", ".join(f"`{one}`" for one in where[:_MOST_NAMED]) or "none"
            hint = did_you_mean(context_id, where)
            raise NotFound(f"{error.message} Open ones: {listed}.{hint}", code=error.code) from error
        return await self.describe(row)

    async def list(self, wanted: PointQuery, limit: int, cursor: str | None) -> Page[PausePoint]:
        """Return a page of pause points, the oldest first."""
        self._actor.require(*READ)
        if wanted.children and wanted.execution_id is not None:
            return await self._of_family(wanted, limit, cursor)
        most = min(limit, MOST)
        stored = _stored(wanted, cursor, most)
        if ("completed" in wanted.status) != ("expired" in wanted.status):
            # A store does not tell a completed timer from an expired one.
            rows, following = await sifted(self._read, stored, most, lambda row: row.shown_status in wanted.status)
        else:
            rows = await self._read(stored)
            following = _behind(rows[most - 1]) if len(rows) > most else None
            rows = rows[:most]
        return await self.page(rows, following)

    async def inbox(
        self,
        user: str | None,
        roles: Sequence[str],
        workflow: str | None,
        limit: int,
        cursor: str | None,
        wanted: StoredFilter | None = None,
    ) -> Page[PausePoint]:
        """Return a page of the open points that a user may answer; without one, the user who acts."""
        self._actor.require(*READ)
        caller = self._actor.caller
        if user is not None and (user, sorted(roles)) != (caller.user, sorted(caller.roles)):
            self._actor.require("admin")
            caller = caller_of(user, tuple(roles), "")
        after = parsed(cursor) if cursor is not None else None
        stored = wanted or StoredFilter(workflow=workflow)
        stored = replace(stored, status=("open",), after=after)
        read = self._of_people_and_absent if caller is self._actor.caller else self.of_people
        rows, following = await sifted(read, stored, min(limit, MOST), partial(_waits_for, caller))
        return await self.page(rows, following)

    async def receipt(self, point_id: str, user: str | None) -> Receipt:
        """Return the proof of what a user has decided at a point; without a user, of one's own decision."""
        return await receipt(self._actor, point_id, user)

    async def why(self, point_id: str) -> Why:
        """Return what a pause point waits for, and whom it told, or why not yet."""
        self._actor.require(*READ)
        return await self._actor.runtime.queries.why_point(await point_row(self._actor, point_id, None))

    async def answer(self, point_id: str, answer: PointAnswer) -> PausePoint:
        """Answer a pause point."""
        actor = self._actor
        if actor.caller is PROGRAM and answer.idempotency_key is None:
            taken = await answers.take_of_program(actor, point_id, answer)
        else:
            taken = await answers.answer(actor, await point_row(actor, point_id), answer)
        if taken.reserved is None or taken.is_repeated or taken.row.status != "answered":
            return await self.describe(taken.row)
        return self._shown(taken.row, await actor.runtime.points.position_of(taken.reserved))

    async def delegate(self, point_id: str, to: str, comment: str, idempotency_key: str | None) -> PausePoint:
        """Let another user decide at an approval."""
        row = await point_row(self._actor, point_id)
        return await self.describe(await answers.delegate(self._actor, row, to, comment, idempotency_key))

    async def take_back(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Take back what the user who acts has answered."""
        row = await point_row(self._actor, point_id)
        return await self.describe(await take_back(self._actor, row, reason, idempotency_key))

    async def claim(self, point_id: str, *, take: bool, idempotency_key: str | None) -> PausePoint:
        """Claim a pause point for the user."""
        row = await point_row(self._actor, point_id)
        return await self.describe(
            await conversations.claim(self._actor, row, take=take, idempotency_key=idempotency_key)
        )

    async def release(self, point_id: str) -> PausePoint:
        """Give back the claim of the user."""
        row = await point_row(self._actor, point_id)
        return await self.describe(await conversations.release(self._actor, row))

    async def ask(self, point_id: str, question: str, to: str | None, idempotency_key: str | None) -> PausePoint:
        """Ask back before answering."""
        row = await point_row(self._actor, point_id)
        return await self.describe(await conversations.ask(self._actor, row, question, to, idempotency_key))

    async def reply(self, point_id: str, text: str, number: int | None, idempotency_key: str | None) -> PausePoint:
        """Reply to a question that was asked back."""
        row = await point_row(self._actor, point_id)
        return await self.describe(await conversations.reply(self._actor, row, text, number, idempotency_key))

    async def stand_in(self, point_id: str) -> None:
        """Write down that the user stands in at a point for a person who is away, if they do."""
        if self._actor.caller.user:
            await stand_in(self._actor, await point_row(self._actor, point_id))

    async def cancel(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""
        row = await point_row(self._actor, point_id)
        return await self.shown_to_caller(await answers.cancel(self._actor, row, reason, idempotency_key))

    async def create_link(self, point_id: str, user: str, expires_in: int | None) -> PointLink:
        """Make a link by which a user reaches the page of a point; its address is shown this once."""
        return await links.create_link(self._actor, point_id, user, expires_in)

    async def revoke_links(self, point_id: str, user: str | None) -> int:
        """Revoke the links to a point, all or those of one user."""
        return await links.revoke_links(self._actor, point_id, user)

    # What routes of HTTP need besides

    async def row_at(self, execution_id: str, context_id: str) -> PointRow:
        """Return the newest point at a context id of an execution, or raise why there is none."""
        runtime = self._actor.runtime
        execution = await runtime.queries.row(execution_id)
        row = await runtime.points.find(execution.head.execution_id, context_id)
        if row is not None:
            return row
        plan = await runtime.instance.plans.of(execution.info.hash)
        error = not_there(plan, context_id, execution.head.status)
        if error.code == "snapshot_pending" and await self._is_past(execution.head.execution_id, context_id):
            message = f"The execution went on without a pause point at {context_id[:200]}."
            raise NotFound(message, code="unknown_point")
        raise error

    async def describe(self, row: PointRow) -> PausePoint:
        """Return a pause point, with its place in the queue if its answer is not applied yet."""
        position = None
        if row.status == "answered":
            position = (await self._actor.runtime.points.queue(row.execution_id)).get(row.point.id)
        (row,) = await with_absences(self._actor, [row])
        return self._shown(row, position)

    async def shown_to_caller(self, row: PointRow) -> PausePoint:
        """Return a pause point to a user who was not asked: what is said there only if they may read executions."""
        point = await self.describe(row)
        return point if self._actor.caller.may(READ) else point_without_data(point)

    async def of_people(self, wanted: StoredFilter) -> Rows:
        """Return points at which people are awaited, the oldest first, however many others there are beside them."""
        kinds = FOR_PEOPLE if wanted.kind is None else (wanted.kind,)
        pages = [await self._read(replace(wanted, kind=kind)) for kind in kinds]
        return sorted((row for page in pages for row in page), key=age)[: wanted.limit]

    async def _of_people_and_absent(self, wanted: StoredFilter) -> Rows:
        """Return the same, as they stand for a user who may stand in for others."""
        return await with_absences(self._actor, await self.of_people(wanted))

    async def _read(self, wanted: StoredFilter) -> Rows:
        return [*await self._actor.runtime.instance.store.queries.list_points(wanted)]

    async def _of_family(self, wanted: PointQuery, limit: int, cursor: str | None) -> Page[PausePoint]:
        """Return a page of the points of an execution and of those that it waits for."""
        rows = await self._actor.runtime.points.list(
            checked_id(wanted.execution_id), status=_stored_status(wanted.status), children=True
        )
        after = parsed(cursor) if cursor is not None else None
        fits = [row for row in rows if after is None or age(row) > after]
        most = min(limit, MOST)
        return await self.page(fits[:most], _behind(fits[most - 1]) if len(fits) > most else None)

    async def page(self, rows: Rows, following: str | None) -> Page[PausePoint]:
        """Return points as a page; those that are answered and not applied yet have a place in the queue."""
        places: dict[str, int] = {}
        for execution_id in {row.execution_id: None for row in rows if row.status == "answered"}:
            places |= await self._actor.runtime.points.queue(execution_id)
        told = [self._shown(row, places.get(row.point.id)) for row in rows]
        items = fitting(told, self._actor.page_bytes)
        return Page(items=items, next=_behind(rows[len(items) - 1]) if len(items) < len(rows) else following)

    def _shown(self, row: PointRow, position: int | None) -> PausePoint:
        """Return a pause point as the user who acts sees it now."""
        actor = self._actor
        return shown_to(point_of(row, position), actor.caller, row, actor.runtime.instance.clock.now())

    async def _is_past(self, execution_id: str, context_id: str) -> bool:
        """Return whether an execution has left a node behind; of one in rounds there may always be another."""
        nodes = (await self._actor.runtime.queries.graph(execution_id)).nodes
        return any(node.id == context_id and node.status in _PAST for node in nodes)


def age(row: PointRow) -> tuple[int, str]:
    """Return what points are ordered by."""
    return row.point.opened_at, row.point.id


def _stored(wanted: PointQuery, cursor: str | None, most: int) -> StoredFilter:
    """Return how a store finds what is asked for."""
    return StoredFilter(
        execution_id=checked_id(wanted.execution_id) if wanted.execution_id is not None else None,
        workflow=wanted.workflow,
        kind="timer" if wanted.kind is None and wanted.status == ("completed",) else _kind(wanted.kind),
        status=_stored_status(wanted.status),
        after=parsed(cursor) if cursor is not None else None,
        limit=most + 1,
    )


def _kind(kind: str | None) -> PointKind | None:
    return cast("PointKind | None", kind)  # the interface lets no other pass


def _stored_status(status: Sequence[str]) -> tuple[str, ...]:
    """Return the statuses under which a store finds points: a completed timer is stored as expired."""
    if "completed" not in status:
        return tuple(status)
    return tuple(dict.fromkeys("expired" if one == "completed" else one for one in status))


async def sifted(
    read: Callable[[StoredFilter], Awaitable[list[PointRow]]],
    wanted: StoredFilter,
    most: int,
    fits: Callable[[PointRow], bool],
) -> tuple[list[PointRow], str | None]:
    """Return those of a list that fit, and where to go on looking: only so many pages of it are read at once."""
    wanted = replace(wanted, limit=_PAGE)
    found: list[PointRow] = []
    for _ in range(_MOST_PAGES):
        rows = await read(wanted)
        found += filter(fits, rows)
        if len(found) > most:
            return found[:most], _behind(found[most - 1])
        if len(rows) < _PAGE:
            return found, None
        wanted = replace(wanted, after=age(rows[-1]))
    return found, cursor_of(*wanted.after) if wanted.after is not None else None


def _waits_for(caller: Caller, row: PointRow) -> bool:
    point, person = row.point, Approver(caller.user, tuple(caller.roles))
    may = may_decide(point.rules or ApprovalRules(), person, point.decisions)
    return caller.may(needs_of(point)) and may is None


def _behind(row: PointRow) -> str:
    return cursor_of(*age(row))
