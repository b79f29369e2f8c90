"""One request on its way through a handler: who asks, what they ask, and what it is done with."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from layover.ports.records import AuditEntry
from layover.runtime.ids import new_id
from layover.runtime.operations.timeouts import WaitTimeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.permissions import Caller
    from layover.api.services import Services
    from layover.runtime.engine import Engine

B = TypeVar("B")
Q = TypeVar("Q")

_NO_CONTENT = 204


class Reply(msgspec.Struct, frozen=True):
    """What is answered: a resource, or bytes of some media type."""

    value: object = None
    status: int = 200
    headers: dict[str, str] = {}
    media_type: str = "application/json"

    def encoded(self) -> bytes:
        """Return the body."""
        if self.value is None:
            return b"" if self.status == _NO_CONTENT else b"null"
        return self.value if isinstance(self.value, bytes) else msgspec.json.encode(self.value)


class Stream(msgspec.Struct, frozen=True):
    """An answer that goes on: each piece is sent as it comes."""

    pieces: AsyncGenerator[bytes]
    media_type: str = "text/event-stream"
    headers: dict[str, str] = {}


class Request(Generic[B, Q]):
    """A request whose caller may make it, with its body and its query as they were declared."""

    def __init__(  # noqa: PLR0913 - put together in one place
        self,
        *,
        services: Services,
        caller: Caller,
        body: B,
        query: Q,
        path: Mapping[str, str],
        headers: Mapping[str, str],
        request_id: str,
        base: str = "",
    ) -> None:
        self.services = services
        self.caller = caller
        self.body = body
        self.query = query
        self.path = path
        self.headers = headers
        self.request_id = request_id
        self.base = base  # the path that the application is mounted at

    @property
    def engine(self) -> Engine:
        """What the request is done with."""
        return self.services.engine

    @property
    def key(self) -> str | None:
        """The idempotency key: whoever sends it again asks for the same, once."""
        return self.headers.get("idempotency-key")

    @property
    def within(self) -> WaitTimeout:
        """For how long it is waited that an execution takes what is asked of it; when the server stops, no longer."""
        return WaitTimeout(self.services.settings.act_wait, self.services.stopping)

    def audit(self, act: str, target: str = "", *, execution_id: str = "", **details: object) -> AuditEntry:
        """Return what is written with the act; `details` hold the caller's reason or comment, and no data."""
        now = self.engine.instance.clock.now()
        return AuditEntry(
            id=new_id(now),
            at=now,
            user=self.caller.user,
            act=act,
            target=target or execution_id,
            execution_id=execution_id,
            credential=self.caller.credential,
            request_id=self.request_id,
            details=msgspec.json.encode({name: value for name, value in details.items() if value is not None}),
        )
