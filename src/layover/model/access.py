"""Keys, who the caller is, and what was done."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from layover.core.moments import Moment
from layover.model.name_rules import fault_in_name
from layover.model.shared import Body, Length, Resource, Value

# What stands in lists and in logs has no line breaks; `$` alone would let one pass at the end.
_Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", examples=["ada"])]


class KeyBody(Body, frozen=True, kw_only=True):
    """A key to make: for a user with roles, with all their permissions or only some (`scopes`), for ever or a while."""

    name: _Name
    user: _Name
    roles: Annotated[list[_Name], Meta(max_length=50)]
    scopes: Annotated[list[str], Meta(max_length=50)] | None = None
    expires_in: Length | None = None

    def __post_init__(self) -> None:
        """Refuse names that look like others."""
        for what, names in (("name", (self.name,)), ("user", (self.user,)), ("roles", self.roles)):
            fault = next((fault for fault in map(fault_in_name, names) if fault is not None), None)
            if fault is not None:
                raise ValueError(f"{fault}, in `{what}`")


class RotateBody(Body, frozen=True, kw_only=True):
    """For how long the old key still works, so that its users can change over."""

    grace: Length | None = None


class NewApiKey(Resource, frozen=True, kw_only=True):
    """A key that was just made: `key` is shown this once."""

    id: str
    key: str | None
    prefix: str
    expires_at: Moment | None = None


class ApiKey(Resource, frozen=True, kw_only=True):
    """A key, without the key."""

    id: str
    prefix: str
    name: str
    user: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None = None
    created_at: Moment
    created_by: str = ""
    expires_at: Moment | None = None
    ended_at: Moment | None = None


class SecretStatus(Resource, frozen=True, kw_only=True):
    """A secret that workflows declare: where it is from, or what is wrong with it; never its value."""

    name: str
    found: bool
    source: str | None = None  # the provider that has it, or that failed
    version: str = ""
    problem: str = ""
    workflows: tuple[str, ...] = ()  # whose newest version declares it
    refused: tuple[str, ...] = ()  # those of them that may not have it


class Caller(Resource, frozen=True, kw_only=True):
    """A user who acts, as their credentials say, and what they may do."""

    user: str
    roles: tuple[str, ...]
    permissions: tuple[str, ...]
    credential: str  # such as `key <id>`, `session <id>`, `jwt`, `admin key`, `embedded`; nothing for one without any

    def may(self, needs: tuple[str, ...]) -> bool:
        """Return whether they have one of some permissions."""
        permissions = self.permissions
        for one in needs:  # noqa: SIM110 - twice as fast, and before every operation
            if one in permissions:
                return True
        return False


class SessionBody(Body, frozen=True, kw_only=True):
    """A credential to sign in with: a key, or a JWT of an issuer that the server trusts."""

    key: Annotated[str, Meta(min_length=1, max_length=10_000)]


class Session(Resource, frozen=True, kw_only=True):
    """Who is signed in, what they may do, and until when; a caller with a key or a token has no session to end."""

    user: str
    roles: tuple[str, ...]
    permissions: tuple[str, ...]
    credential: str  # `session <id>`, by which audit entries name it
    expires_at: Moment | None = None


class OpenSession(Resource, frozen=True, kw_only=True):
    """A session of a browser that has not ended; never what it is known by."""

    id: str
    user: str
    roles: tuple[str, ...]
    scopes: tuple[str, ...] | None = None
    opened_by: str  # the credential that it was opened with, such as `key <id>`, `link <id>`, `admin key` or `oidc`
    created_at: Moment
    expires_at: Moment
    current: bool = False  # whether it is the session by which the caller is known


class SignInLinkBody(Body, frozen=True, kw_only=True):
    """A link that signs a browser in as a user with roles: with all their permissions or only some (`scopes`)."""

    user: _Name
    roles: Annotated[list[_Name], Meta(max_length=50)]
    scopes: Annotated[list[str], Meta(max_length=50)] | None = None
    expires_in: Length | None = None  # ten minutes unless it is said, and a day at most

    def __post_init__(self) -> None:
        """Refuse names that look like others."""
        for what, names in (("user", (self.user,)), ("roles", self.roles)):
            fault = next((fault for fault in map(fault_in_name, names) if fault is not None), None)
            if fault is not None:
                raise ValueError(f"{fault}, in `{what}`")


class SignInLink(Resource, frozen=True, kw_only=True):
    """A link that was just made: its `url` is shown this once, and signs one browser in."""

    id: str
    url: str | None
    user: str
    expires_at: Moment


class AuditEntry(Resource, frozen=True, kw_only=True):
    """An act of a user."""

    id: str
    at: Moment
    user: str
    act: str
    target: str = ""
    execution_id: str | None = None
    credential: str = ""
    request_id: str = ""
    details: dict[str, Value] = {}
    address: str = ""  # from where the user came: the address of a client, or the name of an instance
    before: Value = None  # what was there, where the act changed it
    after: Value = None  # what is there now, such as the answer that was given
    document: str | None = None  # the SHA-256 of what the user saw
    seal: int | None = None  # the seal that holds it; none for about a second
