"""What callers do, over HTTP, each on a thread of its own: start something, see it through, note what they are told."""

from __future__ import annotations

import threading
import time
from random import Random
from typing import TYPE_CHECKING

from .record import Hold, now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .record import Record
    from .servers import ServerProcesses

CLOSED = ("completed", "failed", "cancelled")
_SEEN_THROUGH = 120.0  # seconds; what takes longer is looked at again at the end


class Person(threading.Thread):
    """Somebody who does one thing after another, chosen by chance."""

    def __init__(
        self, processes: ServerProcesses, record: Record, folder: Path, seed: str, ended: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self._processes = processes
        self._record = record
        self._flags = folder / "flags"
        self._chance = Random(seed)  # noqa: S311 - chance, not secrets
        self._ended = ended
        self._seed = seed
        self._acts = 0
        self._kinds: list[Callable[[], None]] = [
            *[self._pay] * 5, *[self._ask] * 4, *[self._later] * 3, *[self._fan] * 2, *[self._hurry] * 2,
            *[self._halves] * 2, *[self._pause] * 4, self._twice,
        ]  # fmt: skip

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                self._chance.choice(self._kinds)()
        except Exception as error:  # noqa: BLE001 - a person who stops unnoticed tries nothing
            self._record.problem(f"a person could not go on: {error!r}")

    # What is done

    def _pay(self) -> None:
        wait = self._chance.choice(("5s", "1ms"))
        self._see_through(self._start({"workflow": "pay", "input": {"ms": self._ms()}, "wait": wait}))

    def _ask(self) -> None:
        id_ = self._start({"workflow": "ask", "input": {"ms": self._ms()}})
        if id_ is None or self._until(id_, "paused") != "paused":
            return
        found = self._processes.until_answered(self._chance, "GET", f"/api/v1/approvals?execution_id={id_}")
        items = found[1].get("items") if found is not None and found[0] == 200 else None
        if not isinstance(items, list) or not items:
            return
        path, key = f"/api/v1/approvals/{items[0]['id']}/approve", self._key()
        taken = self._processes.until_answered(self._chance, "POST", path, {"comment": key}, key=key)
        if taken is not None and taken[0] in (200, 201):
            with self._record.lock:
                self._record.approved.add(id_)
        elif taken is not None:
            self._record.problem(f"{id_}: approving was answered with {taken}")
        self._see_through(id_)

    def _later(self) -> None:
        rest = f"{self._chance.choice((50, 700, 2_500))}ms"
        self._see_through(self._start({"workflow": "later", "input": {"ms": self._ms(), "rest": rest}}))

    def _fan(self) -> None:
        items = list(range(self._chance.choice((8, 30))))
        self._see_through(self._start({"workflow": "fan", "input": {"ms": 20, "items": items}}))

    def _hurry(self) -> None:
        # Longer than the timeout for three threads, if waiting for one counted.
        self._see_through(self._start({"workflow": "hurry", "input": {"ms": 400, "items": list(range(30))}}))

    def _halves(self) -> None:
        flag = self._key()
        id_ = self._start({"workflow": "halves", "input": {"ms": self._ms(), "flag": flag}})
        if id_ is None or self._until(id_, "failed") != "failed":
            return
        (self._flags / flag).touch()
        with self._record.lock:
            self._record.retried.add(id_)
        self._processes.until_answered(self._chance, "POST", f"/api/v1/executions/{id_}/retry", {}, key=self._key())
        self._see_through(id_, but="failed")

    def _pause(self) -> None:
        items = list(range(12))
        id_ = self._start({"workflow": "fan", "input": {"ms": 50, "items": items}})
        if id_ is None:
            return
        time.sleep(self._chance.uniform(0, 0.4))
        path = f"/api/v1/executions/{id_}"
        reply = self._processes.until_answered(
            self._chance, "POST", f"{path}/pause", {"reason": "chaos"}, key=self._key()
        )
        begun = now()
        is_held = reply is not None and reply[0] == 200 and reply[1].get("status") in ("pausing", "paused")
        time.sleep(self._chance.uniform(0.1, 2))
        ended = now()
        if is_held:
            with self._record.lock:
                self._record.holds.append(Hold(id_, begun, ended))
        while self._resumed(path) and self._until(id_, *CLOSED, longest=5) not in CLOSED:
            pass  # one that was still pausing is paused later
        self._see_through(id_)

    def _resumed(self, path: str) -> bool:
        reply = self._processes.until_answered(self._chance, "POST", f"{path}/resume", {}, key=self._key())
        return reply is not None

    def _twice(self) -> None:
        """Start the same at the same moment on any servers: it is one execution."""
        key, found = self._key(), dict[int, str | None]()
        body = {"workflow": "pay", "input": {"ms": self._ms()}}

        def start(index: int) -> None:
            chance = Random(f"{key} {index}")  # noqa: S311 - chance, not secrets
            reply = self._processes.until_answered(chance, "POST", "/api/v1/executions", body, key=key)
            found[index] = self._acknowledged(reply, "pay")

        both = [threading.Thread(target=start, args=(index,)) for index in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        if None not in found.values() and found[0] != found[1]:
            self._record.problem(f"the key {key} started two executions: {found}")
        self._see_through(found[0])

    # How it is done

    def _start(self, body: dict[str, object]) -> str | None:
        reply = self._processes.until_answered(self._chance, "POST", "/api/v1/executions", body, key=self._key())
        return self._acknowledged(reply, str(body["workflow"]))

    def _acknowledged(self, reply: tuple[int, dict[str, object]] | None, workflow: str) -> str | None:
        if reply is None:
            return None
        if reply[0] not in (200, 202):
            self._record.problem(f"starting {workflow} was answered with {reply}")
            return None
        id_ = str(reply[1]["id"])
        self._record.started(id_, workflow)
        self._record.told(reply[1])
        return id_

    def _see_through(self, id_: str | None, but: str = "") -> None:
        if id_ is not None:
            self._until(id_, *(status for status in CLOSED if status != but))

    def _until(self, id_: str, *wanted: str, longest: float = _SEEN_THROUGH) -> str:
        """Look until an execution has one of some statuses or is closed; return the last that it was told to have."""
        end, status = time.monotonic() + longest, ""
        while time.monotonic() < end:
            reply = self._processes.ask(self._chance, "GET", f"/api/v1/executions/{id_}")
            if reply is not None and reply[0] == 404:
                self._record.problem(f"{id_} was acknowledged and is not found")
                return ""
            if reply is not None and reply[0] == 200:
                self._record.told(reply[1])
                status = str(reply[1]["status"])
                if status in wanted or status in ("completed", "cancelled"):
                    return status
            if self._ended.wait(self._chance.uniform(0.05, 0.3)):
                return status
        return status

    def _ms(self) -> int:
        return self._chance.choice((1, 1, 20, 300, 1_200))

    def _key(self) -> str:
        self._acts += 1
        return f"{self._seed}-{self._acts}".replace(" ", "-")
