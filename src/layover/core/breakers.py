"""The breaker of a destination: after many failures in a row nothing is sent for a while, then one delivery tries.

Ten failures in a row over a minute open it for a minute; each time that the trial fails, for twice as long, up to an
hour. A destination that has failed for five days is disabled.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

OPENS_AFTER: Final = 10  # failures in a row
OVER: Final = 60_000  # milliseconds
FIRST_OPEN: Final = 60_000
LONGEST_OPEN: Final = 3_600_000
DISABLED_AFTER: Final = 5 * 86_400_000


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of a destination since its last success; it is open until a moment, and was opened so often."""

    failures: int = 0
    failing_since: int | None = None
    open_until: int | None = None
    opened: int = 0
    disabled: bool = False

    def succeeded(self) -> Breaker:
        """Return the breaker after a success."""
        return replace(self, failures=0, failing_since=None, open_until=None, opened=0)

    def failed(self, at: int, *, is_trial: bool = False) -> Breaker:
        """Return the breaker after a failure.

        While it is open, only the failure of the trial opens it for longer; others were sent before it opened.
        """
        failures, since = self.failures + 1, self.failing_since if self.failing_since is not None else at
        if at - since >= DISABLED_AFTER:
            return replace(self, failures=failures, failing_since=since, disabled=True)
        is_open = self.open_until is not None and at < self.open_until and not is_trial
        if is_open or failures < OPENS_AFTER or at - since < OVER:
            return replace(self, failures=failures, failing_since=since)
        length = min(FIRST_OPEN << min(self.opened, 10), LONGEST_OPEN)
        return replace(self, failures=failures, failing_since=since, open_until=at + length, opened=self.opened + 1)
