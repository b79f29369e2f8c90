"""An instance that races for occurrences: `python -m tests.torture.trigger_racer OPTIONS`, in JSON.

Its calendar is wrong by some milliseconds. Each execution leaves a line in a file, which says for which occurrence of
which schedule it was started; each claim that came too late leaves one in another file.
"""

# ruff: noqa: E402 - whoever asks for the time has to find the wrong one

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from layover.ports.trigger_records import TriggerMove
    from layover.runtime.runtime import Runtime


class Options(msgspec.Struct):
    address: str
    effects: str
    lost_claims: str
    skew: int  # milliseconds


OPTIONS = msgspec.json.decode(sys.argv[1], type=Options)
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + OPTIONS.skew / 1000
time.time_ns = lambda: _time_ns() + OPTIONS.skew * 1_000_000

import asyncio

from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings

SETTINGS = RuntimeSettings(poll=100, command_poll=50, wait_poll=1_000, grace=100, lease_ttl=3_000)


def _line(path: str, text: str) -> None:
    """Write a line that no other process writes into."""
    file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    try:
        os.write(file, f"{text}\n".encode())
    finally:
        os.close(file)


async def record(trigger: str, at: str, execution: str) -> None:
    _line(OPTIONS.effects, f"{trigger} {at} {execution}")


def _note_lost_claims(engine: Runtime) -> None:
    triggers = engine.instance.store.triggers
    move = triggers.move

    async def noted(given: TriggerMove) -> bool:
        is_first = await move(given)
        if not is_first:
            _line(OPTIONS.lost_claims, given.trigger_id)
        return is_first

    triggers.move = noted  # type: ignore[method-assign, assignment]  # a count, not another behaviour


async def main() -> None:
    async with open_runtime(OPTIONS.address, nodes=[record], settings=SETTINGS) as engine:
        _note_lost_claims(engine)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
