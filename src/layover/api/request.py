"""One request on its way through a handler: who asks, what they ask, and what it is done with."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from layover.model.shared import encode
from layover.service.actor import Actor
from layover.service.service import UserService

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import Scope

    from layover.api.services import Services
    from layover.model.access import Caller

B = TypeVar("B")
Q = TypeVar("Q")

_NO_CONTENT = 204


class Response(msgspec.Struct, frozen=True):
    """What is answered: a resource, or bytes of some media type."""

    value: object = None
    status: int = 200
    headers: dict[str, str] = {}
    media_type: str = "application/json"
    cookies: tuple[str, ...] = ()  # to set, as they stand in the header

    def encoded(self) -> bytes:
        """Return the body."""
        if self.value is None:
            return b"" if self.status == _NO_CONTENT else b"null"
        return self.value if isinstance(self.value, bytes) else encode(self.value)


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
        pairs: Sequence[tuple[str, str]] = (),
        path: Mapping[str, str],
        headers: Mapping[str, str],
        request_id: str,
        scope: Scope,
        address: str = "",
        counted_as: str = "",
    ) -> None:
        self.services = services
        self.caller = caller
        self.body = body
        self.query = query
        self.pairs = pairs  # the parameters as they came
        self.path = path
        self.headers = headers
        self.request_id = request_id
        self.scope = scope  # as the server has given it
        self.address = address  # of the client
        self.counted_as = counted_as  # where the route itself counts what its senders send
        self.admitted: object = None  # what the route has found out before the body was read
        self._service: UserService | None = None

    @property
    def base(self) -> str:
        """The path that the application is mounted at."""
        return str(self.scope.get("root_path", ""))

    @property
    def service(self) -> UserService:
        """What the caller can do."""
        if self._service is None:
            self._service = self.service_of(self.caller)
        return self._service

    def service_of(self, caller: Caller) -> UserService:
        """Return what a user can do, also one who is known by something else than credentials, such as a link."""
        services = self.services
        actor = Actor(
            services.runtime,
            caller,
            request_id=self.request_id,
            address=self.address,
            act_wait=services.settings.act_wait,
            stopping=services.stopping,
            page_bytes=services.settings.page_bytes,
            notes_keys=False,  # the reply to a request with a key is kept, with what was asked for
        )
        return UserService(actor, services.forget_key, services.forget_session)

    @property
    def key(self) -> str | None:
        """The idempotency key: a request that comes again with it is done once."""
        return self.headers.get("idempotency-key")
