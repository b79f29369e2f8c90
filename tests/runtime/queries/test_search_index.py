"""The search index: what is found by it is what each execution says of itself, whatever has become of it since."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.core.conditions import holds, parse_condition
from layover.core.input_index import read_document
from layover.errors import InvalidInput, LayoverError
from layover.interface.requests import ForkRequest, NodeSearch
from layover.ports.errors import StoreUnavailable
from layover.ports.view_records import ExecutionFilter
from layover.runtime.machine import Machine
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from layover.runtime.queries import term_choice
from layover.runtime.queries.node_search import find_nodes
from layover.runtime.queries.search_documents import MOST_EVENTS, UNREADABLE, state_document
from layover.runtime.runtime import Runtime
from tests.conftest import FACTOR
from tests.runtime.harness import (
    Between,
    Scripted,
    address_in,
    call,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    settings_with,
)
from tests.runtime.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.search_terms import TermSearch
    from layover.ports.search_records import ExecutionTerms
    from layover.ports.view_records import ExecutionRow

pytestmark = pytest.mark.usefixtures("each_database")

SEED = int(os.environ.get("LAYOVER_SEED", "3"))
STEPS = 72 * FACTOR
NEVER = 10**9  # the index is written when a test says so
VALUES: tuple[Any, ...] = (0, 1, 1.5, True, None, "a", {"x": 1}, {"x": [1, 2]}, [1, {"x": "a"}], {})


class Watched(Between):
    """A store that notes by which terms lists are read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.terms: list[TermSearch | None] = []

    async def queries_list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        self.terms.append(wanted.terms)
        return await self.store.queries.list_executions(wanted)


def uid(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012x}"


async def index(engine: Runtime) -> int:
    return await engine.instance.indexer.index_all()


async def found(engine: Runtime, *conditions: str, **wanted: Any) -> list[str]:
    return [row.head.execution_id for row in await engine.lists.list(conditions=conditions, limit=1_000, **wanted)]


async def fulfilling(engine: Runtime, *conditions: str) -> list[str]:
    """Return what fulfils conditions, each execution asked by itself."""
    store, asked = engine.instance.store, [parse_condition(text) for text in conditions]
    rows = await engine.lists.list(limit=1_000)
    names = []
    for row, loaded in zip(rows, await store.queries.load([row.head.execution_id for row in rows]), strict=True):
        assert loaded is not None
        state = (await engine.instance.driver.state_of(loaded)).state
        document = {**state_document(state), "input": read_document(msgspec.json.encode(state.facts.input))}
        if all(holds(one, document) for one in asked):
            names.append(row.head.execution_id)
    return names


KEEPS: dict[str, object] = {"id": "keep", "type": "set", "values": {"kept": "${input.v}", "n": "${input.n}"}}
FLOWS = [
    flow(KEEPS, end({"v": "${input.v}", "n": "${vars.n + 1}"}), name="ends"),
    flow(KEEPS, form(), end("${nodes.ask}"), name="asks"),
    flow(form(), call("risky", "risky", input={"v": "${nodes.ask.v}"}), end("${nodes.risky}"), name="fails"),
    flow(fan_out(call("inner", "echo", input={"v": "${item}"}), "input.list"), form("after"), name="spreads"),
]


async def echo(v: object) -> object:
    """Return what it got."""
    return {"echo": v}


async def risky(v: object) -> object:
    """Fail for some."""
    if v == 0:
        raise ValueError("zero")
    return {"risked": v}


risky.__name__ = "risky"


class Play:
    """Random acts on executions; after some of them everything is searched for."""

    def __init__(self, engine: Runtime, dice: random.Random) -> None:
        self.engine = engine
        self.dice = dice
        self.ids: list[str] = []
        self.answered = self.purged = self.refused = 0

    def value(self) -> object:
        return self.dice.choice(VALUES)

    async def act(self) -> None:
        acts = [self.start] * 4 + [self.answer] * 5 + [self.cancel, self.retry, self.rewind, self.fork, self.purge]
        acts += [self.index_some] * 2
        try:
            await self.dice.choice(acts)()
        except LayoverError:
            self.refused += 1  # it was not such an execution

    async def start(self) -> None:
        name = self.dice.choice(("ends", "asks", "fails", "spreads"))
        given = {"v": self.value(), "n": self.dice.randrange(4), "list": [self.value() for _ in range(2)]}
        trigger = {"by": self.value()} if self.dice.random() < 0.3 else None
        id_ = uid(len(self.ids))
        self.ids.append(id_)
        await self.engine.executions.start(name, given, id=id_, wait="rest", options=Options(trigger=trigger))

    async def answer(self) -> None:
        rows = await self.engine.points.list(status=["open"])
        if rows:
            row = self.dice.choice(list(rows))
            await self.engine.answers.answer(row.point.id, {"v": self.value()})
            await self.engine.executions.wait(row.execution_id, "rest")
            self.answered += 1

    def one(self) -> str:
        return self.dice.choice(self.ids or [uid(0)])

    async def cancel(self) -> None:
        await self.engine.control.cancel(self.one())

    async def retry(self) -> None:
        id_ = self.one()
        await self.engine.control.retry(id_)
        await self.engine.executions.wait(id_, "rest")

    async def rewind(self) -> None:
        id_ = self.one()
        await self.engine.control.rewind(id_, self.dice.choice(("keep", "ask", "each")))
        await self.engine.executions.wait(id_, "rest")

    async def fork(self) -> None:
        new = uid(len(self.ids))
        request = ForkRequest(start=self.dice.choice(("ask", "risky", "after", "finish")))
        await self.engine.forks.fork(self.one(), request, new, Options(), None)
        self.ids.append(new)
        await self.engine.executions.wait(new, "rest")

    async def purge(self) -> None:
        self.purged += await self.engine.instance.store.retention.purge([self.one()])

    async def index_some(self) -> None:
        await index(self.engine)

    def condition(self) -> str:
        path = self.dice.choice(
            (
                *("input.v", "input.n", "input.v.x", "input.list", "input.list.0", "input.list.1.x"),
                *("vars.kept", "vars.n", "vars.kept.x", "output", "output.v", "output.n", "output.v.x", "trigger.by"),
                *("nodes.ask.v", "nodes.ask", "nodes.risky.risked", "nodes.each", "nodes.nothing.x"),
            )
        )
        operator = self.dice.choice(("=", "=", "=", "=", "!=", ">", ">=", "<", "<=", "~"))
        return f"{path}{operator}{msgspec.json.encode(self.value()).decode()}"


@pytest.mark.parametrize("turn", range(2 * FACTOR))
async def test_what_the_index_finds_is_what_each_execution_says_of_itself(
    tmp_path: Path, turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(f"{SEED} {turn}")  # noqa: S311 - it can be repeated
    monkeypatch.setattr(term_choice, "FEW_IN_RANGE", dice.choice((0, 3, 1_000)))
    monkeypatch.setattr(term_choice, "FEW", dice.choice((0, 5, 5_000)))
    store = Watched(tmp_path)
    matches = 0
    async with engine_on(store, echo, risky, index_after=NEVER) as engine:
        for one in FLOWS:
            await engine.workflows.register(one)
        play = Play(engine, dice)
        for step in range(STEPS):
            await play.act()
            if step % 6 == 5:
                for _ in range(8):
                    asked = [play.condition() for _ in range(dice.choice((1, 1, 1, 2)))]
                    wanted = await fulfilling(engine, *asked)
                    where = f"LAYOVER_SEED={SEED}, turn {turn}, step {step}: {asked}"
                    assert await found(engine, *asked) == wanted, where
                    workflow = dice.choice(("ends", "asks", "fails", "spreads"))
                    of_workflow = set(await found(engine, workflow=workflow))
                    kept = [id_ for id_ in wanted if id_ in of_workflow]
                    assert await found(engine, *asked, workflow=workflow) == kept, where
                    matches += len(wanted)
                await check_node_filters(engine)
        await index(engine)
        assert await engine.instance.store.search_terms.list_unindexed(None, 9) == []
        assert await violations(engine.instance.store) == []
    assert any(terms is not None for terms in store.terms)
    assert matches > 15
    assert play.answered > 3


async def test_a_search_with_the_index_looks_at_nothing_else(tmp_path: Path) -> None:
    store = Watched(tmp_path)
    async with engine_on(store, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[0])
        for n in range(10):
            await engine.executions.start("ends", {"v": f"v{n}", "n": n}, id=uid(n), wait="end")
        assert await index(engine) == 10
        assert await index(engine) == 0
        for condition in ("output.v=v7", "vars.kept=v7", "input.v=v7", "input.n>=9", "vars.n=3", "output.n<1.5"):
            store.terms.clear()
            assert len(await found(engine, condition)) == 1
            (terms,) = store.terms
            assert terms is not None
            rows = await store.store.queries.list_executions(ExecutionFilter(terms=terms))
            assert len(rows) == 1


async def test_what_rests_is_indexed_by_itself(tmp_path: Path) -> None:
    saved: list[int] = []

    class Told(Between):
        async def search_terms_save(self, found: Sequence[Any]) -> int:
            count = await self.store.search_terms.save(found)
            saved.append(count)
            done.set()
            return count

    done = asyncio.Event()
    async with engine_on(Told(tmp_path), index_after=1) as engine:
        await engine.workflows.register(FLOWS[0])
        await engine.executions.start("ends", {"v": 1, "n": 1}, wait="end")
        await done.wait()
        assert saved[0] == 1


class Loaded(Machine):
    """A machine on which executions need all of the processor."""

    def worked(self) -> int:
        return self.running()


@pytest.mark.parametrize("machine", [Machine(), Loaded()])
async def test_what_rests_is_indexed_beside_an_execution_that_is_active(tmp_path: Path, machine: Machine) -> None:
    saved: set[str] = set()
    begun, all_saved, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Told(Between):
        async def search_terms_save(self, found: Sequence[ExecutionTerms]) -> int:
            count = await self.store.search_terms.save(found)
            saved.update(one.execution_id for one in found)
            if len(saved) == 45:  # more than two parts
                all_saved.set()
            return count

    async def stay() -> None:
        begun.set()
        await go_on.wait()

    store: Any = Told(tmp_path)
    settings = settings_with(index_after=1)
    async with Runtime(store, nodes=[stay], settings=settings, machine=machine) as engine:
        await engine.workflows.register(FLOWS[0])
        await engine.workflows.register(flow(call("stay", "stay"), end(1), name="stays"))
        active = await engine.executions.start("stays", {})
        await begun.wait()
        for n in range(45):
            await engine.executions.start("ends", {"v": n, "n": n}, id=uid(n), wait="end")
        await all_saved.wait()
        assert saved == {uid(n) for n in range(45)}
        go_on.set()
        await engine.executions.wait(active.id, "end")


async def test_an_engine_that_keeps_no_index_finds_all(tmp_path: Path) -> None:
    async with engine_at(tmp_path, search_index=False, index_after=1) as engine:
        await engine.workflows.register(FLOWS[0])
        for n in range(3):
            await engine.executions.start("ends", {"v": n, "n": n}, id=uid(n), wait="end")
        assert "indexer" not in engine.failing_services
        assert await found(engine, "output.v=1") == [uid(1)]
        assert len(await engine.instance.store.search_terms.list_unindexed(None, 9)) == 3


async def test_an_execution_that_cannot_be_read_holds_up_no_other_and_is_looked_at_in_every_search(
    tmp_path: Path,
) -> None:
    async with engine_at(tmp_path, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[0])
        for n in range(3):
            await engine.executions.start("ends", {"v": n, "n": n}, id=uid(n), wait="end")
        tables = Tables(address_in(tmp_path))
        tables.change("UPDATE events SET body = $1 WHERE execution_id = $2", b"broken", tables.id(uid(1)))
        assert await index(engine) == 3
        (terms,) = await engine.instance.store.search_terms.read([uid(1)])
        assert terms is not None
        assert terms.terms == UNREADABLE
        assert await found(engine, "output.v=2") == [uid(2)]
        assert await found(engine, "input.v=1") == [uid(1)]  # that is found without its log


async def test_an_execution_that_moves_on_meanwhile_is_indexed_at_its_next_rest(tmp_path: Path) -> None:
    class Late(Between):
        async def search_terms_save(self, found: Sequence[Any]) -> int:
            for row in await engine.points.list(uid(1), status=["open"]):
                await engine.answers.answer(row.point.id, {"v": "late"})
                await engine.executions.wait(uid(1), "rest")
            return await self.store.search_terms.save(found)

    async with engine_on(Late(tmp_path), index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[1])
        await engine.executions.start("asks", {"v": 1, "n": 1}, id=uid(1), wait="rest")
        assert await index(engine) == 0
        assert await found(engine, "nodes.ask.v=late") == [uid(1)]
        assert await index(engine) == 1
        assert await found(engine, "nodes.ask.v=late") == [uid(1)]


async def test_a_store_that_is_away_for_a_while_fails_the_round_and_marks_stay(tmp_path: Path) -> None:
    class Away(Between):
        is_away = True

        async def search_terms_save(self, found: Sequence[Any]) -> int:
            if self.is_away:
                raise StoreUnavailable("It is away.")
            return await self.store.search_terms.save(found)

    store = Away(tmp_path)
    async with engine_on(store, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[0])
        await engine.executions.start("ends", {"v": 1, "n": 1}, id=uid(1), wait="end")
        with pytest.raises(StoreUnavailable):
            await index(engine)
        assert len(await engine.instance.store.search_terms.list_unindexed(None, 9)) == 1
        store.is_away = False
        assert await index(engine) == 1


async def test_only_one_of_two_instances_indexes_at_a_time(tmp_path: Path) -> None:
    class Second(Between):
        async def search_terms_save(self, found: Sequence[Any]) -> int:
            counts.append(await index(other))
            return await self.store.search_terms.save(found)

    counts: list[int] = []
    async with (
        engine_on(Second(tmp_path), index_after=NEVER) as engine,
        engine_at(tmp_path, index_after=NEVER) as other,
    ):
        await engine.workflows.register(FLOWS[0])
        await engine.executions.start("ends", {"v": 1, "n": 1}, id=uid(1), wait="end")
        assert await index(engine) == 1
        assert counts == [0]


async def test_a_purge_leaves_no_terms(tmp_path: Path) -> None:
    async with engine_at(tmp_path, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[0])
        for n in range(3):
            await engine.executions.start("ends", {"v": [1, 2, "x"], "n": n}, id=uid(n), wait="end")
        await index(engine)
        tables = Tables(address_in(tmp_path))
        assert tables.count("search_terms") > 0
        assert await engine.instance.store.retention.purge([uid(n) for n in range(3)]) == 3
        assert tables.count("search_terms") == tables.count("indexed_executions") == 0


async def test_what_an_execution_is_no_more_is_not_looked_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[1])
        await engine.executions.start("asks", {"v": 1, "n": 1}, id=uid(1), wait="rest")
        before = 0
        for said in ("first", "second"):
            (row,) = await engine.points.list(uid(1), status=["open"])
            await engine.answers.answer(row.point.id, {"v": said})
            await engine.executions.wait(uid(1), "end")
            await index(engine)
            assert await found(engine, f"output.v={said}") == [uid(1)]
            if said == "first":
                before = Tables(address_in(tmp_path)).count("search_terms")
                await engine.forks.fork(uid(1), ForkRequest(start="ask"), uid(2), Options(), None)
                await engine.executions.wait(uid(2), "rest")
                await engine.instance.store.retention.purge([uid(1)])
                await engine.executions.start("asks", {"v": 1, "n": 1}, id=uid(1), wait="rest")
        assert await found(engine, "output.v=first") == []
        assert Tables(address_in(tmp_path)).count("search_terms") > before


async def test_verify_finds_terms_that_are_not_those_of_the_log(tmp_path: Path) -> None:
    async with engine_at(tmp_path, index_after=NEVER) as engine:
        await engine.workflows.register(FLOWS[0])
        await engine.executions.start("ends", {"v": 1, "n": 1}, id=uid(1), wait="end")
        await index(engine)
        assert await violations(engine.instance.store) == []
        Tables(address_in(tmp_path)).change("UPDATE indexed_executions SET terms = $1", b"x" * 17)
        (violation,) = await violations(engine.instance.store)
        assert (violation.code, violation.execution_id) == ("search_terms", uid(1))


# Nodes across executions


async def nodes(engine: Runtime, *where: str, **wanted: Any) -> list[tuple[str, str]]:
    search = NodeSearch(where=where, **wanted)
    executions = ExecutionFilter(workflow=wanted.get("workflow"), limit=1_000)
    page = await find_nodes(engine.instance, executions, search, None, tracebacks=False)
    assert page.following is None
    return [(one.execution_id[-1], one.node.context_id) for one, _ in page.nodes]


async def check_node_filters(engine: Runtime) -> None:
    """Compare what filters of nodes find with what all nodes say."""
    page = await find_nodes(engine.instance, ExecutionFilter(limit=10_000), NodeSearch(), None, tracebacks=False)
    assert page.following is None
    every = [((one.execution_id[-1], one.node.context_id), one.node) for one, _ in page.nodes]
    for status in {node.status for _, node in every}:
        assert await nodes(engine, status=(status,)) == [name for name, node in every if node.status == status]
    codes = {node.error.code for _, node in every if node.error is not None}
    for code in codes:
        fitting = [name for name, node in every if node.error is not None and node.error.code == code]
        assert await nodes(engine, error_code=code) == fitting
    for least in (1, 20):
        slow = [name for name, node in every if node.duration_ms is not None and node.duration_ms >= least]
        assert await nodes(engine, min_duration=least) == slow
    for node_type, node_id in (("form", None), (None, "inner"), ("echo", "inner"), ("form", "inner")):
        of_type = [name for name, node in every if node_type in (None, node.type) and node_id in (None, node.node)]
        assert await nodes(engine, type=node_type, node=node_id) == of_type


async def test_filters_of_nodes_and_durations_that_few_fit_use_the_index(tmp_path: Path) -> None:
    store = Watched(tmp_path)
    async with engine_on(store, echo, risky, index_after=NEVER) as engine:
        for one in FLOWS:
            await engine.workflows.register(one)
        for n in range(4):
            await engine.executions.start("ends", {"v": n, "n": n}, id=uid(n), wait="end")
        await engine.executions.start("fails", {}, id=uid(5), wait="rest")
        (point,) = await engine.points.list(status=["open"])
        await engine.answers.answer(point.point.id, {"v": 0})
        await engine.executions.wait(uid(5), "end")
        await index(engine)
        for wanted in ({"status": ("failed",)}, {"error_code": "failed"}, {"status": ("failed", "waiting")}):
            store.terms.clear()
            assert await nodes(engine, **wanted) == [("5", "risky")]
            (terms,) = store.terms
            assert terms is not None
            rows = await store.store.queries.list_executions(ExecutionFilter(terms=terms))
            assert [row.head.execution_id for row in rows] == [uid(5)]
        for longest in (ExecutionFilter(min_duration=10**9), ExecutionFilter(min_duration=10**9, q="x")):
            assert (await engine.lists.find(longest)).rows == ()
        assert store.terms[-2] is not None


async def test_nodes_are_found_by_what_they_got_and_gave_with_and_without_the_index(tmp_path: Path) -> None:
    store = Watched(tmp_path)
    async with engine_on(store, echo, risky, index_after=NEVER) as engine:
        for one in FLOWS:
            await engine.workflows.register(one)
        for n in range(4):
            given = {"n": n, "list": [n, {"deep": [f"t{n}"]}]}
            await engine.executions.start("spreads", given, id=uid(n), wait="rest")
        for _ in range(2):
            assert await nodes(engine, "input.v=2", node="inner") == [("2", "inner:each.0")]
            assert await nodes(engine, 'output.echo={"deep": ["t1"]}', node="inner") == [("1", "inner:each.1")]
            assert await nodes(engine, "input.v>=2", node="inner") == [("3", "inner:each.0"), ("2", "inner:each.0")]
            assert await nodes(engine, "input.v>=2") == [("3", "inner:each.0"), ("2", "inner:each.0")]
            assert await nodes(engine, "input.v=2", "output.echo=2", node="inner") == [("2", "inner:each.0")]
            assert await nodes(engine, "input.v=2", "output.echo=3", node="inner") == []
            assert await nodes(engine, "output.echo!=0", node="inner", type="echo") != []
            assert await nodes(engine, "input.v=2", node="after") == []
            assert await nodes(engine, "output=null", node="after") == []  # it has none yet
            await index(engine)
        store.terms.clear()
        await nodes(engine, "input.v=2", node="inner")
        assert all(terms is not None for terms in store.terms)


@pytest.mark.parametrize("condition", ["vars.a=1", "nodes.a=1", "a=1", "input.v"])
async def test_a_condition_on_a_node_is_about_its_input_or_output(tmp_path: Path, condition: str) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(InvalidInput) as error:
            await nodes(engine, condition, node="inner")
        assert error.value.code == "invalid_filter"


async def test_nodes_of_a_long_log_are_found_though_its_terms_do_not_have_them(tmp_path: Path) -> None:
    work = Scripted({"last": 7})
    loop: dict[str, object] = {
        "id": "loop",
        "type": "loop",
        "for_each": "input.list",
        "body": [call("work", input={"n": "${item}"})],
    }
    async with engine_at(tmp_path, work, index_after=NEVER) as engine:
        await engine.workflows.register(flow(loop, end(1), name="long"))
        await engine.workflows.register(flow(call("work", input={"n": -1}), end(1), name="short"))
        await engine.executions.start("long", {"list": list(range(400))}, id=uid(1), wait="end")
        await engine.executions.start("short", {}, id=uid(2), wait="end")
        (row,) = await engine.lists.list(workflow="long")
        assert row.head.last_seq > MOST_EVENTS
        assert await index(engine) == 2
        assert await nodes(engine, "input.n=399", node="work") == [("1", "work:loop.399")]
        assert await nodes(engine, "input.n=-1", node="work") == [("2", "work")]
        assert await nodes(engine, "output.last=7", node="work", workflow="short") == [("2", "work")]
        assert len(await nodes(engine, "output.last=7", node="work")) == 401
        assert await violations(engine.instance.store) == []
