"""What the runtime costs, beside a floor that only writes: `bench/runtime.py [--postgres] [--quick] [--small] [name]`.

Each measure is taken in rounds, the engine and the floor in turn, each on a database of its own on a real disk (in
`TMPDIR`, or `/var/tmp` if that is memory); medians are shown. A database is a file of SQLite, or a schema on a server
that runs for as long as we do. The time of the processor that the event loop used for a step is shown too, since it
depends less on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING

import runtime_chains
import runtime_lives
import runtime_lives_postgres
import runtime_pauses
from measure import Size, size_of, table
from runtime_figures import HEADER
from sites import FILE_SYSTEM, FOLDER, SqliteSite
from sites_postgres import postgres_site

if TYPE_CHECKING:
    from runtime_figures import Figure, Measure
    from sites import Site

ON_BOTH: dict[str, Measure] = {**runtime_chains.MEASURES, **runtime_pauses.MEASURES}
ON_SQLITE: dict[str, Measure] = {**ON_BOTH, **runtime_lives.MEASURES}
ON_POSTGRES: dict[str, Measure] = {**ON_BOTH, **runtime_lives_postgres.MEASURES}
BUSY = 1.5  # our own two threads are good for about one


def main(arguments: list[str]) -> None:
    postgres = "--postgres" in arguments
    measures = ON_POSTGRES if postgres else ON_SQLITE
    names = [name for name in arguments if not name.startswith("--")] or list(measures)
    if unknown := [name for name in names if name not in measures]:
        sys.exit(f"There is no measure {', '.join(unknown)}; there are: {', '.join(measures)}.")
    with postgres_site() if postgres else nullcontext(SqliteSite()) as site:
        _measure(site, {name: measures[name] for name in names}, size_of(arguments))


def _measure(site: Site, measures: dict[str, Measure], size: Size) -> None:
    load = os.getloadavg()[0]
    print(
        f"databases in {FOLDER} ({FILE_SYSTEM}), {os.cpu_count()} cores, load {load:.1f}, size: {size.value}",
        flush=True,
    )
    figures: list[Figure] = []
    try:
        for name, measure in measures.items():
            started = perf_counter()
            figures += asyncio.run(measure(site, size))
            print(f"{name}: {perf_counter() - started:.1f} s", flush=True)
    finally:  # what was measured before one that fails is shown all the same
        _show(site, figures, load)


def _show(site: Site, figures: list[Figure], load: float) -> None:
    load = max(load, os.getloadavg()[0])
    print(
        table(
            f"The runtime on {site.name} (load up to {load:.1f} before or after)",
            [HEADER, *(figure.row() for figure in figures)],
        )
    )

    if load > BUSY:
        print(
            "  The machine was busy: times and ratios mean little (all wait for the disk alike); trust the CPU column."
        )


if __name__ == "__main__":
    main(sys.argv[1:])
