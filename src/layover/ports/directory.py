"""The directory: who people are, and how they can be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.people import Person


@runtime_checkable
class Directory(Protocol):
    """Finds people, for a program that has them somewhere else: in its database, in LDAP, behind an HTTP API."""

    async def people(self, users: Sequence[str], roles: Sequence[str]) -> Sequence[Person]:
        """Return the people with these names, and all who have one of these roles; those it does not know are left out.

        It is asked whenever something is to be sent, by any instance.
        """
