"""A retry continues from the failure: completed nodes are never called again, in any container, at any depth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_state, encode_state
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState

from .flows import only, rehearse
from .laws import tables

if TYPE_CHECKING:
    from layover.testing import Rehearsal


class Effects:
    """Functions that count their effects, and fail so many times for some inputs before."""

    def __init__(self, **failures: int) -> None:
        self.done: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self._failures = failures

    def __call__(self, given: object) -> object:
        key = str(given)
        self.tried[key] += 1
        if self.tried[key] <= self._failures.get(key, 0):
            raise OSError(f"{key} is down")
        self.done[key] += 1
        return key


def once(flow: Rehearsal, effects: Effects, *keys: str) -> None:
    assert flow.status == "completed", flow.state.facts.error
    assert dict(effects.done) == dict.fromkeys(keys, 1)


CHARGE_AND_SHIP = """
  - id: both
    type: parallel
    on_failure: %s
    branches:
      - {id: pay, body: [{id: charge, type: f, input: charge}]}
      - {id: send, body: [{id: pack, type: f, input: pack, next: ship}, {id: ship, type: f, input: ship}]}
"""


@pytest.mark.parametrize("on_failure", ["wait", "fail_fast"])
@pytest.mark.parametrize("failing", ["charge", "pack", "ship"])
def test_a_branch_that_is_done_is_not_run_again(on_failure: str, failing: str) -> None:
    effects = Effects(**{failing: 2})
    flow = rehearse(CHARGE_AND_SHIP % on_failure, {"f": effects}).start()
    for _ in range(2):
        assert flow.status == "failed"
        flow.send(cmd.Retry(by="op"))
        flow.run()
    once(flow, effects, "charge", "pack", "ship")
    assert flow.output == {"pay": "charge", "send": "ship"}


def test_a_retry_reopens_the_failed_leaf_and_its_scope_instead_of_the_container() -> None:
    flow = rehearse(CHARGE_AND_SHIP % "wait", {"f": Effects(ship=1)}).start()
    flow.send(cmd.Retry(by="op"))
    [reopened] = [event for _, event in flow.log if isinstance(event, ev.ExecutionReopened)]
    assert (reopened.nodes, reopened.containers) == ((), ("both",))
    assert only(flow, ev.ScopeReopened) == [
        ev.ScopeReopened(node="both", key="send", nodes=("ship:both.send",)),
    ]


EACH = """
  - id: all
    type: parallel
    for_each: input
    on_failure: %s
    concurrency: %d
    body: [{id: a, type: f, input: "a${item}", next: b}, {id: b, type: f, input: "b${item}"}]
"""


@pytest.mark.parametrize("on_failure", ["wait", "fail_fast"])
@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_of_many_items_only_those_that_failed_are_run_again(on_failure: str, concurrency: int) -> None:
    effects = Effects(b1=1, b3=2)
    flow = rehearse(EACH % (on_failure, concurrency), {"f": effects}).start([0, 1, 2, 3, 4])
    while flow.status == "failed":
        flow.send(cmd.Retry())
        flow.run()
    once(flow, effects, *(f"{letter}{number}" for letter in "ab" for number in range(5)))
    assert flow.output == [f"b{number}" for number in range(5)]


def test_branches_that_are_taken_up_again_keep_within_the_concurrency() -> None:
    effects = Effects(**{f"a{number}": 1 for number in range(6)})
    flow = rehearse(EACH % ("wait", 2), {"f": effects}).start(list(range(6)))
    assert flow.status == "failed"
    flow.send(cmd.Retry())
    most = 0
    while not flow.state.facts.closed:
        most = max(most, flow.state.node("all").open_scopes)
        running = [name for name, node in flow.state.nodes.rows.items() if node.status == "running"]
        flow.call(min(running))
    assert most == 2
    once(flow, effects, *(f"{letter}{number}" for letter in "ab" for number in range(6)))


NESTED = """
  - id: outer
    type: parallel
    on_failure: %s
    branches:
      - {id: fine, body: [{id: calm, type: f, input: calm}]}
      - id: deep
        body:
          - {id: first, type: f, input: first, next: rounds}
          - id: rounds
            type: loop
            times: 3
            body:
              - {id: before, type: f, input: "before${index}", next: [count, inner]}
              - {id: count, type: set, values: {count: "${vars.count + 1}"}}
              - id: inner
                type: parallel
                on_failure: %s
                branches:
                  - {id: left, body: [{id: l, type: f, input: "l${index}"}]}
                  - {id: right, body: [{id: r, type: f, input: "r${index}"}]}
            collect: {inner: "${nodes.inner}", count: "${vars.count}"}
"""
NESTED_EFFECTS = ("calm", "first", *(f"{name}{number}" for number in range(3) for name in ("before", "l", "r")))


@pytest.mark.parametrize("outer", ["wait", "fail_fast"])
@pytest.mark.parametrize("inner", ["wait", "fail_fast"])
def test_a_failure_deep_inside_containers_repeats_nothing_around_it(outer: str, inner: str) -> None:
    effects = Effects(l1=1, r1=2, before2=1, r2=1)
    flow = rehearse(NESTED % (outer, inner), {"f": effects}).start()
    while flow.status == "failed":
        flow.send(cmd.Retry())
        flow.run()
    once(flow, effects, *NESTED_EFFECTS)
    assert flow.output == {
        "fine": "calm",
        "deep": [{"inner": {"left": f"l{n}", "right": f"r{n}"}, "count": n + 1} for n in range(3)],
    }


def test_halted_scopes_survive_a_crash_and_a_snapshot() -> None:
    effects = Effects(r1=1)
    flow = rehearse(NESTED % ("wait", "wait"), {"f": effects}).start()
    assert flow.status == "failed"
    assert tables(fold(ExecutionState(flow.plan), flow.log)) == tables(flow.state)
    flow.state = decode_state(encode_state(flow.state), flow.plan)
    flow.send(cmd.Retry())
    once(flow.run(), effects, *NESTED_EFFECTS)


def test_a_form_that_was_answered_is_not_asked_again() -> None:
    effects = Effects(after=1)
    flow = rehearse(
        """
  - id: p
    type: parallel
    on_failure: wait
    branches:
      - {id: a, body: [{id: ask, type: form, next: work}, {id: work, type: f, input: "${nodes.ask}"}]}
      - {id: b, body: [{id: other, type: form}]}
""",
        {"f": effects},
    ).start()
    flow.answer("ask:p.a", "after").answer("other:p.b", 2)
    assert flow.status == "failed"
    flow.send(cmd.Retry())
    assert flow.waiting == []
    once(flow.run(), effects, "after")
    assert flow.output == {"a": "after", "b": 2}


def test_a_question_in_a_cancelled_branch_is_asked_again() -> None:
    flow = rehearse(
        """
  - id: p
    type: parallel
    on_failure: fail_fast
    next: {done: z}
    branches:
      - {id: a, body: [{id: l, type: loop, times: 2, body: [{id: work, type: f, input: a}]}]}
      - {id: b, body: [{id: g, type: f, input: g, next: ask}, {id: ask, type: form}]}
  - {id: z, type: compute, output: "${nodes.p}"}
""",
        {"f": (effects := Effects(a=1))},
    )
    flow.send(cmd.Create(id="execution"))
    flow.call("g:p.b")
    flow.call("work:p.a:l.0")
    assert flow.status == "failed"
    flow.send(cmd.Retry())
    assert flow.run().waiting == ["ask:p.b"]
    assert flow.answer("ask:p.b", 1).output == {"a": ["a", "a"], "b": 1}
    assert effects.done == {"a": 2, "g": 1}


def test_a_call_that_was_cancelled_with_its_branch_is_in_doubt_if_that_matters() -> None:
    nodes = """
  - id: around
    type: parallel
    on_failure: wait
    branches:
      - id: x
        body:
          - id: p
            type: parallel
            branches:
              - {id: a, body: [{id: pay, type: pay, on_crash: %s}]}
              - {id: b, body: [{id: bad, type: bad}]}
"""
    asked = rehearse(nodes % "pause")
    again = rehearse(nodes % "rerun")
    for flow in (asked, again):
        flow.behaviours["bad"] = Effects(**{"None": 1})
        flow.send(cmd.Create(id="execution"))
        flow.call("bad:around.x:p.b")
        assert flow.status == "failed"
        flow.send(cmd.Retry())
    assert asked.run().waiting == ["pay:around.x:p.a"]
    assert again.run().status == "completed"


def test_a_loop_whose_rounds_cannot_be_collected_repeats_none_of_them() -> None:
    effects = Effects()
    flow = rehearse(
        "  - {id: l, type: loop, times: 3, collect: '${1 / (index - 1)}', "
        "body: [{id: a, type: f, input: '${index}'}]}\n",
        {"f": effects},
    ).start()
    assert (flow.status, flow.error) == ("failed", "division_by_zero")
    flow.send(cmd.Retry())
    assert (flow.status, flow.error) == ("failed", "division_by_zero")
    assert effects.done == {"0": 1, "1": 1}


def test_a_condition_that_fails_between_rounds_is_asked_again_and_no_round_repeated() -> None:
    effects = Effects()
    flow = rehearse(
        "  - {id: l, type: loop, while: '10 / (2 - index) > 0', max_iterations: 9, "
        "body: [{id: a, type: f, input: '${index}'}]}\n",
        {"f": effects},
    ).start()
    for _ in range(2):
        assert flow.error == "division_by_zero"
        flow.send(cmd.Retry())
    assert effects.done == {"0": 1, "1": 1}


def test_branches_that_a_container_left_out_are_not_retried() -> None:
    effects = Effects(a=9, last=1)
    flow = rehearse(
        """
  - id: p
    type: parallel
    on_failure: continue
    next: last
    branches:
      - {id: x, body: [{id: a, type: f, input: a}]}
      - {id: y, body: [{id: b, type: f, input: b}]}
  - {id: last, type: f, input: last}
""",
        {"f": effects},
    ).start()
    assert flow.state.halted.rows == {}
    flow.send(cmd.Retry())
    once(flow.run(), effects, "b", "last")
    assert effects.tried["a"] == 1


def test_an_error_port_settles_a_container_and_leaves_nothing_of_it() -> None:
    effects = Effects(a=9, sorry=1)
    flow = rehearse(
        """
  - id: p
    type: parallel
    on_failure: wait
    next: {error: sorry}
    branches:
      - {id: x, body: [{id: a, type: f, input: a}]}
      - {id: y, body: [{id: b, type: f, input: b}]}
  - {id: sorry, type: f, input: sorry}
""",
        {"f": effects},
    ).start()
    assert flow.status == "failed"
    assert flow.state.halted.rows == {}
    assert flow.state.collected.rows == {}
    flow.send(cmd.Retry())
    once(flow.run(), effects, "b", "sorry")


BESIDE = """
  - {id: s, type: compute, output: 0, next: [p, t]}
  - id: p
    type: parallel
    on_failure: %s
    branches:
      - {id: x, body: [{id: a, type: f, input: a}]}
      - {id: y, body: [{id: b, type: form}]}
  - {id: t, type: bad}
"""


@pytest.mark.parametrize(("on_failure", "tried"), [("wait", 2), ("continue", 1)])
def test_a_branch_that_failed_earlier_is_retried_unless_its_failure_was_allowed(on_failure: str, tried: int) -> None:
    effects = Effects(a=1)
    flow = rehearse(BESIDE % on_failure, {"f": effects, "bad": Effects(**{"None": 1})}).start()
    assert flow.status == "failed"
    flow.send(cmd.Retry())
    assert flow.run().waiting == ["b:p.y"]
    assert flow.answer("b:p.y", 1).status == "completed"
    assert effects.tried["a"] == tried


# Rewinds into halted scopes


def test_a_rewind_can_target_a_failed_node_in_a_branch() -> None:
    effects = Effects(ship=1)
    flow = rehearse(CHARGE_AND_SHIP % "wait", {"f": effects}).start()
    assert flow.send(cmd.Rewind(to="ship:both.send"))
    once(flow.run(), effects, "charge", "pack", "ship")


def test_a_rewind_to_a_completed_node_in_a_failed_branch_repeats_it_and_later_nodes() -> None:
    effects = Effects(ship=1)
    flow = rehearse(CHARGE_AND_SHIP % "wait", {"f": effects}).start()
    flow.send(cmd.Rewind(to="pack:both.send"))
    assert flow.run().status == "completed"
    assert effects.done == {"charge": 1, "pack": 2, "ship": 1}


def test_a_rewind_can_target_a_failed_node_at_any_depth_while_others_run() -> None:
    effects = Effects(r1=1)
    flow = rehearse(NESTED % ("wait", "wait"), {"f": effects})
    flow.send(cmd.Create(id="execution"))
    while flow.state.node("outer").status == "entered" and "outer.deep" not in flow.state.halted:
        running = [name for name, node in flow.state.nodes.rows.items() if node.status == "running"]
        flow.call(max(running, key=len))
    assert flow.status == "running"
    assert flow.send(cmd.Rewind(to="r:outer.deep:rounds.1:inner.right"))
    once(flow.run(), effects, *NESTED_EFFECTS)


def test_a_rewind_to_the_container_drops_its_halted_scopes() -> None:
    effects = Effects(ship=1)
    flow = rehearse(CHARGE_AND_SHIP % "wait", {"f": effects}).start()
    flow.send(cmd.Rewind(to="both"))
    assert flow.state.halted.rows == {}
    assert flow.run().status == "completed"
    assert effects.done == {"charge": 2, "pack": 2, "ship": 1}


# Logs of earlier releases


def test_a_log_in_which_the_container_was_reopened_is_read_as_it_was_written() -> None:
    flow = rehearse(CHARGE_AND_SHIP % "wait", {"f": Effects(ship=1)}).start()
    old = [*flow.log, (flow.now, ev.ExecutionReopened(why="retry", nodes=("both",)))]
    state = fold(ExecutionState(flow.plan), old)
    assert state.node("both").status == "ready"
    assert state.halted.rows == {}
    assert state.collected.rows == {}
    assert set(state.nodes.rows) == {"both"}
