"""What a traceback keeps, how much of it, and who may read it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover import Client, Engine, ExecutionFailed, InvalidInput, Settings, SyncEngine, node, redaction
from layover.core.engine.commands import Create, Fail, Wake
from layover.core.engine.events import Error, NodeFailed
from layover.nodes.errors import failure
from layover.nodes.tracebacks import MOST_BYTES, traceback_of
from layover.tracebacks import Traceback, TracebackFrame, shorten
from tests.api.harness import served
from tests.core.engine.flows import rehearse
from tests.errors.failing import chained_exception, plain_exception, sink

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover import ExecutionHandle, NodeExecution

FAILING = {"name": "failing", "nodes": [{"id": "here", "type": "chained_exception"}]}
RETRIED = """
  - {id: here, type: work, retry: {max_attempts: forever, delay: 1s, multiplier: 1}}
"""


def raised_by(function: Callable[[], object]) -> BaseException:
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - what it is about
        return error
    raise AssertionError("it raised nothing")


class Cut:
    """Messages and notes, as short as they are kept."""

    def message(self, error: BaseException) -> str:
        return str(error)[:300]

    def text(self, text: str) -> str:
        return text[:300]


def read(error: BaseException) -> Traceback:
    found = traceback_of(error, None, Cut())
    assert found is not None
    return found


# How much is kept


def test_of_many_frames_the_first_and_the_last_are_kept() -> None:
    found = read(raised_by(lambda: sink(500)))
    names = [frame.name for frame in found.frames]
    assert len(names) == 20
    assert (names[0], names[-1]) == ("raised_by", "price_of")
    assert found.frames_left_out == 500 + 4 - 20


def test_a_frame_has_a_relative_file_and_no_source() -> None:
    frame = read(raised_by(lambda: sink(0))).frames[-1]
    assert (frame.file, frame.name) == ("tests/errors/failing.py", "price_of")
    assert str(frame) == f'  File "tests/errors/failing.py", line {frame.line}, in price_of'


def test_a_file_of_a_library_is_relative_to_where_it_was_imported_from() -> None:
    frames = read(raised_by(lambda: json.loads("{"))).frames
    assert frames[-1].file == "json/decoder.py"


def test_a_chain_of_causes_ends_after_three() -> None:
    error: Exception = ValueError("0")
    for number in range(1, 6):
        following = ValueError(str(number))
        following.__cause__ = error
        error = following
    assert [cause.message for cause in read(error).causes] == ["4", "3", "2"]


def test_a_chain_that_ends_in_itself_is_read_once() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__context__, second.__context__ = second, first
    assert [cause.message for cause in read(first).causes] == ["second"]


def test_a_context_that_is_suppressed_is_left_out() -> None:
    error = ValueError("shown")
    error.__context__ = KeyError("hidden")
    error.__suppress_context__ = True
    assert read(error).causes == ()


def test_all_of_it_is_bounded_in_bytes() -> None:
    long = "f" * 5_000
    code = compile(f"def {long}(n):\n    return {long}(n - 1) if n else 1 / 0\n{long}(60)", "/x/" + "d" * 5_000, "exec")
    error = raised_by(lambda: exec(code, {}))  # noqa: S102 - code with long names
    for _ in range(3):
        following = ValueError("é" * 10_000)
        following.__cause__, following.__traceback__ = error, error.__traceback__
        error = following
    found = read(error)
    assert found.frames
    assert len(msgspec.json.encode(found)) <= MOST_BYTES


@pytest.mark.parametrize("kind", [ValueError, SystemExit])
def test_an_error_that_raises_when_it_is_read_has_its_frames(kind: type[BaseException]) -> None:
    class Hostile(Exception):  # noqa: N818 - a name for a test
        @property
        def __cause__(self) -> BaseException | None:  # type: ignore[override]  # what it is about
            raise kind

    def fail() -> None:
        raise Hostile

    found = read(raised_by(fail))
    assert found.frames[-1].name.endswith("fail")
    assert found.causes == ()


def test_members_of_groups_are_kept_with_their_causes() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__ = KeyError("behind the first")
    inner = ExceptionGroup("inner", [first])
    outer = RuntimeError("outer")
    outer.__cause__ = ExceptionGroup("group", [inner, second])
    assert [(cause.how, cause.message) for cause in read(outer).causes] == [
        ("cause", "group (2 sub-exceptions)"),
        ("member", "inner (1 sub-exception)"),
        ("member", "first"),
        ("member", "second"),
    ]
    assert "behind the first" in str(read(inner).causes[1].message)


def test_of_a_large_group_the_first_members_are_kept() -> None:
    found = read(ExceptionGroup("many", [ValueError(str(number)) for number in range(1_000)]))
    assert [cause.message for cause in found.causes] == [str(number) for number in range(8)]


def test_notes_of_an_exception_are_kept() -> None:
    error = ValueError("no")
    for number in range(9):
        error.add_note(f"note {number} {'x' * 1_000}")
    found = read(error)
    assert [note[:6] for note in found.notes] == ["note 0", "note 1", "note 2"]
    assert max(map(len, found.notes)) == 300
    error.__notes__ = 7  # type: ignore[assignment]  # it may be anything
    assert read(error).notes == ()


def test_names_that_are_long_or_no_text_are_kept_as_far_as_they_go() -> None:
    kind = type("Lé" * 100_000, (Exception,), {"__module__": "m\udcff" * 100_000})
    failed = failure("here", 1, kind("no"))
    assert failed.traceback is not None
    assert (failed.error.type[:4], failed.traceback.module[:8]) == ("LéLé", "m\\udcffm")
    assert len(msgspec.json.encode(failed)) < MOST_BYTES
    code = compile("1 / 0", "/somewhere/caf\udce9.py", "exec")
    found = failure("here", 1, raised_by(lambda: exec(code))).traceback  # noqa: S102 - a file whose name is not UTF-8
    assert found is not None
    assert found.frames[-1].file == "somewhere/caf\\udce9.py"


class Leaving(Exception):  # noqa: N818 - a name for a test
    """An error whose text ends the process."""

    def __str__(self) -> str:
        raise SystemExit


def test_a_text_that_raises_anything_is_replaced_by_the_type() -> None:
    assert failure("here", 1, Leaving()).error.message == "Leaving"


def test_a_short_traceback_has_the_innermost_places() -> None:
    frames = tuple(TracebackFrame("a.py", line, "f") for line in range(1, 21))
    found = shorten(Traceback(frames=frames, frames_left_out=5))
    assert ([frame.line for frame in found.frames], found.frames_left_out) == ([18, 19, 20], 22)


def test_after_five_attempts_a_retry_keeps_only_the_innermost_places() -> None:
    traceback = Traceback(frames=tuple(TracebackFrame("a.py", line, "f") for line in range(1, 11)))
    flow = rehearse(RETRIED)
    flow.send(Create(id="execution"))
    kept: list[int] = []
    for attempt in range(1, 9):
        error = Error(code="failed", message="no")
        (failed,) = flow.send(Fail(node="here", attempt=attempt, error=error, traceback=traceback))
        assert isinstance(failed, NodeFailed)
        assert failed.traceback is not None
        kept.append(len(failed.traceback.frames))
        flow.now += 1_000
        flow.send(Wake())
    assert kept == [10] * 5 + [3] * 3


def test_after_a_hundred_attempts_a_retry_keeps_the_beginning_of_its_message() -> None:
    flow = rehearse(RETRIED)
    flow.send(Create(id="execution"))
    kept: list[int] = []
    for attempt in range(1, 104):
        error = Error(code="failed", message="no " * 500)
        (failed,) = flow.send(Fail(node="here", attempt=attempt, error=error))
        assert isinstance(failed, NodeFailed)
        kept.append(len(failed.error.message))
        flow.now += 1_000
        flow.send(Wake())
    assert kept == [1_500] * 100 + [301] * 3


def test_expressions_cannot_read_a_traceback() -> None:
    flow = rehearse(
        """
  - {id: here, type: work, on_error: continue, next: after}
  - {id: after, type: set, values: {seen: "${errors.here}"}}
"""
    )
    flow.send(Create(id="execution"))
    error = Error(code="failed", message="no")
    flow.send(Fail(node="here", attempt=1, error=error, traceback=Traceback(module="secret_module")))
    variables = str(flow.state.scopes[""].variables)
    assert ("'message': 'no'" in variables, "secret_module" in variables) == (True, False)


# Who may read it


def place(error: object) -> bool:
    return "failing.py" in msgspec.json.encode(error).decode()


async def seen_by(door: Engine, execution_id: str) -> dict[str, bool]:
    """Return what of an execution tells its user where it failed."""
    execution: ExecutionHandle = await door.execution(execution_id)
    nodes: list[NodeExecution] = await execution.nodes().all()
    with pytest.raises(ExecutionFailed) as raised:
        await execution.result()
    history = [event async for event in execution.history()]
    why = await execution.why()
    return {
        "execution": place(execution.info.error),
        "node": place(nodes[0].error),
        "attempt": place(nodes[0].attempts[0].error),
        "why": place(why.reasons[0].failure),
        "exception": "failing.py" in "".join(getattr(raised.value, "__notes__", ())),
        "history": any("failing.py" in repr(event) for event in history),
    }


async def test_operators_read_tracebacks_and_viewers_do_not(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'layover.db'}", nodes=[chained_exception]) as engine:
        await engine.register(FAILING)
        execution = await (await engine.start("failing")).wait("end", timeout="60s")
        everywhere = {"execution", "node", "attempt", "why", "exception"}
        for door in (engine, engine.as_user("eve", ["operator"]), engine.as_user("ada", ["admin"])):
            assert {name for name, is_told in (await seen_by(door, execution.id)).items() if is_told} == everywhere
        for role in ("viewer", "approver"):
            assert not any((await seen_by(engine.as_user("vic", [role]), execution.id)).values())
        assert "execution:debug" in (await engine.as_user("eve", ["operator"]).me()).permissions


def test_a_terminal_prints_the_frames_of_the_function(tmp_path: Path) -> None:
    with SyncEngine(f"sqlite:///{tmp_path / 'layover.db'}", nodes=[chained_exception]) as engine:
        engine.register(FAILING)
        with pytest.raises(ExecutionFailed) as raised:
            engine.start("failing").result(timeout="60s")
    (note,) = raised.value.__notes__
    assert note.startswith("`here`, attempt 1:\nTraceback (most recent call last):\n")
    assert note.endswith("in chained_exception\nValueError: no price")
    assert "in price_of\nKeyError: " in note
    assert "The above exception was the direct cause of the following exception:" in note


def test_running_to_the_end_raises_with_the_frames(tmp_path: Path) -> None:
    with SyncEngine(f"sqlite:///{tmp_path / 'layover.db'}", nodes=[chained_exception]) as engine:
        engine.register(FAILING)
        for timeout in (None, "60s"):
            with pytest.raises(ExecutionFailed, match="failed at `here`: ValueError: no price") as raised:
                engine.run("failing", timeout=timeout)
            assert "in price_of\nKeyError: " in raised.value.__notes__[0]


async def test_whatever_returns_a_failed_execution_has_its_traceback(tmp_path: Path) -> None:
    async with served(tmp_path, chained_exception) as api:
        async with Client(api.url, api_key=await api.key_of("eve:operator,admin")) as client:
            await client.register(FAILING)
            started = await client.start("failing", until="end", timeout="60s")
            assert place(started.info.error)
            with pytest.raises(ExecutionFailed) as raised:
                await client.run("failing", timeout="60s")
            assert "in price_of\nKeyError: " in raised.value.__notes__[0]
        # Who may start executions and not debug them sees the error alone, also of their own.
        wanted = {"workflow": "failing", "wait": "60s", "until": "end"}
        told = await api.post("/executions", wanted, as_="sam:operator/execution:start,execution:read")
        assert (told.json["error"]["type"], told.json["error"]["traceback"]) == ("ValueError", None)


# The first and the last attempts


async def test_of_many_attempts_the_first_and_the_latest_are_shown(tmp_path: Path) -> None:
    calls = 0
    enough = asyncio.Event()

    @node
    async def fails_each_time() -> None:
        nonlocal calls
        calls += 1
        if calls == 120:
            enough.set()
        raise RuntimeError(f"call {calls}")

    retry = {"max_attempts": "forever", "delay": "1ms", "multiplier": 1}
    definition = {"name": "again", "nodes": [{"id": "here", "type": "fails_each_time", "retry": retry}]}
    async with Engine(f"sqlite:///{tmp_path / 'layover.db'}", nodes=[fails_each_time]) as engine:
        await engine.register(definition)
        execution = await engine.start("again")
        await enough.wait()
        await execution.pause()
        (found,) = await execution.nodes().all()
        errors = [one.error for one in found.attempts if one.error is not None]
        assert errors[0].message == "call 1"
        assert errors[-1].message == f"call {errors[-1].attempt}"
        assert errors[-1].attempt >= 119
        assert len(found.attempts) == 100
        assert all(error.traceback is not None for error in errors)


async def test_a_retry_that_is_cancelled_leaves_the_attempt_and_its_traceback_as_they_were(tmp_path: Path) -> None:
    retry = {"max_attempts": 3, "delay": "1h"}
    definition = {"name": "again", "nodes": [{"id": "here", "type": "plain_exception", "retry": retry}]}
    async with Engine(f"sqlite:///{tmp_path / 'layover.db'}", nodes=[plain_exception]) as engine:
        await engine.register(definition)
        execution = await engine.start("again", until="rest")
        (waiting,) = await execution.nodes().all()
        await execution.cancel_retry("here")
        (failed,) = await execution.nodes().all()
        assert (waiting.status, failed.status) == ("backoff", "failed")
        ((before,), (after,)) = (waiting.attempts, failed.attempts)
        assert after == msgspec.structs.replace(before, retry_at=None)
        assert before.error is not None
        assert failed.error == before.error
        assert place((await execution.refresh()).info.error)
        assert place(execution.info.error) == place(before.error)


# The redaction hook


def mask(text: str) -> str:
    return text.replace("no price", "[masked]")


@pytest.mark.parametrize("hook", [mask, f"{__name__}:mask"])
async def test_the_hook_of_an_engine_is_used_while_it_is_open(
    tmp_path: Path, hook: Callable[[str], object] | str
) -> None:
    settings = Settings(redact=hook)
    async with Engine(
        f"sqlite:///{tmp_path / 'layover.db'}", nodes=[chained_exception, plain_exception], settings=settings
    ) as engine:
        await engine.register(FAILING)
        execution = await (await engine.start("failing")).wait("end", timeout="60s")
        assert execution.error is not None
        assert execution.error.message == "[masked]"
    assert redaction.redact("no price") == "no price"


@pytest.mark.parametrize("hook", ["no_such_module:mask", f"{__name__}:no_such_name", "", 7])
def test_a_hook_that_is_no_function_is_refused(tmp_path: Path, hook: Any) -> None:
    with pytest.raises(InvalidInput, match="redact"):
        Engine(f"sqlite:///{tmp_path / 'layover.db'}", settings=Settings(redact=hook))
