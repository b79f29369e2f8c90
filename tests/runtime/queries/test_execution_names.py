"""What expressions read of the execution they are in: its version and its labels, in children too."""

from __future__ import annotations

import re
from pathlib import Path

from layover.core.engine import events as ev
from layover.core.engine.evolve import fold
from layover.core.engine.scope_lookup import ScopeLookup
from layover.core.engine.state import ExecutionState
from layover.core.plan import load
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import child, end, engine_at, flow

DOCS = Path(__file__).parents[3] / "docs" / "definitions.md"
NAMES = ("version", "tags", "priority", "correlation_id")
TELLS = end({name: f"${{execution.{name}}}" for name in NAMES})


async def test_an_execution_knows_its_version_and_how_it_was_labelled(tmp_path: Path) -> None:
    options = Options(tags=("eu", "gold"), priority=3, correlation_id="order-7")
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(flow(TELLS))
        labelled = await engine.executions.start("flow", wait="end", options=options)
        plain = await engine.executions.start("flow", wait="end")
    assert labelled.output == {"version": 2, "tags": ["eu", "gold"], "priority": 3, "correlation_id": "order-7"}
    assert plain.output == {"version": 2, "tags": [], "priority": 0, "correlation_id": None}


async def test_a_child_knows_its_own(tmp_path: Path) -> None:
    async with engine_at(tmp_path, outbox_poll=10) as engine:
        await engine.workflows.register(flow(TELLS, name="small"))
        await engine.workflows.register(flow(child("sub", "small"), end("${nodes.sub}")))
        done = await engine.executions.start("flow", wait="end", options=Options(priority=3, tags=("eu",)))
    assert done.output == {"version": 1, "tags": [], "priority": 3, "correlation_id": None}


def test_an_execution_of_an_earlier_release_reads_null() -> None:
    plan = load(flow(TELLS))
    created = ev.ExecutionCreated(id="x", workflow="flow", hash=plan.hash)
    state = fold(ExecutionState(plan), [(1, created), (1, ev.ExecutionStarted())])
    execution = ScopeLookup(state, "")["execution"]
    assert isinstance(execution, dict)
    assert {name: execution[name] for name in NAMES} == dict.fromkeys(NAMES)


def test_every_name_that_is_documented_is_there() -> None:
    [row] = [line for line in DOCS.read_text().splitlines() if line.startswith("| `execution` |")]
    documented = re.findall("`([a-z_]+)`", row.split("|")[2].partition(";")[0])
    state = fold(ExecutionState(load(flow(TELLS))), [(1, ev.ExecutionCreated(id="x", workflow="flow", hash=""))])
    execution = ScopeLookup(state, "")["execution"]
    assert isinstance(execution, dict)
    assert sorted(execution) == sorted(documented)
