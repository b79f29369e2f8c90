"""One client: what it asks, what it expects of every answer, and what it has been promised so far."""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from collections.abc import Collection
    from random import Random

    from .wire import Heard, Wire

_FIRST_REST, _LONGEST_REST = 0.01, 0.5  # seconds between two looks whether an execution has ended
_PATIENCE = 120  # seconds: only what is lost takes so long
_FAULTS_FROM = 500
_MOST_SHOWN = 600


class Wrong(Exception):  # noqa: N818 - it says what an answer was
    """A client was told something that cannot be, or was not told what it has to be."""


class Ledger(msgspec.Struct):
    """What all clients have done, and what has to be so in the end."""

    done: Counter[str] = msgspec.field(default_factory=Counter)
    requests: int = 0
    ends: dict[str, str] = {}  # the status of each execution that somebody saw end
    problems: list[str] = []


class Client:
    """Somebody with a connection, and a number by which all that they start is known."""

    def __init__(self, number: int, wires: dict[str, Wire], chance: Random, ledger: Ledger) -> None:
        self.number = number
        self.name = f"op-{number}"
        self.chance = chance
        self.ledger = ledger
        self._wires = wires
        self._asked = 0

    def new_key(self) -> str:
        """Return an idempotency key that nobody has used."""
        self._asked += 1
        return f"{self.name}-{self._asked}"

    async def ask(
        self, method: str, path: str, body: object = None, *, as_: str = "operator", key: str | None = None
    ) -> Heard:
        """Send a request; whatever it is, the server has no fault of its own."""
        headers = {"idempotency_key": key} if key is not None else {}
        full = path if path.startswith(("/api/", "/healthz", "/readyz", "/metrics")) else f"/api/v1{path}"
        heard = await self._wires[as_].ask(method, full, body, **headers)
        self.ledger.requests += 1
        if heard.status >= _FAULTS_FROM:
            raise Wrong(f"{method} {full}: {shown(heard)}")
        return heard

    async def get(self, path: str, **asked: Any) -> Any:
        """Return a resource that has to be there."""
        heard = await self.ask("GET", path, **asked)
        if heard.status != 200:
            raise Wrong(f"GET {path}: {shown(heard)}")
        return heard.json

    async def post(self, path: str, body: object, *statuses: int, **asked: Any) -> Heard:
        """Do something that has to be answered in one of some ways; with a key, it may be said again."""
        heard = await self.ask("POST", path, body, **asked)
        if heard.status not in statuses:
            raise Wrong(f"POST {path} {body}: {shown(heard)}, not {statuses}")
        key = asked.get("key")
        if key is not None and self.chance.random() < 0.5:
            again = await self.ask("POST", path, body, **asked)
            same = (again.status, again.body) == (heard.status, heard.body)
            if not same or again.header("idempotency-replayed") != "true":
                raise Wrong(f"POST {path} with the key {key} again: {shown(again)}, at first {shown(heard)}")
            self.ledger.done["repeats"] += 1
        return heard

    async def start(self, workflow: str, given: object, *, wait: bool = True, key: str | None = None) -> Any:
        """Start an execution under our tag."""
        body = {"workflow": workflow, "input": given, "tags": [self.name]}
        heard = await self.post("/executions", {**body, "wait": "60s"} if wait else body, 200, 202, key=key)
        found = heard.json
        must(found["workflow"] == workflow and found["input"] == given, "another execution was started", found)
        must((heard.status == 200) == (wait and found["status"] in CLOSED), "a status that does not fit", found)
        return found

    async def waiting(self, workflow: str, given: object, count: int = 1) -> tuple[str, list[Any]]:
        """Start an execution; return its id and the points at which it has come to wait."""
        found = await self.start(workflow, given, key=self.new_key() if self.chance.random() < 0.3 else None)
        points = found.get("pause_points", [])
        must(len(points) == count and all(one["status"] == "open" for one in points), "it does not wait", found)
        return found["id"], points

    async def ended(self, execution_id: str, status: str = "completed") -> Any:
        """Return an execution once it has ended, which has to be in the way that we know."""
        found = await self.came_to(execution_id, CLOSED)
        must(found["status"] == status, f"it should be {status}", found)
        self.ledger.ends[execution_id] = status
        return found

    async def came_to(self, execution_id: str, statuses: Collection[str]) -> Any:
        """Return an execution once it has one of some statuses."""
        rest, until = _FIRST_REST, monotonic() + _PATIENCE
        while True:
            found = await self.get(f"/executions/{execution_id}", as_=self.chance.choice(("operator", "viewer")))
            if found["status"] in statuses:
                return found
            must(monotonic() < until, f"it is none of {sorted(statuses)} after {_PATIENCE} s", found)
            await asyncio.sleep(rest)
            rest = min(2 * rest, _LONGEST_REST)


def must(holds: bool, message: str, seen: object) -> None:
    """Raise what was seen unless something holds."""
    if not holds:
        raise Wrong(f"{message}: {msgspec.json.encode(seen).decode()[:_MOST_SHOWN]}")


def shown(heard: Heard) -> str:
    """Return an answer for people."""
    return f"{heard.status} {heard.body.decode(errors='replace')[:_MOST_SHOWN]}"
