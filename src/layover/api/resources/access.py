"""Keys, who the caller is, and what was done."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from layover.api.name_rules import fault_in_name
from layover.api.resources.shared import Body, Length, Moment, Resource, Value

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
    """For how long the old key still works, so that whoever uses it can change over."""

    grace: Length | None = None


class NewKey(Resource, frozen=True, kw_only=True):
    """A key that was just made: `key` is shown this once."""

    id: str
    key: str | None
    prefix: str
    expires_at: Moment | None = None


class Key(Resource, frozen=True, kw_only=True):
    """A key, without the key."""

    id: str
    prefix: str
    name: str
    user: str
    roles: list[str]
    scopes: list[str] | None = None
    created_at: Moment
    created_by: str = ""
    expires_at: Moment | None = None
    ended_at: Moment | None = None


class Me(Resource, frozen=True, kw_only=True):
    """Who the caller is, and what they may do."""

    user: str
    roles: list[str]
    permissions: list[str]
    credential: str


class AuditEntry(Resource, frozen=True, kw_only=True):
    """What somebody did."""

    id: str
    at: Moment
    user: str
    act: str
    target: str = ""
    execution_id: str | None = None
    credential: str = ""
    request_id: str = ""
    details: dict[str, Value] = {}
