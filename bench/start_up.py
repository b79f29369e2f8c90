"""How long a program takes before it can begin: `python bench/start_up.py [--small]`.

Each line is a process of its own, taken in turn with the bare interpreter; medians. Peers are measured if they are
installed in the same environment.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from measure import size_of, table

ROUNDS = 15
OPENED = """
import asyncio
from layover import Engine
async def main():
    async with Engine("sqlite:///start_up.db"):
        pass
asyncio.run(main())
"""
PROGRAMS = {
    "the bare interpreter": "pass",
    "import layover": "import layover",
    "from layover import check": "from layover import check",
    "from layover import Engine": "from layover import Engine",
    "an engine on a new file, opened and closed": OPENED,
    "layover --help": "from layover.cli.main import main; import sys; sys.argv = ['layover', '--help']; main()",
}
PEERS = {
    "dbos": "from dbos import DBOS",
    "prefect": "from prefect import flow",
    "temporalio": "import temporalio.worker",
}


def main(words: list[str]) -> None:
    programs = {**PROGRAMS, **{program: program for name, program in PEERS.items() if find_spec(name) is not None}}
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(size_of(words).of(ROUNDS, quick=5, small=1)):
        for name, program in programs.items():
            with tempfile.TemporaryDirectory() as folder:
                taken[name].append(_run(program, Path(folder)))
    bare = statistics.median(taken["the bare interpreter"])
    rows: list[tuple[str, ...]] = [("", "ms", "beyond the interpreter")]
    for name, times in taken.items():
        median = statistics.median(times)
        rows.append((name, f"{median * 1000:.0f}", f"{(median - bare) * 1000:.0f}"))
    print(table("Start-up", rows))
    missing = [name for name in PEERS if find_spec(name) is None]
    if missing:
        print(f"  not installed here: {', '.join(missing)}")


def _run(program: str, folder: Path) -> float:
    started = perf_counter()
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)  # noqa: S603 - ours
    return perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:])
