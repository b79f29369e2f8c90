"""The engine that blocks: everything that the engine does, from a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import Engine, SyncEngine, Workflow, node
from layover.bootstrap import UnknownDatabase, inspectable_store
from layover.core.errors import LayoverError
from layover.ports.records import ExecutionFilter
from layover.runtime.errors import EngineClosed, ExecutionFailed, UnknownExecution
from layover.runtime.loop_thread import LoopThread
from layover.sync import SyncEngine as TheSame
from tests.runtime.harness import settings_with

OWN = {"open"}  # what `async with` does; notebooks cannot hold a `with` open


@node
async def double(number: int) -> int:
    return number * 2


@node
def fail() -> None:
    raise ValueError("on purpose")


def flow() -> Workflow:
    made = Workflow("doubling")
    made.form("ask", title="How many?") >> made.call("double", double, input={"number": "${nodes.ask.number}"})
    return made


def address(folder: Path) -> str:
    return f"sqlite:///{folder / 'layover.db'}"


def public(kind: type[object]) -> dict[str, object]:
    members = inspect.getmembers(kind, inspect.isfunction)
    return {name: member for name, member in members if not name.startswith("_")}


def test_it_has_every_method_of_the_engine_and_no_other() -> None:
    engine = {name for name, member in public(Engine).items() if inspect.iscoroutinefunction(member)}
    assert public(SyncEngine).keys() == engine | OWN
    assert SyncEngine is TheSame


@pytest.mark.parametrize("name", sorted(public(SyncEngine).keys() - OWN))
def test_each_method_has_the_signature_of_the_engines_own(name: str) -> None:
    assert inspect.signature(getattr(SyncEngine, name)) == inspect.signature(getattr(Engine, name))
    assert not inspect.iscoroutinefunction(getattr(SyncEngine, name))


def test_it_is_made_as_the_engine_is() -> None:
    assert inspect.signature(SyncEngine) == inspect.signature(Engine)


@pytest.mark.parametrize("name", sorted(public(SyncEngine).keys() - OWN - {"serve", "stop"}))
def test_each_method_asks_the_engine_for_the_same(name: str, tmp_path: Path) -> None:
    """Each is called with values that can be told apart; what arrives at the engine is what was given."""
    signature = inspect.signature(getattr(Engine, name))
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    given = {one.name: object() for one in parameters}
    heard: list[dict[str, object]] = []

    class Listening(Engine):
        pass

    async def hear(*args: object, **kwargs: object) -> object:
        bound = signature.bind(*args, **kwargs)
        heard.append({key: value for key, value in bound.arguments.items() if key != "self"})
        return heard

    setattr(Listening, name, hear)
    with SyncEngine(address(tmp_path)) as engine:
        engine._engine.__class__ = Listening  # noqa: SLF001 - to see what arrives there
        returned = getattr(engine, name)(
            *(given[one.name] for one in parameters if one.kind is not one.KEYWORD_ONLY),
            **{one.name: given[one.name] for one in parameters if one.kind is one.KEYWORD_ONLY},
        )
    assert heard == [given]
    assert returned is heard or str(signature.return_annotation) == "None"


def test_a_workflow_from_its_start_to_its_result(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), nodes=[double]) as engine:
        engine.register(flow())
        execution = engine.start("doubling", wait="rest")
        (row,) = engine.points(execution.id)
        engine.answer(row.point.id, {"number": 21}, by="ann")
        assert engine.result(execution.id) == 42
        assert engine.counts() == {"completed": 1}
    with SyncEngine(address(tmp_path)) as again:
        assert again.get(execution.id).output == 42


def test_what_the_engine_raises_is_raised_here(tmp_path: Path) -> None:
    made = Workflow("failing")
    made.call("fail", fail)
    with SyncEngine(address(tmp_path), nodes=[fail]) as engine:
        engine.register(made)
        with pytest.raises(ExecutionFailed, match="on purpose"):
            engine.result(engine.start("failing").id)
        with pytest.raises(UnknownExecution):
            engine.get("00000000-0000-0000-0000-000000000000")


def test_it_works_where_an_event_loop_is_running_already(tmp_path: Path) -> None:
    async def cell() -> object:
        engine = SyncEngine(address(tmp_path), nodes=[double]).open()
        try:
            made = Workflow("quick")
            made.call("double", double, input={"number": 4})
            engine.register(made)
            return engine.start("quick", wait="end").output
        finally:
            engine.stop()

    assert asyncio.run(cell()) == 8


def test_it_is_open_or_closed_and_says_so(tmp_path: Path) -> None:
    engine = SyncEngine(address(tmp_path))
    with pytest.raises(EngineClosed, match=r"engine\.open\(\)"):
        engine.counts()
    with pytest.raises(EngineClosed):
        engine.serve()
    engine.stop()
    assert engine.open() is engine.open()
    engine.stop()
    engine.stop()
    with pytest.raises(EngineClosed):
        engine.counts()
    with engine:  # and it can be opened again
        assert engine.counts() == {}


def test_an_engine_that_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnknownDatabase):
        SyncEngine("nowhere")
    (tmp_path / "layover.db").write_text("this is no database, and long enough to be looked at" * 100)
    engine = SyncEngine(address(tmp_path))
    with pytest.raises(LayoverError):
        engine.open()
    with pytest.raises(EngineClosed):
        engine.counts()
    assert "layover-engine" not in [thread.name for thread in threading.enumerate()]


def test_whoever_waits_is_told_that_the_engine_was_closed(tmp_path: Path) -> None:
    engine = SyncEngine(address(tmp_path), nodes=[double], settings=settings_with()).open()
    engine.register(flow())
    execution = engine.start("doubling", wait="rest")
    told: list[BaseException] = []

    def wait() -> None:
        begun.set()
        try:
            engine.wait(execution.id)
        except LayoverError as error:
            told.append(error)

    begun = threading.Event()
    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    engine.stop()
    waiting.join()
    assert [type(error) for error in told] == [EngineClosed]


def test_what_cleans_up_after_the_end_of_its_loop_is_ended_as_well() -> None:
    ended: list[str] = []
    kept: list[asyncio.Task[None]] = []
    loop = LoopThread(
        "ends", closed=EngineClosed("It is closed."), ended=EngineClosed("It has ended."), inside="Inside."
    )

    async def last(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def work() -> None:
        async def cleaned_up() -> None:
            try:
                await last("work")
            finally:
                kept.append(asyncio.create_task(last("clean-up")))
                await asyncio.sleep(0)

        kept.append(asyncio.create_task(cleaned_up()))
        await asyncio.sleep(0)

    loop.start()
    loop.wait(work())
    loop.end()
    assert ended == ["work", "clean-up"]


def test_a_function_of_its_own_cannot_block_it(tmp_path: Path) -> None:
    @node
    async def inside() -> str:
        found = []
        for blocking in (engine.counts, engine.stop):
            with pytest.raises(RuntimeError, match="would block the engine itself"):
                blocking()
            found.append("refused")
        return " ".join(found)

    @node
    def beside() -> int:
        return len(engine.list())  # a thread of its own may

    made = Workflow("inside")
    (
        made.call("inside", inside)
        >> made.call("beside", beside)
        >> made.compute("both", "${nodes.inside} ${nodes.beside}")
    )
    with SyncEngine(address(tmp_path), nodes=made.functions) as engine:
        engine.register(made)
        assert engine.start("inside", wait="end").output == "refused refused 1"


_PROGRAM = """
    import asyncio, os, signal, sys, threading
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
    from layover import Settings, SyncEngine, Workflow, node

    @node
    async def hang():
        await asyncio.Event().wait()

    def tell_when(condition, number=signal.SIGINT):
        def watch():
            while not condition():
                os.sched_yield()
            os.kill(os.getpid(), number)
        threading.Thread(target=watch, daemon=True).start()

    flow = Workflow("hanging")
    flow.call("hang", hang)
    with SyncEngine("sqlite:///" + sys.argv[1], nodes=[hang], settings=Settings(grace={grace})) as engine:
        inner = engine._engine
        caller = inner.instance.node_runner
        engine.register(flow)
        execution = engine.start("hanging")
        {body}
    print("closed")
"""


def _run(folder: Path, body: str, grace: int = 0) -> subprocess.CompletedProcess[str]:
    program = textwrap.dedent(_PROGRAM).format(body=body, grace=grace)
    words = [sys.executable, "-c", program, str(folder / "layover.db")]
    return subprocess.run(words, capture_output=True, text=True, timeout=110, check=False)  # noqa: S603 - ours


async def _owner(folder: Path) -> str | None:
    """Return who drives the one execution, without an engine that would take it."""
    store = inspectable_store(address(folder))
    await store.open_to_read()
    (row,) = await store.page(ExecutionFilter())
    await store.close()
    return row.head.owner


def test_an_interrupt_ends_the_waiting_and_closes_the_engine(tmp_path: Path) -> None:
    done = _run(tmp_path, "tell_when(lambda: caller.out); engine.result(execution.id)")
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.returncode == -signal.SIGINT
    assert asyncio.run(_owner(tmp_path)) is None  # it was given back, not left behind


def test_an_interrupt_while_it_stops_leaves_what_is_still_running(tmp_path: Path) -> None:
    body = "tell_when(lambda: caller.out and inner._running is None); engine.stop()"
    done = _run(tmp_path, body, grace=600_000)  # or this would take ten minutes
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert asyncio.run(_owner(tmp_path)) is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_ends_when_the_process_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    installed = "signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL"  # the last of the two
    done = _run(tmp_path, f"tell_when(lambda: {installed}, {int(number)}); engine.serve()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")
