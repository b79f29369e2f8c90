"""Processes that race for the same occurrences, are killed and stopped meanwhile, and disagree about the time.

Every schedule ticks each second within bounds, so it is known beforehand which occurrences there are. What was started
is told by a file in which each execution leaves a line: none may be missing, and none may have two executions.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec

from layover import Engine
from layover.bootstrap import open_store
from layover.runtime.maintenance.verify import violations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .stages import Stage

_ROOT = Path(__file__).parents[2]
_SILENCE = 90  # seconds without any start, after which what is missing counts as lost
_BEGINS_IN = 3  # seconds: all processes are there by then


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """How many schedules tick for how many seconds, for how many processes; and how often something happens to one."""

    seed: int = 1
    schedules: int = 50
    seconds: int = 200
    processes: int = 3
    disturb_every: int = 40  # starts
    skew: int = 1_000  # milliseconds that a calendar is wrong at most


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it; `lost_claims` are those of instances that were not the first."""

    occurrences: int
    executions: int
    lost_claims: int
    mishaps: dict[str, int]
    problems: list[str]


class _Racers:
    """The processes."""

    def __init__(self, race: Race, stage: Stage, folder: Path) -> None:
        self._race = race
        self._stage = stage
        self._folder = folder
        self._chance = Random(race.seed)  # noqa: S311 - a race that can be repeated
        self._processes = [self._begin() for _ in range(race.processes)]
        self._stopped: list[tuple[float, subprocess.Popen[bytes]]] = []
        self.mishaps: Counter[str] = Counter()

    def _begin(self) -> subprocess.Popen[bytes]:
        options = {
            "address": self._stage.address,
            "effects": str(self._folder / "effects"),
            "lost_claims": str(self._folder / "lost_claims"),
            "skew": self._chance.choice((0, 0, 1, -1)) * self._chance.randint(0, self._race.skew),
        }
        given = msgspec.json.encode(options).decode()
        with (self._folder / "racers.log").open("ab") as log:
            command = [sys.executable, "-m", "tests.torture.trigger_racer", given]
            return subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=log)  # noqa: S603 - it is our own

    def disturb(self, now: float) -> None:
        """Kill one, or stop it for longer than its lease or for a moment."""
        place = self._chance.randrange(len(self._processes))
        process = self._processes[place]
        match self._chance.choice(("kill", "kill", "stop", "stop", "nothing")):
            case "kill":
                process.kill()
                process.wait()
                self.mishaps["killed"] += 1
                self._processes[place] = self._begin()
            case "stop" if all(process is not one for _, one in self._stopped):
                process.send_signal(signal.SIGSTOP)
                self._stopped.append((now + self._chance.choice((0.3, 1.5, 5.0)), process))
                self.mishaps["stopped"] += 1
            case _:
                pass

    def let_go(self, now: float) -> None:
        """Let those go on that were stopped for long enough, and replace those that have ended."""
        for until, process in list(self._stopped):
            if now >= until:
                self._stopped.remove((until, process))
                process.send_signal(signal.SIGCONT)
        for place, process in enumerate(self._processes):
            if process.poll() is not None:
                self.mishaps["ended by itself"] += 1
                self._processes[place] = self._begin()

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


async def play(race: Race, stage: Stage, folder: Path, say: Callable[[str], None]) -> Result:
    """Race, and say what came of it."""
    names = [f"s{n}" for n in range(race.schedules)]
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=_BEGINS_IN, milliseconds=500)
    end = begin + timedelta(seconds=race.seconds)
    expected = {(name, at) for name in names for at in _instants(begin, race.seconds)}
    await _register(stage.address, names, begin, end)
    effects, racers = folder / "effects", _Racers(race, stage, folder)
    try:
        await _watch(effects, racers, race, len(expected), say)
    finally:
        racers.end()
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name, at, execution in _lines(effects):
        found[name, at].add(execution)
    problems = [f"lost: {name} at {at}" for name, at in sorted(expected - found.keys())]
    problems += [f"no occurrence: {name} at {at}" for name, at in sorted(found.keys() - expected)]
    problems += [f"twice: {one} in {sorted(ids)}" for one, ids in sorted(found.items()) if len(ids) > 1]
    problems += await _faults(stage.address)
    lost_claims = folder / "lost_claims"
    return Result(
        occurrences=len(expected),
        executions=len({id_ for ids in found.values() for id_ in ids}),
        lost_claims=len(lost_claims.read_text().splitlines()) if lost_claims.exists() else 0,
        mishaps=dict(racers.mishaps),
        problems=problems,
    )


async def _watch(effects: Path, racers: _Racers, race: Race, expected: int, say: Callable[[str], None]) -> None:
    """Disturb the racers until everything has started, or nothing comes any more."""
    loop = asyncio.get_running_loop()
    seen, last, told = 0, loop.time(), 0
    while loop.time() - last < _SILENCE:
        await asyncio.sleep(0.05)
        number = len({(name, at) for name, at, _ in _lines(effects)})
        if number > seen:
            if number // race.disturb_every > seen // race.disturb_every and number < expected:
                racers.disturb(loop.time())
            seen, last = number, loop.time()
        racers.let_go(loop.time())
        if seen // 1_000 > told:
            told = seen // 1_000
            say(f"{seen} of {expected} started; {dict(racers.mishaps)}")
        if seen >= expected:
            return


def _instants(begin: datetime, seconds: int) -> Iterator[str]:
    """Return the whole seconds after the beginning, as texts: counted here, and not by the calendar that is tested."""
    first = begin.replace(microsecond=0) + timedelta(seconds=1)
    for n in range(seconds):
        yield (first + timedelta(seconds=n)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    if path.exists():
        for line in path.read_text().splitlines():
            name, at, execution = line.split()
            yield name, at, execution


async def _register(address: str, names: list[str], begin: datetime, end: datetime) -> None:
    bounds = {"from": begin.isoformat(), "until": end.isoformat()}
    often = {"type": "schedule", "every": "1s", "overlap": "allow", "catch_up": {"which": "all", "within": "1d"}}
    given = {"trigger": "${trigger.name}", "at": "${trigger.at}", "execution": "${execution.id}"}
    definition: dict[str, object] = {
        "name": "raced",
        "triggers": [{"name": name, **often, **bounds} for name in names],
        "nodes": [{"id": "a", "type": "record", "input": given}],
    }
    async with Engine(address) as engine:  # it is gone before the first occurrence
        await engine.register(definition, allow_unknown=True)


async def _faults(address: str) -> list[str]:
    store = open_store(address)
    await store.open("judge")
    try:
        return [str(one) for one in await violations(store)]
    finally:
        await store.close()
