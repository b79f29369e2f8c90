"""What seeing costs a step, counted and not timed: `python bench/observed.py [--calls] [--small]`.

Executions of ten calls, twenty at once, on SQLite: without anything, with the log at INFO, with lines that functions
log, with lines that are kept, and with traces; each in a process of its own under valgrind, which counts instructions.
What takes N and 2N executions is compared, so start-up is not in it. What services do by the clock is counted too:
count when the machine is quiet. With `--calls` functions are counted instead, those of Python and of C, which needs
neither valgrind nor silence. With `--small` nothing is counted, only run.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
import subprocess
import sys
from shutil import which
from tempfile import TemporaryDirectory

from instructions import CallCounter
from measure import Size, size_of, table

STEPS = 10
AT_ONCE = 20
KINDS = {
    "without": "nothing",
    "log at INFO": "info",
    "log at DEBUG": "info debug",
    "a line that the function logs": "info speaking",
    "the same line, kept (`node_logs`)": "info speaking kept",
    "traces, sampled out": "traced unsampled",
    "traces, in batches to nowhere": "traced",
}

_log = logging.getLogger("bench")


async def quiet(x: int) -> int:
    """Return the next number."""
    return x + 1


async def speaking(x: int) -> int:
    """Log a line, too."""
    _log.info("charged order %d", x, extra={"amount": 12})
    return x + 1


def set_up_traces(*, sampled: bool) -> None:
    """Set up the SDK as a program would, with an exporter that drops everything."""
    from opentelemetry import trace  # noqa: PLC0415 - only processes with traces load it
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON  # noqa: PLC0415 - as above

    from tracing import Null  # noqa: PLC0415 - as above

    provider = TracerProvider(sampler=ALWAYS_ON if sampled else ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Null(), max_queue_size=100_000))
    trace.set_tracer_provider(provider)


async def observed(words: list[str], times: int, address: str) -> None:
    """Run so many executions, with what the words say."""
    from layover import Engine, Settings, configure_logging  # noqa: PLC0415 - only what is measured loads the engine

    if "info" in words:
        configure_logging("debug" if "debug" in words else "info", stream=io.StringIO())
    if "traced" in words:
        set_up_traces(sampled="unsampled" not in words)
    function = speaking if "speaking" in words else quiet
    nodes = [{"id": f"n{n}", "type": function.__name__, "input": {"x": n}, "next": f"n{n + 1}"} for n in range(STEPS)]
    flow = {"name": "flow", "nodes": [*nodes, {"id": f"n{STEPS}", "type": "end"}]}
    counter = CallCounter()
    if "calls" in words:
        counter.install()
    async with Engine(address, nodes=[function], settings=Settings(node_logs="kept" in words)) as engine:
        await engine.register(flow)
        for _ in range(times):
            await asyncio.gather(*(engine.run("flow") for _ in range(AT_ONCE)))
    sys.setprofile(None)
    print(counter.python + counter.c)


def count(words: str, times: int, *, valgrind: bool) -> int:
    """Return the instructions of a process that runs so many executions, or the functions that it calls."""
    command = [sys.executable, __file__, "--observed", words, str(times)]
    if valgrind:
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command]
    with TemporaryDirectory(dir="/dev/shm") as place:
        ended = subprocess.run(  # noqa: S603 - ourselves
            [*command, f"sqlite:///{place}/engine.db"],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode:
        sys.exit(ended.stderr)
    found = re.search(r"I\s+refs:\s+([\d,]+)", ended.stderr) if valgrind else None
    return int(found[1].replace(",", "")) if found else int(ended.stdout.split()[-1])


def main(words: list[str]) -> None:
    if words[:1] == ["--observed"]:
        asyncio.run(observed(words[1].split(), int(words[2]), words[3]))
        return
    size, calls = size_of(words), "--calls" in words
    valgrind = size is not Size.SMALL and not calls
    if valgrind and which("valgrind") is None:
        sys.exit("Instructions are counted by valgrind, which is not installed; `--calls` does without.")
    times = size.of(10, quick=5, small=1)
    rows: list[tuple[str, ...]] = [("a step with", "calls" if calls else "instructions", "ratio")]
    first = 0.0
    for name, kind in KINDS.items():
        what = f"{kind} calls" if calls else kind
        once = count(what, times, valgrind=valgrind)
        twice = once if size is Size.SMALL else count(what, 2 * times, valgrind=valgrind)
        step = (twice - once) / (times * AT_ONCE * STEPS)
        first = first or step
        rows.append((name, f"{step:,.0f}", f"{step / first:.2f}" if first else "-"))
    print(table("What seeing costs", rows))


if __name__ == "__main__":
    main(sys.argv[1:])
