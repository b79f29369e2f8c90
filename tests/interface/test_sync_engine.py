"""The engine that blocks: everything that the engine does, from a thread of its own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import SyncEngine, Workflow, node
from layover.bootstrap import UnknownDatabase, inspectable_store
from layover.errors import BadUse, Closed, ExecutionFailed, InvalidInput, LayoverError, NotAllowed, NotFound
from layover.ports.view_records import ExecutionFilter
from layover.runtime.loop_thread import LoopThread


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


def test_a_workflow_from_its_start_to_its_result(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), workflows=[flow()]) as engine:
        execution = engine.start("doubling", until="rest")
        (point,) = execution.points()
        assert point.answer({"number": 21}) is point
        assert execution.result() == 42
        assert execution.refresh() is execution
        assert (execution.status, execution.info.output) == ("completed", 42)
        assert engine.counts() == {"completed": 1}
    with SyncEngine(address(tmp_path)) as again:
        assert again.execution(execution.id).output == 42


def test_lists_are_iterated_read_by_the_page_or_taken_whole(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), workflows=[flow()]) as engine:
        started = {engine.start("doubling", until="rest").id for _ in range(3)}
        points = engine.points()
        page = points.page(limit=2)
        behind = points.page(cursor=page.next)
        assert (len(page.items), len(behind.items)) == (2, 1)
        for found in ((*page.items, *behind.items), points, points.all()):
            assert {point.execution_id for point in found} == started
        page.items[0].answer({"number": 1})  # what is on a page is a handle that blocks


def test_a_handle_may_be_given_where_a_name_may(tmp_path: Path) -> None:
    made = Workflow("quick")
    made.call("double", double, input={"number": 4})
    with SyncEngine(address(tmp_path), nodes=[double]) as engine:
        assert engine.run(engine.register(made)) == 8


def test_events_are_followed_to_the_end_or_left(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), workflows=[flow()]) as engine:
        execution = engine.start("doubling", until="rest")
        for event in execution.events():
            assert event.seq == 0
            break
        following = execution.events()
        assert next(following).type == "ExecutionCreated"
        execution.answer("ask", {"number": 21})
        assert [event.type for event in following][-1] == "ExecutionCompleted"


def test_another_user_acts_through_the_same_engine(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), workflows=[flow()]) as engine:
        ada = engine.as_user("ada", ["operator"])
        assert ada.me().user == "ada"
        assert ada.start("doubling").user == "ada"
        with pytest.raises(NotAllowed):
            ada.create_api_key("k", user="ada", roles=["admin"])


def test_what_the_engine_raises_is_raised_here(tmp_path: Path) -> None:
    made = Workflow("failing")
    made.call("fail", fail)
    with SyncEngine(address(tmp_path), workflows=[made]) as engine:
        with pytest.raises(ExecutionFailed, match="on purpose"):
            engine.run("failing")
        with pytest.raises(NotFound):
            engine.execution("00000000-0000-0000-0000-000000000000")


def test_it_works_where_an_event_loop_is_running_already(tmp_path: Path) -> None:
    async def cell() -> object:
        engine = SyncEngine(address(tmp_path), nodes=[double]).open()
        try:
            made = Workflow("quick")
            made.call("double", double, input={"number": 4})
            engine.register(made)
            return engine.start("quick", until="end").output
        finally:
            engine.close()

    assert asyncio.run(cell()) == 8


def test_it_is_open_or_closed_and_says_so(tmp_path: Path) -> None:
    engine = SyncEngine(address(tmp_path))
    with pytest.raises(Closed, match=r"engine\.open\(\)"):
        engine.counts()
    with pytest.raises(Closed):
        engine.serve()
    engine.close()
    assert engine.open() is engine.open()
    engine.close()
    engine.close()
    with pytest.raises(Closed):
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
    with pytest.raises(Closed):
        engine.counts()
    assert "layover-engine" not in [thread.name for thread in threading.enumerate()]


def test_a_grace_that_is_refused_closes_nothing(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path)) as engine:
        with pytest.raises(InvalidInput, match="grace"):
            engine.close(5)  # type: ignore[arg-type]
        assert engine.counts() == {}


def test_a_handle_outlives_its_engine_and_acts_no_more(tmp_path: Path) -> None:
    with SyncEngine(address(tmp_path), workflows=[flow()]) as engine:
        execution = engine.start("doubling", until="rest")
    assert execution.status == "paused"
    with pytest.raises(Closed):
        execution.refresh()


def test_a_waiting_thread_gets_an_error_when_the_engine_is_closed(tmp_path: Path) -> None:
    engine = SyncEngine(address(tmp_path), workflows=[flow()]).open()
    execution = engine.start("doubling", until="rest")
    told: list[BaseException] = []

    def wait() -> None:
        begun.set()
        try:
            execution.wait()
        except LayoverError as error:
            told.append(error)

    begun = threading.Event()
    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    engine.close()
    waiting.join()
    assert [type(error) for error in told] == [Closed]


def test_what_cleans_up_after_the_end_of_its_loop_is_ended_as_well() -> None:
    ended: list[str] = []
    kept: list[asyncio.Task[None]] = []
    loop = LoopThread(
        "ends",
        closed=Closed("It is closed."),
        ended=Closed("It has ended."),
        inside="Inside.",
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
        for blocking in (engine.counts, engine.close):
            with pytest.raises(BadUse, match="would block the engine itself"):
                blocking()
            found.append("refused")
        return " ".join(found)

    @node
    def beside() -> int:
        return len(engine.executions().all())  # a thread of its own may

    made = Workflow("inside")
    (
        made.call("inside", inside)
        >> made.call("beside", beside)
        >> made.compute("both", "${nodes.inside} ${nodes.beside}")
    )
    with SyncEngine(address(tmp_path), nodes=made.functions) as engine:
        engine.register(made)
        assert engine.run("inside") == "refused refused 1"


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
    with SyncEngine("sqlite:///" + sys.argv[1], nodes=[hang], settings=Settings(grace="{grace}ms")) as engine:
        inner = engine._of._runtime
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
    (row,) = await store.queries.list_executions(ExecutionFilter())
    await store.close()
    return row.head.owner


def test_an_interrupt_ends_the_waiting_and_closes_the_engine(tmp_path: Path) -> None:
    done = _run(tmp_path, "tell_when(lambda: caller.out); execution.result()")
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.returncode == -signal.SIGINT
    assert asyncio.run(_owner(tmp_path)) is None  # it was given back, not left behind


def test_an_interrupt_while_it_stops_leaves_what_is_still_running(tmp_path: Path) -> None:
    body = "tell_when(lambda: caller.out and inner._open is None); engine.close()"
    done = _run(tmp_path, body, grace=600_000)  # or this would take ten minutes
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert asyncio.run(_owner(tmp_path)) is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_ends_when_a_signal_stops_the_process(tmp_path: Path, number: signal.Signals) -> None:
    installed = "signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL"  # the last of the two
    done = _run(tmp_path, f"tell_when(lambda: {installed}, {int(number)}); engine.serve()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")
