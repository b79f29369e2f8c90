"""The monotonic clock of this machine: it measures durations only."""

from __future__ import annotations

import time
from functools import partial

# This clock goes on while the machine sleeps, as leases do; where there is none, the monotonic clock is used.
running_ns = (
    partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns
)
