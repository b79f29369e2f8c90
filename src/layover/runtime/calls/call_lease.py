"""The lease under which one call is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.runtime.calls.call_out import Superseded

if TYPE_CHECKING:
    from layover.runtime.calls.call_out import CallOut


class LeaseOfCall:
    """The lease of the execution that a call belongs to, while the call is out."""

    __slots__ = ("_out",)

    def __init__(self, out: CallOut) -> None:
        self._out = out

    def is_valid(self) -> bool:
        """Return whether the result of the call still counts, and its lease lasts; on any thread."""
        out = self._out
        return self._counts() and out.execution.expects(out.call) and out.execution.held_lease.is_valid()

    async def renew(self) -> None:
        """Renew a lease that has run out; if it is lost, let go of the execution, which stops the call.

        An append that ends the call may be on its way: then its outcome comes first, and may stop the call.
        """
        active = self._out.execution
        if self._counts() and not await active.expects_still(self._out.call):
            raise Superseded
        if self._counts() and not await active.held_lease.regain() and self._counts():
            active.let_go()
        if not self.is_valid():
            raise Superseded

    def _counts(self) -> bool:
        return self._out.execution.calls.get(self._out.call.node) is self._out
