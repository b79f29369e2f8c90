"""Pause points: reading and answering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import get, path_of, post
from layover.core.context_ids import parse_context_id
from layover.core.payloads import plain
from layover.model.executions import Why
from layover.model.points import AnswerBody, DelegateBody, PausePoint
from layover.model.shared import Page, ReasonBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.client.requests import ClientRequest
    from layover.client.transport import Transport
    from layover.interface.backend import PointAnswer, PointQuery


class HttpPoints:
    """Pause points of a server."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, point_id: str) -> PausePoint:
        """Return a pause point."""
        return await self._transport.ask(get(path_of("pause-points", point_id)), PausePoint)

    async def at(self, execution_id: str, context_id: str) -> PausePoint:
        """Return the newest pause point of an execution at a context id."""
        parse_context_id(context_id)  # what is none may become another path on its way
        path = path_of("executions", execution_id, "pause-points", context_id)
        return await self._transport.ask(get(path), PausePoint)

    async def why(self, point_id: str) -> Why:
        """Return what a pause point waits for, and whom it told."""
        return await self._transport.ask(get(path_of("pause-points", point_id, "why")), Why)

    async def list(self, wanted: PointQuery, limit: int, cursor: str | None) -> Page[PausePoint]:
        """Return a page of pause points, the oldest first."""
        path = path_of(
            "pause-points",
            execution_id=wanted.execution_id,
            workflow=wanted.workflow,
            kind=wanted.kind,
            status=wanted.status,
            children=wanted.children or None,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[PausePoint])

    async def inbox(
        self, user: str | None, roles: Sequence[str], workflow: str | None, limit: int, cursor: str | None
    ) -> Page[PausePoint]:
        """Return a page of the open points that a user may answer; without one, the user whose API key is shown."""
        path = path_of(
            "pause-points",
            for_="me" if user is None else None,
            user=user,
            role=[*roles],
            workflow=workflow,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[PausePoint])

    async def answer(self, point_id: str, answer: PointAnswer) -> PausePoint:
        """Answer a pause point."""
        body = AnswerBody(data=plain(answer.data), comment=answer.comment or None, approved=answer.approved)
        request = post(path_of("pause-points", point_id, "answer"), body, answer.idempotency_key)
        return await self._act(request)

    async def delegate(self, point_id: str, to: str, comment: str, idempotency_key: str | None) -> PausePoint:
        """Let another user decide at an approval."""
        body = DelegateBody(to=to, comment=comment or None)
        request = post(path_of("approvals", point_id, "delegate"), body, idempotency_key)
        return await self._act(request)

    async def cancel(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""
        body = ReasonBody(reason=reason or None)
        return await self._act(post(path_of("pause-points", point_id, "cancel"), body, idempotency_key))

    async def _act(self, request: ClientRequest) -> PausePoint:
        return await self._transport.newest(await self._transport.send(request), PausePoint, self.get)
