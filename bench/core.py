"""What a step costs in the engine itself, and what it costs after 10,000 of them: `python bench/core.py [--small]`.

A step is one call (scheduled, started, completed), or one question and its answer. Each is decided, applied to the
state, kept, and encoded as the one append that a store would write, with the moment of the next wake-up. Nothing is
called and nothing is stored.
"""

from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from layover.core.definitions.limits import DefinitionLimits
from layover.core.engine import commands as cmd
from layover.core.engine.codec import decode_events, decode_state, encode_events, encode_state
from layover.core.engine.decide import play
from layover.core.engine.events import AnyEvent, Error, NodeScheduled, PausePointOpened
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.engine.timing import wake_at
from layover.core.plan import Plan, load
from measure import compare, size_of, table

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY, ROUNDS, MIN_TIME = size_of(sys.argv[1:]).of(
    (100, 10_000, 5, 0.3), quick=(100, 10_000, 3, 0.1), small=(2, 10, 1, 0.0)
)
LIMITS = DefinitionLimits(nodes=20_000, edges=40_000, values=1_000_000, bytes=64 * 1024 * 1024)
INPUT = {"order": "${input.id}", "amount": "${input.total}", "currency": "EUR"}
OUTPUT = {"ok": True, "receipt": "r-1"}
ERROR = Error(code="failed", type="OSError", message="There is no connection.")


def chain(size: int) -> Plan:
    """Return a workflow whose calls follow one another, each with something of the one before."""
    nodes = [
        {"id": f"n{number}", "type": "work", "input": {**INPUT, "after": f"${{nodes.n{number - 1}.receipt}}"}}
        | ({"next": f"n{number + 1}"} if number < size else {})
        for number in range(1, size + 1)
    ]
    return _load([{"id": "n0", "type": "compute", "output": OUTPUT, "next": "n1"}, *nodes])


def fan_out(size: int) -> Plan:
    """Return a workflow whose calls are all out at once, between a first node and a last."""
    names = [f"n{number}" for number in range(size)]
    calls = [{"id": name, "type": "work", "input": INPUT, "next": "last"} for name in names]
    first = {"id": "first", "type": "compute", "output": 1, "next": names}
    return _load([first, *calls, {"id": "last", "type": "compute", "output": 2}])


def loop(_size: int) -> Plan:
    """Return a workflow that makes a call for each item, one after the other."""
    return _load([{"id": "rounds", "type": "loop", "for_each": "input.items", "body": _body()}])


def parallel(_size: int) -> Plan:
    """Return a workflow that makes a call for each item, all at once."""
    return _load([{"id": "scopes", "type": "parallel", "for_each": "input.items", "body": _body()}])


def timeouts(_size: int) -> Plan:
    """Return the same with a timeout for each call, so that as many timers run as there are calls."""
    return _load([{"id": "scopes", "type": "parallel", "for_each": "input.items", "body": _body(timeout="30s")}])


def failures(_size: int) -> Plan:
    """Return the same in which every call fails and the others go on."""
    failing = {"id": "scopes", "type": "parallel", "for_each": "input.items", "on_failure": "continue"}
    return _load([{**failing, "body": _body("failing")}])


def answers(_size: int) -> Plan:
    """Return a workflow that asks somebody about each item, all at once, and is answered one by one."""
    ask = {"id": "ask", "type": "form", "title": "Item ${item}"}
    return _load([{"id": "scopes", "type": "parallel", "for_each": "input.items", "body": [ask]}])


def _body(kind: str = "work", **fields: object) -> list[dict[str, Any]]:
    return [{"id": "one", "type": kind, "input": {**INPUT, "item": "${item}"}, **fields}]


def _load(nodes: list[dict[str, Any]]) -> Plan:
    return load({"name": "bench", "nodes": nodes}, limits=LIMITS)


def run(plan: Plan, size: int, encode: Callable[[list[AnyEvent]], object] = encode_events) -> ExecutionState:
    """Run an execution to its end; what it would append goes to `encode`."""
    state = ExecutionState(plan)
    given = {"id": "o-1", "total": 12.5, "items": list(range(size))}
    replies: deque[cmd.AnyCommand] = deque([cmd.Create(id="execution", input=given)])
    now = 1_000_000
    while replies:
        events = play(state, replies.popleft(), now)
        state.undo_log.keep()
        encode(events)
        wake_at(state)
        for event in events:
            what = WHAT.get(type(event))
            if what is not None and (reply := REPLIES.get(what(event))) is not None:
                replies.append(reply(event))
        now += 1
    assert state.status == "completed"
    return state


WHAT: dict[type, Callable[[Any], str]] = {
    NodeScheduled: lambda event: event.node_type,
    PausePointOpened: lambda event: event.kind,
}
REPLIES: dict[str, Callable[[Any], cmd.AnyCommand]] = {
    "work": lambda event: cmd.Complete(node=event.node, attempt=event.attempt, output=OUTPUT),
    "failing": lambda event: cmd.Fail(node=event.node, attempt=event.attempt, error=ERROR),
    "form": lambda event: cmd.Answer(point=event.point, data=OUTPUT, by="ann"),
}


def log(plan: Plan, size: int) -> list[bytes]:
    """Return what an execution appends."""
    appended: list[bytes] = []
    run(plan, size, lambda events: appended.append(encode_events(events)))
    return appended


def replay(plan: Plan, appends: list[bytes]) -> ExecutionState:
    """Return the state that a stored log implies."""
    return fold(ExecutionState(plan), ((0, event) for append in appends for event in decode_events(append)))


def main() -> None:
    rows: list[tuple[str, ...]] = [
        ("", f"{FEW:,}", f"{MANY:,}", "ratio", "encoding", "replay", "events per step", "bytes per step")
    ]
    for shape in (chain, fan_out, loop, parallel, timeouts, failures, answers):
        few, many = shape(FEW), shape(MANY)
        appends = log(few, FEW)
        events = [decode_events(append) for append in appends]
        count = sum(map(len, events))
        taken = compare(
            {
                "few": partial(run, few, FEW),
                "many": partial(run, many, MANY),
                "encode": partial(_encode_all, events),
                "replay": partial(replay, few, appends),
            },
            rounds=ROUNDS,
            min_time=MIN_TIME,
        )
        small, large = taken["few"] / FEW, taken["many"] / MANY
        rows.append(
            (
                shape.__name__.replace("_", " "),
                _microseconds(small),
                _microseconds(large),
                f"{large / small:.2f}",
                _microseconds(taken["encode"] / FEW),
                _microseconds(taken["replay"] / FEW),
                f"{count / FEW:.1f}",
                f"{sum(map(len, appends)) / FEW:.0f}",
            )
        )
    print(table("A step, with so many of them in the execution", rows), end="\n\n")
    _events_and_snapshots()


def _events_and_snapshots() -> None:
    plan = chain(MANY)
    state = run(plan, 0)
    snapshot = encode_state(state)
    events = [event for append in log(plan, 0) for event in decode_events(append)]
    stored = encode_events(events)
    taken = compare(
        {
            "encode an event": lambda: encode_events(events),
            "decode an event": lambda: decode_events(stored),
            "encode a node of a snapshot": lambda: encode_state(state),
            "decode a node of a snapshot": lambda: decode_state(snapshot, plan),
        },
        rounds=ROUNDS,
        min_time=MIN_TIME,
    )
    sizes = [len(events), len(events), MANY, MANY]
    rows: list[tuple[str, ...]] = [
        (name, _microseconds(taken[name] / size)) for name, size in zip(taken, sizes, strict=True)
    ]
    print(table(f"The codec, on a chain of {MANY:,} nodes", rows), end="\n\n")


def _encode_all(appends: list[list[AnyEvent]]) -> None:
    for events in appends:
        encode_events(events)


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} µs"


if __name__ == "__main__":
    main()
