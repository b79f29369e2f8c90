"""Have many clients follow executions of `layover serve`, some of whom take nothing of what they are sent.

    python tools/streams.py --clients 500 --stalled 100 [--postgres]

Those who read must be told every event once, in order and to the end; those who do not are let go after half a minute,
and cost little memory until then. At last the server is told to stop while it is followed. On PostgreSQL it brings its
own server. Exits with 1 if anything is not as it must be.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.load.following import CHATTY, Follower, Following, Plot
from tests.load.memory import MB, sample
from tests.load.playing import database, verified
from tests.load.serving import serving
from tests.load.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.load.playing import Kind
    from tests.load.serving import Serving

_FOLLOWING_AT_LAST = 20
_FOR_EACH = 200_000  # bytes of memory that a stream may take: what waits in its buffers, and in the system's
_BESIDES = 40 * MB


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--stalled", type=int, default=100, help="how many of them read nothing")
    parser.add_argument("--executions", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=60, help="how often each execution is answered")
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    options = parser.parse_args()
    plot = Plot(
        executions=options.executions,
        readers=options.clients - options.stalled,
        stalled=options.stalled,
        rounds=options.rounds,
        text=20_000,
    )
    _allow_files(2 * options.clients + 100)
    folder = Path(tempfile.mkdtemp(prefix="layover-streams-"))
    begun = monotonic()

    def say(line: str) -> None:
        print(f"{monotonic() - begun:6.1f}s {line}", flush=True)

    kind: Kind = "postgres" if options.postgres else "sqlite"
    say(f"{options.clients} clients follow {plot.executions} executions on {kind}, {folder}")
    problems = asyncio.run(_played(plot, kind, folder, say))
    for problem in problems[:20]:
        print(f"\n{problem}")
    if problems:
        print(f"\nFAILED: {len(problems)} findings; what there is of it is in {folder}")
        return 1
    shutil.rmtree(folder)
    say("all is as it must be")
    return 0


def _allow_files(count: int) -> None:
    """Be allowed as many connections as there are clients."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(allowed, count), most), most))


async def _played(plot: Plot, kind: Kind, folder: Path, say: Callable[[str], None]) -> list[str]:
    async with database(kind, folder) as address:
        async with serving(address, folder, {"chatty": CHATTY}) as server:
            key = await server.key("follower", "operator")
            problems = await _followed(server, key, plot, say)
            problems += await _stopped(server, key, say)
        return problems + await verified(address, say)


async def _followed(server: Serving, key: str, plot: Plot, say: Callable[[str], None]) -> list[str]:
    before, samples = server.resident, list[tuple[float, float]]()
    watching = asyncio.create_task(sample(lambda: server.resident, samples))
    seen = await Following(server.url, key, plot, say).play()
    watching.cancel()
    most, after = max(size for _, size in samples), server.resident
    allowed = before + _BESIDES + _FOR_EACH * (plot.readers + plot.stalled)
    say(f"memory: {before / MB:.1f} MB before, {most / MB:.1f} at most, {after / MB:.1f} after")
    half, nearly_all = _ms(seen.percentile(0.5)), _ms(seen.percentile(0.99))
    say(f"/healthz meanwhile: {len(seen.answer_times)} times, p50 {half}, p99 {nearly_all}")
    if most > allowed:
        return [*seen.problems, f"The server took {most / MB:.1f} MB, more than {allowed / MB:.1f}."]
    return seen.problems


async def _stopped(server: Serving, key: str, say: Callable[[str], None]) -> list[str]:
    """Stop the server while it is followed: the streams end with it, and none says that its execution has ended."""
    async with Wire(server.url, key) as wire:
        heard = await wire.ask(
            "POST", "/api/v1/executions", {"workflow": "chatty", "input": {"rounds": 1}, "wait": "60s"}
        )
        followers = [Follower(server.url, key, heard.json["id"]) for _ in range(_FOLLOWING_AT_LAST)]
        for one in followers:
            await one.begin()
    began = monotonic()
    problems = await server.stop()
    say(f"stopped in {monotonic() - began:.1f} s while it was followed")
    for text in await asyncio.gather(*(one.rest() for one in followers)):
        if b"event: end" in text:
            problems.append("A stream says that an execution has ended which has not.")
    for one in followers:
        one.close()
    return problems


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
