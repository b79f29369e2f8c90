"""How long leases last: the length of a lease counts from when it is written, by the clock of the store.

An instance counts a lease from the time that it knows when it asks for it. The clock of the store may have been set
forward since then, and the instance may hear of that late. A lease that ended by what the instance knew would be over
as soon as it is written: another instance could claim the execution while the first one still counts on its lease.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from layover.ports.records import Claim


def lease_end(until: int, since: int, now: int) -> int:
    """Return the end of a lease that an instance asked for at the time `since`, and that is written `now`."""
    return until + now - since if now > since else until


def lasting(claim: Claim, now: int) -> Claim:
    """Return a claim whose leases have their whole length from now on."""
    return replace(claim, lease_until=lease_end(claim.lease_until, claim.now, now)) if now > claim.now else claim
