"""What the runtime on SQLite costs, beside a floor that only writes: `python bench/runtime.py [--quick] [name …]`.

Each measure is taken in rounds, the engine and the floor in turn, each on a new file on a real disk (in `TMPDIR`, or
`/var/tmp` if that is memory); medians are shown. The time of the processor that the event loop used for a step is shown
too, since it depends less on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from time import perf_counter
from typing import TYPE_CHECKING

import runtime_chains
import runtime_lives
import runtime_pauses
from measure import table
from runtime_figures import HEADER
from runtime_workloads import FILE_SYSTEM, FOLDER

if TYPE_CHECKING:
    from runtime_figures import Figure, Measure

MEASURES: dict[str, Measure] = {
    **runtime_chains.MEASURES,
    **runtime_pauses.MEASURES,
    **runtime_lives.MEASURES,
}
BUSY = 1.5  # our own two threads are good for about one


def main(arguments: list[str]) -> None:
    quick = "--quick" in arguments
    names = [name for name in arguments if not name.startswith("--")] or list(MEASURES)
    if unknown := [name for name in names if name not in MEASURES]:
        sys.exit(f"There is no measure {', '.join(unknown)}; there are: {', '.join(MEASURES)}.")
    load = os.getloadavg()[0]
    print(
        f"databases in {FOLDER} ({FILE_SYSTEM}), {os.cpu_count()} cores, load {load:.1f}{', quick' if quick else ''}",
        flush=True,
    )
    figures: list[Figure] = []
    for name in names:
        started = perf_counter()
        found = asyncio.run(MEASURES[name](quick))
        print(f"{name}: {perf_counter() - started:.1f} s", flush=True)
        figures += found
    load = max(load, os.getloadavg()[0])
    print(
        table(
            f"The runtime on SQLite (load up to {load:.1f} before or after)",
            [HEADER, *(figure.row() for figure in figures)],
        )
    )

    if load > BUSY:
        print(
            "  The machine was busy: times and ratios mean little (all wait for the disk alike); trust the CPU column."
        )


if __name__ == "__main__":
    main(sys.argv[1:])
