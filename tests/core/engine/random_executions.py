"""Random executions: workflows with every feature, and random commands made from their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec
from hypothesis import strategies as st

from layover.core.engine import commands as cmd
from layover.core.engine.commands import AnyCommand
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from layover.testing import Rehearsal

from .examples import example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan

# Commands that make progress are drawn more often than those that stop it.
OFTEN: dict[type[msgspec.Struct], int] = {
    cmd.Complete: 12,
    cmd.Fail: 6,
    cmd.Answer: 6,
    cmd.Report: 4,
    cmd.Delivered: 4,
    cmd.Deliver: 4,
    cmd.Resume: 4,
}
KINDS: tuple[type[msgspec.Struct], ...] = tuple(
    kind for kind in get_args(AnyCommand) if kind not in (cmd.Create, cmd.Cancel) for _ in range(OFTEN.get(kind, 1))
)

_LATE, _HELD, _PAUSED = 5, 7, 3

Choices = list[int]
journeys = st.tuples(st.integers(0, 99), st.lists(st.integers(0, 10_000), max_size=60))


def wander(journey: tuple[int, Choices], plans: Sequence[Plan] | None = None) -> Rehearsal:
    """Return an execution of one of the workflows after as many commands as there are choices."""
    number, choices = journey
    known = PLANS if plans is None else plans
    flow = Rehearsal(known[number % len(known)])
    start_at = flow.now + 5_000 if number % 11 == _LATE else None
    paused = "The workflow is paused." if number % 17 == _PAUSED else ""
    flow.send(cmd.Create(id="execution", input=[3, 1, 2], start_at=start_at, hold=number % 13 == _HELD, paused=paused))
    for choice in choices:
        step(flow, choice)
    return flow


def step(flow: Rehearsal, choice: int) -> None:
    """Send one command, or let time pass: to the next timer, or a little."""
    pick = _Pick(choice)
    if pick.chance(5):
        due = wake_at(flow.state)
        flow.now = due if due is not None else flow.now + 1_000
        flow.send(cmd.Wake())
    elif pick.chance(40):
        flow.send(cmd.Cancel(reason="enough", by="op"))
    else:
        flow.now += pick.below(3)
        flow.send(_command(flow.state, pick.of(KINDS), pick))


class _Pick:
    """Small choices out of one number."""

    def __init__(self, choice: int) -> None:
        self._left = choice * 7_919 + 13

    def below(self, bound: int) -> int:
        self._left = (self._left * 1_103_515_245 + 12_345) % 2**31
        return (self._left >> 8) % bound

    def chance(self, one_in: int) -> bool:
        return self.below(one_in) == 0

    def of(self, things: Sequence[object]) -> object:
        return things[self.below(len(things))]


def _command(state: ExecutionState, kind: object, pick: _Pick) -> AnyCommand:
    """Return a command whose fields are examples of their types, or values of the execution by their names."""
    assert isinstance(kind, type)
    node = str(pick.of(_places(state, kind)))
    known: dict[str, object] = {
        "node": node,
        "attempt": state.node(node).attempt - pick.chance(20),
        "point": str(pick.of(sorted(state.points.rows) or ["nowhere"])),
        "approved": not pick.chance(3),
        "data": {"size": pick.below(9)},
        "by": str(pick.of(("ann", "bob"))),
        "jitter": 0.5,
        "to": node if kind is cmd.Rewind else "cho",
        "key": str(pick.of(("first", "second"))),
        "length_ms": 5_000,
        "happened": pick.of((True, False, None)),
        "order": pick.below(state.facts.pauses + 1),
    }
    asked = state.points.get(str(known["point"]))
    if asked is not None and asked.doubt:
        known["data"] = {"happened": pick.chance(2), "otherwise": pick.of(("repeat", "undo", "fail"))}
    if kind is cmd.Report and pick.chance(2):
        known["error"] = None
    if kind is cmd.Delivered and pick.chance(2):
        known["error"] = ""
    sketch = msgspec.structs.asdict(example(kind))
    made: AnyCommand = kind(**{name: known.get(name, value) for name, value in sketch.items()})
    return made


def _places(state: ExecutionState, kind: type) -> list[str]:
    """Return nodes to which a command of this kind may apply."""
    reports = kind in (cmd.Complete, cmd.Fail, cmd.Probed, cmd.Undone, cmd.Checkpoint, cmd.Record)
    running = [name for name, node in state.nodes.rows.items() if node.status == "running"] if reports else []
    return sorted(running or state.nodes.rows) or ["nowhere"]


def _plan(nodes: str, settings: str = "{}") -> Plan:
    return load(f"name: w\nvariables: {{count: 0}}\nsettings: {settings}\nnodes:\n{nodes}", syntax="yaml")


PLANS = (
    _plan(
        """
  - {id: first, type: work, retry: {max_attempts: 3, delay: 1s}, next: [rounds, ask]}
  - id: rounds
    type: loop
    for_each: input
    collect: ${nodes.inner}
    body:
      - {id: inner, type: work, timeout: 5s, retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}, next: rest}
      - {id: rest, type: delay, duration: "${string(item)}s"}
    next: {done: both, error: sorry}
  - {id: ask, type: approval, deadline: 1h, on_deadline: reject, next: {approved: both, rejected: sorry}}
  - {id: both, type: set, values: {count: "${vars.count + 1}"}, next: done}
  - {id: sorry, type: compute, output: sorry, next: done}
  - {id: done, type: merge, strategy: all}
"""
    ),
    _plan(
        """
  - {id: start, type: set, values: {count: 2}, next: checks}
  - id: checks
    type: parallel
    on_failure: wait
    branches:
      - id: people
        body:
          - {id: form, type: form, deadline: 2h, on_deadline: fail, next: check}
          - {id: check, type: work, on_error: continue}
      - id: machines
        body:
          - {id: call, type: work, retry: {max_attempts: 1, on_exhausted: pause}, next: nap}
          - {id: nap, type: delay, duration: 10s}
    next: {done: fine, error: broken}
  - {id: fine, type: end, output: "${nodes.checks}"}
  - {id: broken, type: end, outcome: blocked, reason: "${errors.checks.message}"}
""",
        "{resume: concurrent, max_recoveries: 1, max_pause: 1d}",
    ),
    _plan(
        """
  - id: all
    type: parallel
    for_each: input
    concurrency: 2
    on_failure: fail_fast
    body:
      - {id: one, type: work, next: {done: ask, error: skip}}
      - {id: ask, type: approval, next: {approved: more}}
      - {id: skip, type: compute, output: skipped}
      - id: more
        type: loop
        times: 2
        body: [{id: deep, type: work}]
    next: {done: last}
  - {id: last, type: work, input: "${nodes.all}", retry: forever}
""",
        "{max_recoveries: 0}",
    ),
    _plan(
        """
  - {id: begin, type: compute, output: 1, next: [one, two, three]}
  - {id: one, type: callback, call: work, deadline: 1h, on_deadline: expired, retry: {max_attempts: 2, delay: 1s},
     next: {done: last, expired: late}}
  - {id: two, type: workflow, workflow: other, retry: {max_attempts: 1, on_exhausted: pause}, next: {done: last}}
  - {id: three, type: wait_signal, signals: [{alias: a, signal: some name}, {alias: b, signal: some name}],
     deadline: 1h, on_deadline: partial, next: {done: last}}
  - {id: late, type: form, remind: [10m], escalate: {after: 20m, to: {users: [ann]}}, approvers: {users: [bob]},
     on_error: continue}
  - {id: last, type: work, join: any, next: ask}
  - {id: ask, type: approval, approvers: {users: [ann, bob, cho]}, need: 2, next: {approved: thanks}}
  - {id: thanks, type: work}
""",
        "{on_resume_failure: reopen}",
    ),
    _plan(
        """
  - id: split
    type: parallel
    branches:
      - id: left
        body:
          - {id: call, type: work, retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}, next: [again, deep]}
          - {id: again, type: form}
          - {id: deep, type: loop, times: 2, body: [{id: inner, type: work, retry: {max_attempts: 2, delay: 1s}}]}
      - id: right
        body:
          - {id: other, type: work, next: {done: check}}
          - {id: check, type: compute, output: "${nodes.other.n}", next: {done: nap}}
          - {id: nap, type: delay, duration: 1m}
    next: {done: fine, error: sorry}
  - {id: fine, type: compute, output: "${nodes.split}"}
  - {id: sorry, type: form, next: fine}
"""
    ),
    _plan(
        """
  - {id: first, type: form, deadline: 1m, on_deadline: continue, next: all}
  - id: all
    type: parallel
    for_each: input
    body:
      - {id: check, type: compute, output: "${1 / (item - 3)}", next: {done: one}}
      - {id: one, type: work}
    next: {error: again}
  - id: again
    type: parallel
    for_each: input
    on_failure: continue
    body: [{id: two, type: work, input: "${1 / (item - 2)}", next: three}, {id: three, type: delay, duration: 1s}]
"""
    ),
    _plan(
        """
  - {id: begin, type: compute, output: 1, next: [asked, probed, called, undone]}
  - {id: undone, type: work, on_crash: undo, timeout: 5s, retry: {max_attempts: 2, delay: 1s}, next: last}
  - {id: asked, type: work, on_crash: pause, next: last}
  - {id: probed, type: work, on_crash: probe, timeout: 5s, retry: {max_attempts: 2, delay: 1s}, next: last}
  - {id: called, type: callback, call: work, heartbeat: 10s, timeout: 5s, on_error: continue,
     retry: {max_attempts: 3, delay: 1s, on_exhausted: pause}, next: last}
  - {id: last, type: callback, input: {to: "${callback.token}"}, heartbeat: 1m}
""",
        "{resume: concurrent, max_pause: 1d}",
    ),
    _plan(
        """
  - {id: begin, type: work, next: [told, mail]}
  - {id: told, type: send, via: chat, text: "${input}", wait: false, next: last}
  - {id: mail, type: send, via: mail, to: ann@example.org, text: Hello, timeout: 1h, next: {done: last, error: ask},
     retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}}
  - {id: ask, type: approval, next: {approved: last}}
  - {id: last, type: parallel, for_each: input, body: [{id: each, type: send, via: {webhook: "https://h"}, data: 1}]}
""",
        "{on_resume_failure: reopen}",
    ),
    _plan("  - {id: a, type: compute, output: 1, next: b}\n  - {id: b, type: compute, output: 2}\n"),
    _plan("  - {id: a, type: compute, output: '${input.missing}', next: b}\n  - {id: b, type: compute, output: 2}\n"),
)
