"""Claims and leases: which instance drives an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claim, Claims, LeaseRow


class ClaimStore(Protocol):
    """Gives executions to instances, each until a moment."""

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due, the most urgent first; a writer of an older epoch can no longer append."""

    async def renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        """Renew leases at least until a moment; return the executions that were lost."""

    def renewals(self) -> Renewals | None:
        """Return a way to renew from another thread, if there is one."""

    async def release(
        self,
        instance: str,
        leases: Sequence[LeaseRow],
        wake_at: int | None,
        missing: tuple[str, ...] = (),
        held_at: int | None = None,
    ) -> None:
        """Release leases; the executions are due at a moment, or now if they have commands that are not in their logs.

        An instance that has a function for one of the `missing` node types may claim them at once. With `held_at` they
        are due when `wake_at` says, whatever is unread: the instance that releases them could not read it.
        """


class Renewals(Protocol):
    """A way to renew leases that does not depend on the event loop, nor on connections that others use."""

    def renew(self, instance: str, leases: Sequence[LeaseRow], until: int, timeout: float) -> list[str]:
        """Renew leases within so many seconds, always on the same thread; return the executions that were lost."""

    def close(self) -> None:
        """Close it, on the same thread."""
