"""What is known about a run besides what the engine says: calls, faults, and what callers were told.

Times are those of the machine's clock that never jumps, in nanoseconds, and so the same in every process.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000_000


class Entry(NamedTuple):
    """One line that a function wrote."""

    what: str  # enter, leave
    at: int
    process: str
    execution: str
    node: str
    attempt: int
    token: str = ""
    given: object = None


class Fault(NamedTuple):
    """Something that was done; if it `excuses`, calls that were out then may be made again."""

    kind: str
    process: str  # empty: all of them
    begun: int
    ended: int
    excuses: bool


class Hold(NamedTuple):
    """A stretch in which an execution was paused: from the reply to the pause until somebody asked to resume."""

    execution: str
    begun: int
    ended: int


@dataclass
class Record:
    """All of it; written by several threads."""

    starts: dict[str, str] = field(default_factory=dict)  # executions that were acknowledged, and their workflows
    outputs: dict[str, object] = field(default_factory=dict)  # of executions that were told to have completed
    approved: set[str] = field(default_factory=set)  # executions whose approval was acknowledged
    retried: set[str] = field(default_factory=set)
    holds: list[Hold] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def started(self, execution: str, workflow: str) -> None:
        with self.lock:
            self.starts[execution] = workflow

    def told(self, execution: dict[str, object]) -> None:
        """Take note of what somebody was told about an execution."""
        if execution.get("status") != "completed":
            return
        id_, output = str(execution["id"]), execution.get("output")
        with self.lock:
            known = self.outputs.setdefault(id_, output)
        if known != output:
            self.problem(f"{id_} was told to have completed with {known}, and then with {output}")

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)

    def fault(self, kind: str, process: str, begun: int, *, excuses: bool) -> None:
        with self.lock:
            self.faults.append(Fault(kind, process, begun, now(), excuses))


def now() -> int:
    return time.monotonic_ns()


def entries(file: Path) -> list[Entry]:
    """Return what the functions wrote; a line that was cut off by a kill is left out."""
    found: list[Entry] = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            found.append(Entry(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return sorted(found, key=lambda one: one.at)
