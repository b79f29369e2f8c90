"""A process that serves until it is told to stop: once, and calls come to an end; twice, and it leaves at once."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from tests.runtime.harness import Scripted, engine_at

PROGRAM = """
import asyncio, sys, threading
from layover import LayoverError
from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings

async def told_to_stop():
    while True:
        try:
            engine.instance
        except LayoverError:
            return
        await asyncio.sleep(0)

async def work():
    print("working", flush=True)
    await told_to_stop()
    return "well"

async def wait():
    print("working", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("stopped", flush=True)

def hang():
    print("working", flush=True)
    threading.Event().wait()

nodes = [{"id": "a", "type": sys.argv[2], "next": "b"}, {"id": "b", "type": "work"}]
settings = RuntimeSettings(grace=600_000)
engine = open_runtime(f"sqlite:///{sys.argv[1]}", nodes=[work, wait, hang], settings=settings)

async def main():
    async with engine:
        await engine.workflows.register({"name": "flow", "nodes": nodes})
        serving = asyncio.create_task(engine.serve())
        execution = await engine.executions.start("flow")
        print(execution.id, flush=True)
        await told_to_stop()
        print("stopping", flush=True)
        await serving
    print("ended", flush=True)

asyncio.run(main())
"""


def _serve(folder: Path, function: str = "work") -> tuple[subprocess.Popen[str], str]:
    """Start a process and return it with the execution that it began, once that is at its first call."""
    command = [sys.executable, "-c", PROGRAM, str(folder / "layover.db"), function]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - it is ours
    lines = {_line(process), _line(process)}
    assert "working" in lines
    return process, (lines - {"working"}).pop()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def _finished(folder: Path, execution_id: str) -> list[tuple[str, int]]:
    """Let another engine go on with an execution to its end; return how often each node was tried."""
    async with engine_at(
        folder, Scripted("well"), Scripted("well", name="wait"), Scripted("well", name="hang")
    ) as engine:
        assert await asyncio.wait_for(engine.executions.result(execution_id), 60) == "well"
        return [(node.context_id, node.attempt) for node in await engine.queries.nodes(execution_id)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_signal_waits_for_calls_and_starts_no_more(tmp_path: Path, number: signal.Signals) -> None:
    process, execution_id = _serve(tmp_path)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "stopping\nended\n")
    assert await _finished(tmp_path, execution_id) == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("function", ["wait", "hang"])
async def test_the_second_signal_stops_what_is_running_and_loses_nothing(tmp_path: Path, function: str) -> None:
    process, execution_id = _serve(tmp_path, function)
    process.send_signal(signal.SIGINT)
    assert _line(process) == "stopping"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == ("stopped\nended\n" if function == "wait" else "ended\n")
    assert process.returncode == 0
    assert await _finished(tmp_path, execution_id) == [("a", 2), ("b", 1)]
