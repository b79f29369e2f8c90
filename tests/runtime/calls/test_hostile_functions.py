"""Functions that are not to be trusted: whatever one does fails its own node and nothing else."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import CancelledError
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import NoReturn

import pytest

from layover.core.payloads import MAX_INLINE
from tests.runtime.harness import Held, Scripted, call, end, engine_at, flow

ANY = flow(call("a", next={"done": "well", "error": "badly"}), {**end("well", "well"), "next": None},
           end("${errors.a}", "badly"))  # fmt: skip

RAISED: list[BaseException] = [
    SystemExit(1),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError(),
    CancelledError(),
    StopIteration(),
    StopAsyncIteration(),
    MemoryError(),
    RecursionError(),
    BaseExceptionGroup("many", [SystemExit(1)]),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_whatever_is_raised_fails_its_node_only(tmp_path: Path, error: BaseException, kind: str) -> None:
    async def work_async() -> NoReturn:
        raise error

    def work_sync() -> NoReturn:
        raise error

    work = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    other = Held("other")
    async with engine_at(tmp_path, work, other) as engine:
        await engine.workflows.register(ANY)
        await engine.workflows.register(flow(call("b", "other"), name="bystander"))
        bystander = await engine.executions.start("bystander")
        running = await other.begun()
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, dict)
        assert done.output["type"] in {
            type(error).__name__,
            "RuntimeError",
        }  # a coroutine cannot raise some as they are
        running.returns("untouched")
        assert await engine.executions.result(bystander.id) == "untouched"


async def test_an_error_that_closes_coroutines_is_kept_whole_and_ends_no_worker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> NoReturn:
        raise GeneratorExit("too early")

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(ANY)
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, dict)
        assert (done.output["type"], done.output["message"]) == ("RuntimeError", "the function raised GeneratorExit")
        error = (await engine.queries.nodes(done.id, tracebacks=True))[0].attempts[0].error
        assert error is not None
        assert "too early" in error.formatted()
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_an_error_without_a_text_is_logged_by_its_type(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with engine_at(tmp_path, Scripted(MemoryError())) as engine:
        await engine.workflows.register(ANY)
        await engine.executions.start("flow", wait="end")
    (line,) = [text for text in caplog.messages if text.startswith("attempt_failed")]
    assert " error=MemoryError retry_at=" in line


class Unspeakable(Exception):  # noqa: N818 - it says what it is
    def __str__(self) -> str:
        raise RuntimeError("not even its text")

    @property
    def status(self) -> int:
        raise RuntimeError("nor its status")

    @property
    def retryable(self) -> bool:
        raise RuntimeError("nor that")


class Enormous(Exception):  # noqa: N818 - it says what it is
    status = 10**30


@pytest.mark.parametrize("error", [Unspeakable(), Enormous(), ValueError("\udc80 lone"), ValueError("x" * 10_000_000)])
async def test_an_error_that_is_hard_to_encode_fails_its_node(tmp_path: Path, error: Exception) -> None:
    async with engine_at(tmp_path, Scripted(error)) as engine:
        await engine.workflows.register(ANY)
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, dict)
        assert done.output["type"] == type(error).__name__
        assert len(str(done.output["message"])) <= 2_000


@pytest.mark.parametrize(
    ("output", "code"),
    [(object(), "payload_not_json"), ("\udc80", "payload_not_json"), ("x" * MAX_INLINE, "payload_too_large"),
     ({"$secret": "NAME"}, "payload_reserved")],
    ids=["object", "surrogate", "large", "reserved"],
)  # fmt: skip
async def test_an_output_that_cannot_be_kept_fails_its_node(tmp_path: Path, output: object, code: str) -> None:
    async with engine_at(tmp_path, Scripted(output)) as engine:
        await engine.workflows.register(ANY)
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, dict)
        assert done.output["code"] == code


async def test_a_function_that_is_given_the_wrong_arguments_fails_its_node(tmp_path: Path) -> None:
    async def work(wanted: int) -> int:
        return wanted

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(ANY)
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, dict)
        assert (done.output["type"], "wanted" in done.output["message"]) == ("BadInput", True)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_function_that_changes_what_it_is_given_changes_nothing_else(tmp_path: Path, kind: str) -> None:
    async def work_async(lines: list[int], box: dict[str, object]) -> int:
        lines.append(2)
        box["spoiled"] = True
        return len(lines)

    def work_sync(lines: list[int], box: dict[str, object]) -> int:
        lines.append(2)
        box["spoiled"] = True
        return len(lines)

    work = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    given = {"lines": "${input.lines}", "box": "${vars.box}"}
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(
                call("a", input=given),
                call("b", input=given),
                end(["${input.lines}", "${vars.box}", "${nodes.b}"]),
                variables={"box": {}},
            )
        )
        for _ in range(2):  # the definition is not spoiled either
            done = await engine.executions.start("flow", {"lines": [1]}, wait="end")
            assert done.output == [[1], {}, 2]
            assert (await engine.queries.nodes(done.id))[0].input == {"lines": [1], "box": {}}
