"""The clock of this machine that never jumps: only lengths of time can be told by it."""

from __future__ import annotations

import time
from functools import partial

# This clock goes on while the machine sleeps, as leases do; where there is none, the next best is taken.
running_ns = (
    partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns
)
