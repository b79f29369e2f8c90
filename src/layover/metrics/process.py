"""What the operating system says of this process."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from layover.metrics.samples import Samples

_STATM: Final = Path("/proc/self/statm")  # of Linux; its second number is the resident memory, in pages
_VERSION: Final = version("layover")  # which is read from a file


def add_process(samples: Samples) -> None:
    """Add the memory and processor time of this process."""
    samples.add("layover_processes", 1, _VERSION)
    samples.add("layover_process_cpu_seconds_total", process_time())
    if (memory := resident_memory()) is not None:
        samples.add("layover_process_resident_memory_bytes", memory)


def resident_memory() -> int | None:
    """Return the memory of this process in bytes; None where the system does not say it in this way."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
