"""What node functions log is kept with their execution, if the setting says so: bounded, masked, beside every step."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from layover import Client, Engine, LogLine, NodeContext, NotAllowed, Settings, SyncNodeContext
from layover.logs.capture import MOST_CHARACTERS, MOST_LINES, AttemptLines, CapturedLine, LineRoom
from layover.ports.errors import StoreUnavailable
from layover.ports.view_records import LogChunk
from layover.runtime.results.log_lines import lines_of, pack_lines
from tests.api.harness import ADMIN_KEY, served
from tests.runtime.harness import Between, address_in, call, engine_at, engine_on, flow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from layover import ExecutionHandle

_log = logging.getLogger("shop")
KEEP = Settings(node_logs=True)


async def speak(context: NodeContext, n: int = 1) -> None:
    context.log.info("one %d", n)
    context.log.debug("not kept")
    _log.warning("two token=abcdefgh12345678")
    print("not a log line")  # noqa: T201 - that is the point
    await asyncio.to_thread(_log.error, "three")


def shout(context: SyncNodeContext) -> None:
    context.log.info("from a thread")
    try:
        raise OSError("gone")  # noqa: TRY301 - it is logged
    except OSError:
        context.log.exception("it failed")


async def _lines(execution: ExecutionHandle, **wanted: str) -> list[LogLine]:
    return [line async for line in execution.logs(**wanted)]  # type: ignore[arg-type]  # as the tests give them


@pytest.mark.usefixtures("each_database")
async def test_lines_are_kept_with_their_call_and_masked(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path), nodes=[speak, shout], settings=KEEP) as engine:
        await engine.register(flow(call("a", "speak"), call("b", "shout")))
        id_ = (await engine.start("flow", until="end")).id
    async with Engine(address_in(tmp_path), settings=Settings(executions=0)) as later:
        execution = await later.execution(id_)
        lines = await _lines(execution)
        only_b = await _lines(execution, node="b")
    assert [(line.context_id, line.level, line.text) for line in lines[:3]] == [
        ("a", "info", "one 1"),
        ("a", "warning", "two token=[redacted]"),
        ("a", "error", "three"),
    ]
    assert {line.attempt for line in lines} == {1}
    assert lines[0].logger == "layover.node"
    assert [line.text.splitlines()[0] for line in lines[3:]] == ["from a thread", "it failed"]
    assert lines[4].text.splitlines()[-1] == "OSError: gone"
    assert only_b == lines[3:]


async def test_nothing_is_kept_and_nothing_is_configured_by_default(tmp_path: Path) -> None:
    handlers = list(logging.root.handlers)
    async with Engine(address_in(tmp_path), nodes=[speak]) as engine:
        assert logging.root.handlers == handlers
        await engine.register(flow(call("a", "speak")))
        assert await _lines(await engine.start("flow", until="end")) == []


async def test_logging_is_as_it_was_when_the_last_engine_has_closed(tmp_path: Path) -> None:
    before = list(logging.root.handlers), logging.getLogger("layover.node").level
    async with Engine(address_in(tmp_path), settings=KEEP), Engine(f"{address_in(tmp_path)}2", settings=KEEP):
        assert len(logging.root.handlers) == len(before[0]) + 1
    assert (list(logging.root.handlers), logging.getLogger("layover.node").level) == before


async def test_of_many_lines_the_first_and_the_last_half_are_kept_and_the_dropped_are_counted(tmp_path: Path) -> None:
    async def chatter(context: NodeContext) -> None:
        for n in range(2_500):
            context.log.info("%04d %s", n, "x" * 3_000)

    async with Engine(address_in(tmp_path), nodes=[chatter], settings=KEEP) as engine:
        await engine.register(flow(call("a", "chatter")))
        id_ = (await engine.start("flow", until="end")).id
    async with Engine(address_in(tmp_path), settings=Settings(executions=0)) as later:
        lines = await _lines(await later.execution(id_))
    assert len(lines) == MOST_LINES + 1
    assert [line.text[:4] for line in lines[:500]] == [f"{n:04d}" for n in range(500)]
    assert lines[500].text.startswith("1,500 lines were dropped")
    assert [line.text[:4] for line in lines[501:]] == [f"{n:04d}" for n in range(2_000, 2_500)]
    assert max(len(line.text) for line in lines) == MOST_CHARACTERS


@pytest.mark.usefixtures("each_database")
async def test_the_last_lines_of_a_call_that_runs_on_are_written_as_they_come(tmp_path: Path) -> None:
    go_on, said = asyncio.Semaphore(0), asyncio.Semaphore(0)
    lines: list[str] = []

    async def chatter(context: NodeContext) -> None:
        for n in range(2_000):
            context.log.info("%04d", n)
            if n % 250 == 249:
                said.release()
                await go_on.acquire()

    async with engine_at(tmp_path, chatter, node_logs=True) as engine:
        await engine.workflows.register(flow(call("a", "chatter")))
        id_ = (await engine.executions.start("flow")).id
        logs, reports = engine.instance.node_logs, engine.instance.store.node_reports
        assert logs is not None
        for n in range(1, 9):
            await said.acquire()
            await logs.flush()
            lines = [line.text for chunk in await reports.read_logs(id_, "", None, 99) for line in lines_of(chunk)]
            assert lines[-1] == f"{n * 250 - 1:04d}"  # while the call runs
            go_on.release()
        await engine.executions.result(id_)
    told = ["1,000 lines were dropped here: only so many are kept of an attempt."]
    assert lines == [f"{n:04d}" for n in range(500)] + told + [f"{n:04d}" for n in range(1_500, 2_000)]


async def test_an_execution_keeps_only_so_many_bytes_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine_at(tmp_path, speak, node_logs=True, node_log_bytes=1) as engine:
        await engine.workflows.register(flow(*(call(f"n{n}", "speak") for n in range(3))))
        id_ = (await engine.executions.start("flow", wait="end")).id
        assert engine.instance.node_logs is not None
        await engine.instance.node_logs.flush()
        kept = await engine.instance.store.node_reports.read_logs(id_, "", None, 100)
    assert 0 < len(kept) < 3
    assert [line for line in caplog.messages if line.startswith("node_logs_full")] == [
        f"node_logs_full execution={id_} bytes=1"
    ]


async def test_watching_yields_log_lines_to_users_who_may_debug(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def work(context: NodeContext) -> None:
        context.log.info("working")
        await go_on.wait()

    async with served(tmp_path, work, node_logs=True) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        await client.register(flow(call("a")))
        execution = await client.start("flow")
        seen: list[LogLine] = []
        async for one in execution.watch():
            if isinstance(one, LogLine):
                seen.append(one)
                go_on.set()
        async with Client(api.url, api_key=await api.key_of("bob:viewer")) as viewer:
            shown = [one async for one in (await viewer.execution(execution.id)).watch()]
    assert [line.text for line in seen] == ["working"]
    assert not [one for one in shown if isinstance(one, LogLine)]


async def test_fields_are_kept_and_masked(tmp_path: Path) -> None:
    async def chat() -> None:
        _log.warning("charged", extra={"order": 7, "password": "hunter2", "to": {"token": "hunter2"}})

    async with Engine(address_in(tmp_path), nodes=[chat], settings=KEEP) as engine:
        await engine.register(flow(call("a", "chat")))
        id_ = (await engine.start("flow", until="end")).id
    async with Engine(address_in(tmp_path), settings=Settings(executions=0)) as later:
        lines = await _lines(await later.execution(id_))
    assert [line.text for line in lines] == ['charged order=7 password=[redacted] to={"token":"[redacted]"}']


def test_a_line_that_is_no_text_is_kept_as_far_as_it_goes() -> None:
    chunk = LogChunk(
        execution_id="", id="", node="a", attempt=1, at=0, lines=1, dropped=0,
        body=pack_lines([CapturedLine(0, "info", "shop", "half \udcff")]),
    )  # fmt: skip
    assert [line.text for line in lines_of(chunk)] == ["half \\udcff"]


def test_lines_beyond_what_an_instance_holds_are_dropped_and_counted() -> None:
    room, told = LineRoom(2_500), list[AttemptLines]()
    first, second = AttemptLines(room, told.append), AttemptLines(room, told.append)
    for _ in range(4):
        first.add(CapturedLine(0, "info", "shop", "x" * 800))
    second.add(CapturedLine(0, "info", "shop", "y" * 800))
    taken = first.take()
    assert (len(taken.first), taken.dropped, told) == (2, 2, [first, second])
    assert second.take() == ([], [], 1)
    room.give_back(taken.first)
    assert room.left == 2_500


class Unkept(Between):
    """A database that takes no log lines."""

    tried = 0

    async def node_reports_add_logs(self, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:  # noqa: ARG002 - as the store
        self.tried += 1
        raise StoreUnavailable("The database does not answer.")


async def test_lines_that_the_database_does_not_take_are_lost_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Unkept(tmp_path)
    async with engine_on(store, speak, node_logs=True) as engine:
        await engine.workflows.register(flow(call("a", "speak"), call("b", "speak")))
        assert (await engine.executions.start("flow", wait="end")).status == "completed"
        assert engine.is_working
    assert store.tried
    assert len([line for line in caplog.messages if line.startswith("node_logs_lost")]) == 1


PROGRAM = """
import asyncio, logging, sys
from layover import Engine, Settings, configure_logging

async def work() -> None:
    logging.getLogger("shop").info("kept")
    logging.getLogger("shop").debug("not kept")

async def main() -> None:
    async with Engine("sqlite:///shop.db", nodes=[work], settings=Settings(node_logs=True)) as engine:
        await engine.register("name: flow\\nnodes: [{id: a, type: work}]")
        execution = await engine.start("flow", until="end")
        id_ = execution.id
    print(logging.getLogger().level, logging.getLogger("layover").level)
    async with Engine("sqlite:///shop.db") as engine:
        print([line.text async for line in (await engine.execution(id_)).logs()])

exec(sys.argv[1])
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("configured", "kept"),
    [
        ("", True),
        ("configure_logging('warning')", True),
        ("logging.basicConfig(level='WARNING')", False),  # its handler would write what it did not before
        ("logging.basicConfig(level='INFO', stream=sys.stderr)", True),
    ],
)
def test_lines_at_info_are_kept_unless_a_handler_of_the_program_would_write_them(
    tmp_path: Path, configured: str, kept: bool
) -> None:
    done = subprocess.run(  # noqa: S603 - our own program, with logging as it is in a new process
        [sys.executable, "-c", PROGRAM, configured], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    level, lines = done.stdout.splitlines()
    assert level == ("20 0" if "INFO" in configured else "30 0")  # as it was
    assert lines == ("['kept']" if kept else "[]")
    if "INFO" not in configured:
        assert done.stderr == ""


async def test_over_http_lines_need_the_permission_to_debug(tmp_path: Path) -> None:
    async with served(tmp_path, speak, node_logs=True) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        await client.register(flow(call("a", "speak")))
        execution = await client.start("flow", until="end")
        assert api.engine.instance.node_logs is not None
        await api.engine.instance.node_logs.flush()
        told = await api.get(f"/executions/{execution.id}/logs", as_="ann:operator")
        behind = await api.get(f"/executions/{execution.id}/logs?cursor={told.json['next']}")
        refused = await api.get(f"/executions/{execution.id}/logs", as_="bob:viewer")
        wrong = await api.get(f"/executions/{execution.id}/logs?cursor=x")
        lines = await _lines(execution)
        async with Client(api.url, api_key=await api.key_of("bob:viewer")) as viewer:
            with pytest.raises(NotAllowed):
                await _lines(await viewer.execution(execution.id))
    assert [item["text"] for item in told.json["items"]] == [line.text for line in lines]
    assert len(lines) == 3
    assert behind.json == {"items": [], "next": None}
    assert (refused.status, refused.code) == (403, "forbidden")
    assert (wrong.status, wrong.code) == (400, "malformed_cursor")


async def test_followed_lines_end_with_the_execution(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path), nodes=[speak], settings=KEEP) as engine:
        await engine.register(
            flow(call("a", "speak"), {"id": "w", "type": "delay", "duration": "50ms"}, call("b", "speak"))
        )
        execution = await engine.start("flow")
        seen = [line.context_id async for line in execution.logs(follow=True)]
    assert seen == ["a"] * 3 + ["b"] * 3
