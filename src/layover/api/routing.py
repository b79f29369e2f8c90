"""Routes as they are declared: who may use them, what they take and what they answer.

One declaration makes the endpoint, its checks and its part of the OpenAPI document, so none of them can say something
that the others do not. A route belongs to a family, which is a module of `routes`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from layover.api.problems import STATUS
from layover.api.request import Request, Response, Stream
from layover.service.permissions import Permission

FORM_MEDIA: Final = "application/x-www-form-urlencoded"
LARGEST_FORM: Final = 500_000  # bytes

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Handle: TypeAlias = Callable[[Request[Any, Any]], Awaitable[Response | Stream]]
H = TypeVar("H", bound=Callable[..., Awaitable[Response | Stream]])

# Who may use a route without a permission: anybody; callers on the machine itself; the holder of the token that is
# part of the path; any caller with valid credentials, whatever they permit; or a visitor, who is known by credentials
# if there are any, and else nobody: the page itself says what a visitor may not do.
Open: TypeAlias = Literal["anybody", "loopback", "token", "sender", "known", "visitor"]


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route that takes no parameters."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One method of one path."""

    method: Method
    path: str
    handle: Handle
    family: str
    summary: str
    needs: tuple[Permission, ...] = ()  # one of these; without any, `open` says who
    open: Open | None = None
    admit: Callable[[Request[Any, Any]], Awaitable[object]] | None = None  # refuses before a body is read
    body: type[Any] | None = None  # a struct, `bytes` for what the handler reads itself, or nothing
    body_required: bool = True
    largest_body: int | None = None  # in bytes, if it is less than what the server takes
    media_types: tuple[str, ...] = ("application/json",)  # of the body
    query: type[Any] = NoQuery
    any_query: bool = False  # whatever parameters come are taken, as `pairs` of the request
    answers: dict[int, Any]  # by status: the type of the resource; None for no content
    answer_media: str = "application/json"
    problems: tuple[str, ...] = ()  # the codes that only the handler knows of
    keyed: bool = False  # an Idempotency-Key is obeyed: that is so for every POST with credentials
    # What the key belongs to, if not to the caller and this path. All callers share such a key: the handler is called
    # for each of them, does it once, and shows others no more than they may see.
    scope: Callable[[Request[Any, Any]], str] | None = None
    same: Callable[[Request[Any, Any]], object] | None = None  # what has to be the same under a key, if not all
    kept: Callable[[Response], Response] | None = None  # what is kept of an answer that is not to be shown again
    tagged: bool = False  # what is answered has an ETag
    pinned: bool = False  # If-Match is obeyed
    limited: bool = True  # by the rate of the caller, and by how many connections there are
    alone: bool = False  # it says what it has, and does not need the database
    examples: dict[str, object] = {}  # of bodies, by name
    by_link: bool = False  # the token in its path is that of a link to a pause point, which `admitted` holds
    page: bool = False  # for people: its problems are pages, and it is not in the document

    @property
    def name(self) -> str:
        """What the operation is called in the document: the name of its handler."""
        return str(getattr(self.handle, "__name__", "handle"))

    @property
    def is_open(self) -> bool:
        """Whether it asks for no credentials; a token in the path or a signature may be asked for."""
        return self.open in ("anybody", "token", "sender")

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that may be answered instead of what was asked for."""
        found = {*self.problems, "invalid_parameter", "misdirected"}
        if not self.alone:
            found.add("internal")
            if HTTPStatus.SERVICE_UNAVAILABLE not in self.answers:  # else that is what it tells
                found |= {"store_unavailable", "stopping"}
        if not self.is_open:
            found |= {"unauthenticated", "rate_limited"}  # by whom credentials are guessed
            found |= {"cross_site"} if self.open != "loopback" else set()
        if self.needs:
            found.add("forbidden")
        if "{" in self.path:
            found.add("not_found")
        if self.limited:
            found |= {"internal", "rate_limited", "too_many_connections"}
        if self.body is not None:
            found |= {"payload_too_large", "request_timeout", "unsupported_media_type"}
            if self.body is not bytes:
                found |= {"malformed", "invalid_body"}
        if self.pinned:
            found.add("point_changed")
        if self.keyed:
            found.add("in_progress")
            if self._says_something:
                found.add("idempotency_mismatch")
        return tuple(sorted(found, key=lambda code: (STATUS[code], code)))

    @property
    def _says_something(self) -> bool:
        """Whether two requests to the same path can ask for different things."""
        taken = (self.query, *(() if self.body in (None, bytes) else (self.body,)))
        return self.body is bytes or any(msgspec.structs.fields(one) for one in taken)


class Routes:
    """The routes of one family, in the order in which they are declared."""

    def __init__(self, family: str, description: str, prefix: str = "/api/v1") -> None:
        self.family = family
        self.description = description
        self._prefix = prefix
        self.routes: list[Route] = []

    def get(self, path: str, **declared: Any) -> Callable[[H], H]:
        """Declare something to read."""
        return self._declare("GET", path, declared)

    def post(self, path: str, **declared: Any) -> Callable[[H], H]:
        """Declare something to do."""
        declared.setdefault("keyed", "open" not in declared)
        return self._declare("POST", path, declared)

    def put(self, path: str, **declared: Any) -> Callable[[H], H]:
        """Declare something to replace."""
        return self._declare("PUT", path, declared)

    def delete(self, path: str, **declared: Any) -> Callable[[H], H]:
        """Declare something to remove."""
        return self._declare("DELETE", path, declared)

    def _declare(self, method: Method, path: str, declared: dict[str, Any]) -> Callable[[H], H]:
        def add(handle: H) -> H:
            route = Route(
                method=method,
                path=f"{self._prefix}{path}",
                handle=handle,
                family=self.family,
                summary=_sentence(handle),
                **declared,
            )
            if not route.needs and route.open is None:
                raise TypeError(f"{method} {route.path} does not say who may use it")
            self.routes.append(route)
            return handle

        return add


class Pages(Routes):
    """Pages for people. A form is posted as browsers do it, to the path that it was read from."""

    def _declare(self, method: Method, path: str, declared: dict[str, Any]) -> Callable[[H], H]:
        if method == "POST":
            declared = {"body": bytes, "media_types": (FORM_MEDIA,), "largest_body": LARGEST_FORM, **declared}
        return super()._declare(
            method,
            path,
            {"open": "visitor", **declared, "page": True, "keyed": False, "answers": {200: str}},
        )


def _sentence(handle: Callable[..., object]) -> str:
    text: Final = (handle.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(text.split())
