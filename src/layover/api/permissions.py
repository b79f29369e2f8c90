"""What callers may do. Whatever a route does not allow is denied; a role that is not named here grants nothing."""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

Permission = Literal[
    "execution:read",
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
    "operator": _VIEWER | {"execution:start", "execution:cancel"},
    "admin": PERMISSIONS,
}


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever makes a request, as their credentials say and nothing else."""

    user: str
    roles: tuple[str, ...] = ()
    permissions: frozenset[str] = frozenset()
    credential: str = ""  # `key <id>`, `jwt`, `admin key`; or nothing, for whoever has shown none

    def may(self, needs: tuple[str, ...]) -> bool:
        """Return whether they have one of some permissions."""
        return not self.permissions.isdisjoint(needs)


NOBODY: Final = Caller(user="")


def permissions_of(roles: tuple[str, ...], scopes: tuple[str, ...] | None = None) -> frozenset[str]:
    """Return what roles permit; with `scopes`, only as much of it as those name."""
    granted = frozenset[str]().union(*(ROLES.get(role, frozenset()) for role in roles))
    return granted if scopes is None else granted & frozenset(scopes)
