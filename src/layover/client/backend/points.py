"""Pause points: reading and answering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.client.requests import delete, get, path_of, post
from layover.core.context_ids import parse_context_id
from layover.core.definitions.durations import format_duration
from layover.core.payloads import plain
from layover.model.executions import Why
from layover.model.points import (
    AnswerBody,
    AskBackBody,
    ClaimBody,
    DelegateBody,
    LinkBody,
    PausePoint,
    PointLink,
    ReplyBody,
    RevokedLinks,
)
from layover.model.proofs import Receipt
from layover.model.shared import Page, ReasonBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.client.requests import ClientRequest
    from layover.client.transport import Transport
    from layover.interface.requests import PointAnswer, PointQuery


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

    async def receipt(self, point_id: str, user: str | None) -> Receipt:
        """Return the proof of a decision; without a user, of one's own."""
        path = (
            ("pause-points", point_id, "receipts", user) if user is not None else ("pause-points", point_id, "receipt")
        )
        return await self._transport.ask(get(path_of(*path)), Receipt)

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
        return await self._act(replace(request, if_match=answer.seen))

    async def delegate(self, point_id: str, to: str, comment: str, idempotency_key: str | None) -> PausePoint:
        """Let another user decide at an approval."""
        body = DelegateBody(to=to, comment=comment or None)
        request = post(path_of("approvals", point_id, "delegate"), body, idempotency_key)
        return await self._act(request)

    async def take_back(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Take back what the user has answered."""
        body = ReasonBody(reason=reason or None)
        return await self._act(post(path_of("pause-points", point_id, "take-back"), body, idempotency_key))

    async def claim(self, point_id: str, *, take: bool, idempotency_key: str | None) -> PausePoint:
        """Claim a pause point for the user."""
        return await self._act(post(path_of("pause-points", point_id, "claim"), ClaimBody(take=take), idempotency_key))

    async def release(self, point_id: str) -> PausePoint:
        """Give back the claim of the user."""
        return await self._act(delete(path_of("pause-points", point_id, "claim")))

    async def ask(self, point_id: str, question: str, to: str | None, idempotency_key: str | None) -> PausePoint:
        """Ask back before answering."""
        body = AskBackBody(question=question, to=to)
        return await self._act(post(path_of("pause-points", point_id, "ask"), body, idempotency_key))

    async def reply(self, point_id: str, text: str, number: int | None, idempotency_key: str | None) -> PausePoint:
        """Reply to a question that was asked back."""
        body = ReplyBody(text=text, number=number)
        return await self._act(post(path_of("pause-points", point_id, "reply"), body, idempotency_key))

    async def cancel(self, point_id: str, reason: str, idempotency_key: str | None) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""
        body = ReasonBody(reason=reason or None)
        return await self._act(post(path_of("pause-points", point_id, "cancel"), body, idempotency_key))

    async def create_link(self, point_id: str, user: str, expires_in: int | None) -> PointLink:
        """Make a link by which a user reaches the page of a point."""
        body = LinkBody(user=user, expires_in=None if expires_in is None else format_duration(expires_in))
        return await self._transport.ask(post(path_of("pause-points", point_id, "links"), body), PointLink)

    async def revoke_links(self, point_id: str, user: str | None) -> int:
        """Revoke the links to a point, all or those of one user."""
        request = delete(path_of("pause-points", point_id, "links", user=user))
        return (await self._transport.ask(request, RevokedLinks)).revoked

    async def _act(self, request: ClientRequest) -> PausePoint:
        return await self._transport.newest(await self._transport.send(request), PausePoint, self.get)
