# Written by tools/blocking_calls.py from ../calls: change it there.
"""Pause points: what is waited for, and what people say to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from layover.api.resources.points import (
    AnswerBody,
    DecisionBody,
    DelegateBody,
    PausedExecution,
    PausedOfWorkflow,
    PausePoint,
    Resumed,
    ResumePointBody,
)
from layover.api.resources.shared import Page, ReasonBody
from layover.client.requests import ClientRequest, path_of, post

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.client.sync_client import SyncTransport


class Points:
    """Pause points of a server."""

    def __init__(self, transport: SyncTransport) -> None:
        self._transport = transport

    def list(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        status: Sequence[str] = (),
        for_: Literal["me"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[PausePoint]:
        """Return a page of pause points, the oldest first; `for_="me"` are those that the caller may answer."""
        path = path_of(
            "pause-points",
            execution_id=execution_id,
            workflow=workflow,
            kind=kind,
            status=[*status],
            for_=for_,
            limit=limit,
            cursor=cursor,
        )
        return self._transport.ask(ClientRequest(method="GET", path=path), Page[PausePoint])

    def each(
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        kind: str | None = None,
        status: Sequence[str] = (),
        for_: Literal["me"] | None = None,
    ) -> Iterator[PausePoint]:
        """Return pause points, the oldest first, page after page."""
        cursor: str | None = None
        while True:
            page = self.list(
                execution_id=execution_id,
                workflow=workflow,
                kind=kind,
                status=status,
                for_=for_,
                limit=100,
                cursor=cursor,
            )
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def get(self, point_id: str) -> PausePoint:
        """Return a pause point, be it closed."""
        return self._transport.ask(ClientRequest(method="GET", path=path_of("pause-points", point_id)), PausePoint)

    def answer(
        self,
        point_id: str,
        data: object = None,
        *,
        comment: str | None = None,
        approved: bool | None = None,
        key: str | None = None,
    ) -> PausePoint:
        """Answer a pause point; for an approval, `approved` decides."""
        body = AnswerBody(data=data, comment=comment, approved=approved)
        return self._transport.ask(post(path_of("pause-points", point_id, "answer"), body, key), PausePoint)

    def delegate(self, point_id: str, to: str, *, key: str | None = None) -> PausePoint:
        """Let somebody else decide at an approval in the caller's place."""
        path = path_of("approvals", point_id, "delegate")
        return self._transport.ask(post(path, DelegateBody(to=to), key), PausePoint)

    def cancel(self, point_id: str, reason: str | None = None, *, key: str | None = None) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""
        ask = post(path_of("pause-points", point_id, "cancel"), ReasonBody(reason=reason), key)
        return self._transport.ask(ask, PausePoint)


class Approvals:
    """The pause points of a server that ask for a decision."""

    def __init__(self, transport: SyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        status: Sequence[str] = (),
        for_: Literal["me"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[PausePoint]:
        """Return a page of approvals, the oldest first: those that are open, unless `status` says otherwise."""
        path = path_of(
            "approvals",
            execution_id=execution_id,
            workflow=workflow,
            status=[*status],
            for_=for_,
            limit=limit,
            cursor=cursor,
        )
        return self._transport.ask(ClientRequest(method="GET", path=path), Page[PausePoint])

    def each(
        self,
        *,
        execution_id: str | None = None,
        workflow: str | None = None,
        status: Sequence[str] = (),
        for_: Literal["me"] | None = None,
    ) -> Iterator[PausePoint]:
        """Return approvals, the oldest first, page after page."""
        cursor: str | None = None
        while True:
            page = self.list(
                execution_id=execution_id, workflow=workflow, status=status, for_=for_, limit=100, cursor=cursor
            )
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def get(self, point_id: str) -> PausePoint:
        """Return an approval, be it closed."""
        return self._transport.ask(ClientRequest(method="GET", path=path_of("approvals", point_id)), PausePoint)

    def approve(
        self, point_id: str, comment: str | None = None, data: object = None, *, key: str | None = None
    ) -> PausePoint:
        """Approve what waits for a decision."""
        body = DecisionBody(comment=comment, data=data)
        return self._transport.ask(post(path_of("approvals", point_id, "approve"), body, key), PausePoint)

    def reject(
        self, point_id: str, comment: str | None = None, data: object = None, *, key: str | None = None
    ) -> PausePoint:
        """Reject what waits for a decision."""
        body = DecisionBody(comment=comment, data=data)
        return self._transport.ask(post(path_of("approvals", point_id, "reject"), body, key), PausePoint)


class Resuming:
    """Pause points by where they are: a workflow, an execution and a context id."""

    def __init__(self, transport: SyncTransport) -> None:
        self._transport = transport

    def resume(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        execution_id: str,
        context_id: str,
        input: object = None,  # noqa: A002 - as the wire has it
        *,
        approved: bool | None = None,
        comment: str | None = None,
        data: object = None,
        key: str | None = None,
    ) -> Resumed:
        """Resume a pause point: with its input, or for an approval with a decision."""
        body = ResumePointBody(input=input, approved=approved, comment=comment, data=data)
        path = path_of("resume", workflow, execution_id, context_id, root="/api")
        return self._transport.ask(post(path, body, key), Resumed)

    def cancel(self, workflow: str, execution_id: str, context_id: str) -> PausePoint:
        """Give up waiting at a pause point; its node fails."""
        path = path_of("resume", workflow, execution_id, context_id, root="/api")
        return self._transport.ask(ClientRequest(method="DELETE", path=path), PausePoint)

    def paused(self, workflow: str, *, limit: int | None = None, cursor: str | None = None) -> PausedOfWorkflow:
        """Return the executions of a workflow that people are awaited in, with their pause points."""
        path = path_of("workflows", workflow, "paused", root="/api", limit=limit, cursor=cursor)
        return self._transport.ask(ClientRequest(method="GET", path=path), PausedOfWorkflow)

    def each_paused(self, workflow: str) -> Iterator[PausedExecution]:
        """Return all executions of a workflow that people are awaited in, page after page."""
        cursor: str | None = None
        while True:
            page = self.paused(workflow, limit=100, cursor=cursor)
            yield from page.executions
            cursor = page.next
            if cursor is None:
                return
