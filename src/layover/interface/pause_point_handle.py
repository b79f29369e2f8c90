"""One pause point, to answer and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from layover.core.point_questions import LONGEST_QUESTION
from layover.interface.bounds import SHORT, check_act, check_answer, check_key, check_number, check_text
from layover.interface.durations import milliseconds_of
from layover.interface.handle import Handle
from layover.interface.listing import Listing
from layover.interface.requests import PointAnswer
from layover.model.points import PausePoint
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.core.engine.events import PointKind
    from layover.core.moments import Moment
    from layover.errors import Failure
    from layover.interface.backend import Backend
    from layover.interface.durations import Duration
    from layover.interface.requests import PointQuery
    from layover.model.executions import Why
    from layover.model.points import Approvers, Decision, LoopScope, May, ParallelScope, PointLink, Question
    from layover.model.proofs import Receipt


class PausePointHandle(Handle[PausePoint]):
    """A pause point: its methods act, `info` is what was last read of it, and so are the fields of that.

    The answer that was given is `info.answer`: `answer` itself answers.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        id: str
        execution_id: str
        workflow: str
        context_id: str
        node: str
        kind: PointKind
        status: str  # no Literal: a type checker would not believe that it changes
        title: str
        schema: Any
        shown: Any
        response: Any
        failure: Failure | None
        opened_at: Moment
        deadline: Moment | None
        on_deadline: str | None
        leads_to: dict[str, str]
        view: str | None
        approvers: Approvers | None
        need: int | None
        reject_need: int | None
        order: Literal["any", "sequence"] | None
        comment_required: bool
        decisions: tuple[Decision, ...]
        answered_by: str | None
        answered_at: Moment | None
        seen: str | None
        final_at: Moment | None
        taken_back_by: tuple[str, ...]
        applied_at: Moment | None
        queue_position: int | None
        snapshot_ready: bool
        parallel_scope: ParallelScope | None
        loop_scope: LoopScope | None
        requester: str | None
        claimed_by: str | None
        claimed_until: Moment | None
        questions: tuple[Question, ...]
        may: May | None

    def __repr__(self) -> str:
        info = self.info
        return f"<{info.kind} {info.id} at {info.context_id} of {info.execution_id}: {info.status}>"

    async def refresh(self) -> Self:
        """Read the point anew."""
        self.info = await self._backend.points.get(self.info.id)
        return self

    async def receipt(self, user: str | None = None) -> Receipt:
        """Return the proof of what a user has decided here, which a stranger can check; by default, of what I have.

        `WrongState` (`not_final`) before the decision is sealed, which takes a second or two, or final.
        """
        return await self._backend.points.receipt(self.info.id, user)

    async def why(self) -> Why:
        """Return what it waits for, and whom it told, or why not yet."""
        return await self._backend.points.why(self.info.id)

    async def answer(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self:
        """Answer it; an approval is decided by `approve` or `reject`. `seen` is the view that the person has read."""
        answer = PointAnswer(data=data, comment=comment, seen=seen, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key, answer.seen)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def approve(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self:
        """Approve; `data` is what the form of the approval asks for, `seen` the view that the person has read."""
        answer = PointAnswer(data=data, approved=True, comment=comment, seen=seen, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key, answer.seen)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def reject(
        self, data: object = None, *, comment: str = "", seen: str | None = None, idempotency_key: str | None = None
    ) -> Self:
        """Reject; `data` is what the form of the approval asks for, `seen` the view that the person has read."""
        answer = PointAnswer(data=data, approved=False, comment=comment, seen=seen, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key, answer.seen)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def delegate(self, to: str, *, comment: str = "", idempotency_key: str | None = None) -> Self:
        """Let another user decide in one's place."""
        check_text("to", to, SHORT, 1)
        check_answer(comment, idempotency_key)
        self.info = await self._backend.points.delegate(self.info.id, to, comment, idempotency_key)
        return self

    async def take_back(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """Take back what was answered, until `final_at`; the point is open again."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.points.take_back(self.info.id, reason, idempotency_key)
        return self

    async def claim(self, *, take: bool = False, idempotency_key: str | None = None) -> Self:
        """Claim it for 15 minutes: others can neither answer nor claim it; with `take`, also from another person."""
        check_key(idempotency_key)
        self.info = await self._backend.points.claim(self.info.id, take=take, idempotency_key=idempotency_key)
        return self

    async def release(self) -> Self:
        """Give back one's claim."""
        self.info = await self._backend.points.release(self.info.id)
        return self

    async def ask(self, question: str, *, to: str | None = None, idempotency_key: str | None = None) -> Self:
        """Ask the requester something before answering, or another user; the point stays open."""
        check_text("question", question, LONGEST_QUESTION, 1)
        check_text("to", to, SHORT, 1)
        check_key(idempotency_key)
        self.info = await self._backend.points.ask(self.info.id, question, to, idempotency_key)
        return self

    async def reply(self, text: str, *, number: int | None = None, idempotency_key: str | None = None) -> Self:
        """Reply to a question: to the oldest without a reply, or to the one with a number."""
        check_text("text", text, LONGEST_QUESTION, 1)
        check_number("number", number, 1, 1_000)
        check_key(idempotency_key)
        self.info = await self._backend.points.reply(self.info.id, text, number, idempotency_key)
        return self

    async def cancel(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """Give up waiting; the node fails."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.points.cancel(self.info.id, reason, idempotency_key)
        return self

    async def create_link(self, user: str, *, expires_in: Duration | None = None) -> PointLink:
        """Make a link by which a user reaches the page of this point; its `url` is shown this once."""
        check_text("user", user, SHORT, 1)
        return await self._backend.points.create_link(self.info.id, user, milliseconds_of("expires_in", expires_in))

    async def revoke_links(self, user: str | None = None) -> int:
        """Let links to this point lead nowhere from now on, all or those of one user; return how many there were."""
        check_text("user", user, SHORT, 1)
        return await self._backend.points.revoke_links(self.info.id, user)


def listed_points(backend: Backend, wanted: PointQuery) -> Listing[PausePointHandle]:
    """Return pause points as handles."""

    async def read(limit: int, cursor: str | None) -> Page[PausePointHandle]:
        return handles_of(backend, await backend.points.list(wanted, limit, cursor))

    return Listing(read)


def handles_of(backend: Backend, page: Page[PausePoint]) -> Page[PausePointHandle]:
    """Return a page of points as handles."""
    return Page(items=tuple([PausePointHandle(backend, one) for one in page.items]), next=page.next)
