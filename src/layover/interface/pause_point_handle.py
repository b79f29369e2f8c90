"""One pause point, to answer and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from layover.interface.backend import PointAnswer
from layover.interface.bounds import SHORT, check_act, check_answer, check_text
from layover.interface.handle import Handle
from layover.interface.listing import Listing
from layover.model.points import PausePoint
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.core.engine.events import PointKind
    from layover.core.moments import Moment
    from layover.errors import Failure
    from layover.interface.backend import Backend, PointQuery
    from layover.model.executions import Why
    from layover.model.points import Approvers, Decision, LoopScope, ParallelScope


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
        approvers: Approvers | None
        need: int | None
        decisions: tuple[Decision, ...]
        answered_by: str | None
        answered_at: Moment | None
        applied_at: Moment | None
        queue_position: int | None
        snapshot_ready: bool
        parallel_scope: ParallelScope | None
        loop_scope: LoopScope | None

    def __repr__(self) -> str:
        info = self.info
        return f"<{info.kind} {info.id} at {info.context_id} of {info.execution_id}: {info.status}>"

    async def refresh(self) -> Self:
        """Read the point anew."""
        self.info = await self._backend.points.get(self.info.id)
        return self

    async def why(self) -> Why:
        """Return what it waits for, and whom it told, or why not yet."""
        return await self._backend.points.why(self.info.id)

    async def answer(self, data: object = None, *, comment: str = "", idempotency_key: str | None = None) -> Self:
        """Answer it; an approval is decided by `approve` or `reject`."""
        answer = PointAnswer(data=data, comment=comment, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def approve(self, data: object = None, *, comment: str = "", idempotency_key: str | None = None) -> Self:
        """Approve; `data` is what the form of the approval asks for."""
        answer = PointAnswer(data=data, approved=True, comment=comment, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def reject(self, data: object = None, *, comment: str = "", idempotency_key: str | None = None) -> Self:
        """Reject; `data` is what the form of the approval asks for."""
        answer = PointAnswer(data=data, approved=False, comment=comment, idempotency_key=idempotency_key)
        check_answer(answer.comment, answer.idempotency_key)
        self.info = await self._backend.points.answer(self.info.id, answer)
        return self

    async def delegate(self, to: str, *, comment: str = "", idempotency_key: str | None = None) -> Self:
        """Let another user decide in one's place."""
        check_text("to", to, SHORT, 1)
        check_answer(comment, idempotency_key)
        self.info = await self._backend.points.delegate(self.info.id, to, comment, idempotency_key)
        return self

    async def cancel(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """Give up waiting; the node fails."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.points.cancel(self.info.id, reason, idempotency_key)
        return self


def listed_points(backend: Backend, wanted: PointQuery) -> Listing[PausePointHandle]:
    """Return pause points as handles."""

    async def read(limit: int, cursor: str | None) -> Page[PausePointHandle]:
        return handles_of(backend, await backend.points.list(wanted, limit, cursor))

    return Listing(read)


def handles_of(backend: Backend, page: Page[PausePoint]) -> Page[PausePointHandle]:
    """Return a page of points as handles."""
    return Page(items=tuple([PausePointHandle(backend, one) for one in page.items]), next=page.next)
