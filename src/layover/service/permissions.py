"""What users may do. What is not granted is denied; a role that is not named here grants nothing."""

from __future__ import annotations

from typing import Final, Literal, get_args

from layover.model.access import Caller

Permission = Literal[
    "execution:read",
    "execution:debug",  # tracebacks of failed attempts, and what nodes log
    "execution:start",
    "execution:cancel",  # and pause, resume, retry, rewind
    "workflow:read",
    "workflow:write",
    "approval:decide",
    "audit:read",
    "admin",
]
PERMISSIONS: Final[frozenset[str]] = frozenset(get_args(Permission))

_VIEWER: Final = frozenset({"execution:read", "workflow:read"})

# Any other role only counts where a workflow names it among those who are asked.
ROLES: Final[dict[str, frozenset[str]]] = {
    "viewer": _VIEWER,
    "approver": _VIEWER | {"approval:decide"},
    "operator": _VIEWER | {"execution:debug", "execution:start", "execution:cancel"},
    "admin": PERMISSIONS,
}


NOBODY: Final = Caller(user="", roles=(), permissions=(), credential="")

# The program that embeds an engine and names no user: it may do everything, and the audit log calls it the engine.
PROGRAM: Final = Caller(user="", roles=(), permissions=tuple(sorted(PERMISSIONS)), credential="program")


def caller_of(user: str, roles: tuple[str, ...], credential: str, scopes: tuple[str, ...] | None = None) -> Caller:
    """Return a user with what their roles permit."""
    return Caller(
        user=user, roles=roles, permissions=tuple(sorted(permissions_of(roles, scopes))), credential=credential
    )


def permissions_of(roles: tuple[str, ...], scopes: tuple[str, ...] | None = None) -> frozenset[str]:
    """Return what roles permit; with `scopes`, only as much of it as those name."""
    granted = frozenset[str]().union(*(ROLES.get(role, frozenset()) for role in roles))
    return granted if scopes is None else granted & frozenset(scopes)
