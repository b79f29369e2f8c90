"""Plans of acts that reopen an execution in which a call was lost too often: its scope ends at once."""

from __future__ import annotations

from layover.core.engine.commands import Create, Retry, Rewind, Wake
from layover.core.engine.repeats import Repeats, repeats_of

from .flows import rehearse

_NODES = """
  - id: rounds
    type: loop
    times: 1
    body:
      nodes:
        - {id: first, type: compute, output: 1, next: [charge, ask]}
        - {id: charge, type: f}
        - {id: ask, type: form}
    on_error: continue
    next: last
  - {id: last, type: form}
"""


def test_results_of_a_scope_that_ends_are_neither_dropped_nor_repeated() -> None:
    flow = rehearse(_NODES, settings="{max_recoveries: 0, timeout: 1h}")
    flow.send(Create(id="execution"))  # `charge` is out
    flow.now += 3_600_000
    flow.send(Wake())
    assert flow.status == "failed"
    for act in (Retry(), Rewind(to="ask:rounds.0")):
        assert repeats_of(flow.state, act, flow.now) == Repeats()
    flow.send(Rewind(to="ask:rounds.0"))
    assert [one.node for one in flow.state.points.rows.values()] == ["last"]


def test_a_call_that_may_be_made_again_is_repeated_beside_the_rewound_node() -> None:
    flow = rehearse(_NODES, settings="{max_recoveries: 1, timeout: 1h}")
    flow.send(Create(id="execution"))
    flow.now += 3_600_000
    flow.send(Wake())
    found = repeats_of(flow.state, Rewind(to="first:rounds.0"), flow.now)
    assert found == Repeats(
        repeated=("ask:rounds.0", "charge:rounds.0", "first:rounds.0"),
        dropped=("first:rounds.0",),
        calls=("charge:rounds.0",),
    )
    found = repeats_of(flow.state, Rewind(to="ask:rounds.0"), flow.now)
    assert found == Repeats(repeated=("ask:rounds.0", "charge:rounds.0"), calls=("charge:rounds.0",))
