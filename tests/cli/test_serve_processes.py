"""`layover serve --processes`: processes that share a port, their metrics, and what becomes of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from layover.cli.process_folder import process_folder
from tests.cli.serving import ALL, sent, serving


def test_several_processes_serve_one_port_and_one_that_dies_is_replaced(folder: Path) -> None:
    with serving(folder, *ALL, "--processes", "2", LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        pids = [int(pid) for pid in server.said(r"2 processes: ([0-9, ]+)").split(", ")]
        instances: set[str] = set()
        while len(instances) < 2:
            status, ready = server.ask("GET", "/readyz")
            assert status == 200
            instances.add(ready["instance"])
        assert {int(name.split("-")[-2]) for name in instances} == set(pids)
        os.kill(pids[0], signal.SIGKILL)
        server.said("another takes its place")
        while len(instances) < 3:
            instances.add(server.ask("GET", "/readyz")[1]["instance"])
        assert server.stop() == 0
        assert "Stopped." in server.printed
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_processes_end_when_the_one_that_started_them_is_killed(folder: Path) -> None:
    with serving(folder, *ALL, "--processes", "2", LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        instances: set[str] = set()
        while len(instances) < 2:
            instances.add(server.ask("GET", "/readyz")[1]["instance"])
        server.process.kill()
        server.said("engine_closed(?s:.*)engine_closed(?s:.*)engine_closed")  # the first one prepared the database
        server.said("(<end>)")  # they held its output open as long as they lived


def test_a_folder_that_a_killed_supervisor_left_is_removed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = "import os, sys, tempfile; from layover.cli.process_folder import process_folder\n"
    program += "with process_folder() as folder: print(folder, flush=True); sys.stdin.read(); os._exit(9)"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(  # noqa: S603 - this program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as killed:
        assert killed.stdout is not None
        left = Path(killed.stdout.readline().strip())
        with process_folder() as own:
            assert left.exists()  # its supervisor lives
            assert own != left
        assert left.exists()
        killed.kill()
        killed.wait()
    assert left.exists()
    (tmp_path / "layover-processes-of-another-kind").mkdir()
    with process_folder() as own:
        assert not left.parent.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["layover-processes-of-another-kind"]


def test_metrics_are_those_of_all_processes_and_never_go_backwards(folder: Path) -> None:
    with serving(folder, *ALL, "--processes", "2", LAYOVER_ADMIN_KEY="a-key-that-nobody-knows") as server:
        pids = [int(pid) for pid in server.said(r"2 processes: ([0-9, ]+)").split(", ")]
        told = [0.0]

        def scrape() -> float:
            _, text = sent("GET", f"{server.url}/metrics", {})
            counted = re.findall(rb'request_duration_seconds_count{.*route="/readyz".*} (\S+)', text)
            told.append(sum(map(float, counted)))
            assert told == sorted(told)
            return told[-1]

        instances: set[str] = set()
        asked = 0
        while len(instances) < 2:
            instances.add(server.ask("GET", "/readyz")[1]["instance"])
            asked += 1
        while scrape() < asked:  # the other process writes every second
            pass
        assert told[-1] == asked
        os.kill(pids[0], signal.SIGKILL)
        server.said("another takes its place")
        while len(instances) < 3:
            instances.add(server.ask("GET", "/readyz")[1]["instance"])
            asked += 1
            scrape()
        while scrape() < asked:
            pass
        assert told[-1] == asked
        assert server.stop() == 0


def test_several_processes_register_with_the_settings_that_are_given(folder: Path) -> None:
    (folder / "rounds.yaml").write_text(
        "name: rounds\nnodes: [{id: r, type: loop, for_each: input.all, body: [{id: x, type: approval}]}]\n"
    )
    (folder / "layover.toml").write_text("processes = 2\nmax_iterations = 7\n")
    key = "a-key-that-nobody-knows"
    with serving(folder, "rounds.yaml", LAYOVER_ADMIN_KEY=key) as server:
        server.said(r"2 processes: ([0-9, ]+)")
        status, found = server.ask("GET", "/api/v1/workflows/rounds", key=key)
        assert (status, found["definition"]["nodes"][0]["max_iterations"]) == (200, 7)
        assert server.stop() == 0
