"""Metrics of the processes that serve one port: added, never backwards, and without the gauges of dead processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec

from layover.api.metrics import process_numbers
from layover.api.sibling_metrics import ProcessNumbers, SiblingMetrics
from tests.api.harness import listening
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from layover.metrics.samples import Numbers


class Counted:
    """A process that has counted so much."""

    def __init__(self, started: float, driven: float) -> None:
        self.started = started
        self.driven = driven

    def read(self) -> ProcessNumbers:
        sums: Numbers = {("started_total", ("workflow", "order")): [self.started]}
        return ProcessNumbers(sums=sums, gauges={("driven", ()): [self.driven]})


def told(siblings: SiblingMetrics) -> tuple[float, float]:
    numbers = siblings.of_all()
    return numbers["started_total", ("workflow", "order")][0], numbers.get(("driven", ()), [0.0])[0]


def dead_pid() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_whichever_process_answers_gives_the_numbers_of_all(tmp_path: Path) -> None:
    one, two = Counted(3, 1), Counted(4, 2)
    first, second = SiblingMetrics(tmp_path / "0", one.read), SiblingMetrics(tmp_path / "1", two.read)
    first.write()
    second.write()

    assert told(first) == told(second) == (7, 3)
    one.started += 1
    assert told(first) == (8, 3)
    assert told(second) == (8, 3)  # what was told before is written


def test_a_process_that_takes_the_place_of_a_dead_one_goes_on_from_its_counters(tmp_path: Path) -> None:
    other = SiblingMetrics(tmp_path / "1", Counted(4, 2).read)
    SiblingMetrics(tmp_path / "0", Counted(10, 5).read).write()
    assert told(other) == (14, 7)
    next_ = Counted(0, 0)
    successor = SiblingMetrics(tmp_path / "0", next_.read)
    assert told(other) == (14, 7)
    assert told(successor) == (14, 2)
    next_.started = 1
    assert told(successor) == (15, 2)
    assert told(other) == (15, 2)
    assert told(SiblingMetrics(tmp_path / "0", Counted(1, 1).read)) == (16, 3)


def test_without_their_folder_a_process_tells_its_own_numbers_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = Counted(3, 1)
    siblings = SiblingMetrics(tmp_path / "gone" / "0", one.read)
    assert told(siblings) == (3, 1)
    one.started = 4
    assert told(siblings) == (4, 1)
    assert [record.getMessage().split()[0] for record in caplog.records] == ["metrics_not_shared"]


def test_gauges_of_a_dead_process_do_not_count(tmp_path: Path) -> None:
    SiblingMetrics(tmp_path / "0", Counted(10, 5).read).write()
    slot = msgspec.msgpack.decode((tmp_path / "0").read_bytes())
    assert slot[0] == os.getpid()
    (tmp_path / "0").write_bytes(msgspec.msgpack.encode([dead_pid(), *slot[1:]]))

    assert told(SiblingMetrics(tmp_path / "1", Counted(1, 1).read)) == (11, 1)


def test_a_folder_that_is_gone_does_not_stop_a_scrape(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    siblings = SiblingMetrics(folder / "0", Counted(1, 1).read)
    folder.rmdir()
    assert siblings.write().gauges == {("driven", ()): [1]}


async def test_a_scrape_adds_what_the_others_have_written(tmp_path: Path) -> None:
    folder = tmp_path / "slots"
    folder.mkdir()
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        services = api.services
        await engine.workflows.register("name: ask\nnodes: [{id: a, type: approval}]")
        await engine.executions.start("ask", wait="rest")
        alone = await api.get("/metrics", as_="")
        SiblingMetrics(folder / "1", lambda: process_numbers(services)).write()
        services.siblings = SiblingMetrics(folder / "0", lambda: process_numbers(services))
        both = await api.get("/metrics", as_="")

    assert b'\nlayover_executions_started_total{workflow="ask"} 1.0\n' in alone.body
    assert b'\nlayover_executions_started_total{workflow="ask"} 2.0\n' in both.body
    assert b'\nlayover_executions{status="paused"} 1.0\n' in both.body  # which the database says
    assert b"\nlayover_commit_batch_size_count 1.0\n" in alone.body
    assert series(alone.body) == series(both.body)


def series(body: bytes) -> list[str]:
    """Return the names and labels of a scrape, without those that a scrape itself brings."""
    lines = [line.rpartition(" ")[0] for line in body.decode().splitlines()]
    return [line for line in lines if "http_request" not in line and "store_read" not in line]
