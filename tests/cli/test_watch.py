"""`layover watch`: one execution to its end, or all of them until the user leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from layover import Moment, Progress
from layover.admin import AdminProgress
from layover.cli.event_lines import progress_line
from layover.cli.progress_line import ProgressLine
from layover.cli.tree import progress_text
from tests.cli.conftest import go_on
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def _progress(done: float, total: float | None = None, text: str = "") -> Progress:
    return Progress(context_id="a", attempt=1, done=done, total=total, text=text, at=Moment.of(0))


@pytest.mark.parametrize(
    ("progress", "shown"),
    [
        (_progress(3, 10, "three"), "███░░░░░░░ 3/10 three"),
        (_progress(0, 10), "░░░░░░░░░░ 0/10"),
        (_progress(12, 10), "██████████ 12/10"),
        (_progress(-1, 10), "░░░░░░░░░░ -1/10"),
        (_progress(1.5), "1.5"),
        (_progress(7, 0, "of nothing"), "7 of nothing"),
        (_progress(7, text="a\x1b[2Jb\n"), "7 a\\x1b[2Jb\\n"),
    ],
)
def test_progress_is_a_bar_where_it_is_known_of_how_much(progress: Progress, shown: str) -> None:
    assert progress_text(progress) == shown
    assert progress_line(progress) == f"a: {shown}"


def test_long_work_says_now_and_then_how_far_it_is_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    with (
        ProgressLine(json=False, clock=lambda: now[0]) as line,
        ProgressLine(json=True, clock=lambda: now[0]) as silent,
    ):
        for seconds, count in ((1, 10), (11, 20), (12, 30), (30, 40)):
            now[0] = seconds
            for one in (line, silent):
                one.tell(AdminProgress(part="copying", executions=count, total=50))
    assert capsys.readouterr().err.splitlines() == [
        "copying: 20 of 50 executions",
        "copying: 40 of 50 executions",
    ]
    assert line.last is not None


def test_an_execution_is_watched_to_its_end(cli: Run, waiting: str) -> None:
    cli("answer", waiting, '{"size": 3}')
    go_on(cli, waiting)
    cli("approve", waiting, "--role", "boss")
    go_on(cli, waiting)
    ran = cli("watch", waiting)
    assert ran.code == 0
    assert "waits (form)" in ran.out
    assert ran.out.splitlines()[-1] == f"{waiting} completed"


def test_machines_get_one_object_for_each_event(cli: Run) -> None:
    failed = cli("run", "breaking.yaml", "--nodes", "nodes.py", "--input", '{"message": "\\ud83e\\udd86"}', "--json")
    ran = cli("watch", failed.id, "--json")
    lines = [msgspec.json.decode(line) for line in ran.out.splitlines()]
    assert ran.code == 1
    assert lines[-1]["type"] == "ExecutionFailed"
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert ran.out.isascii()


def test_all_executions_are_watched_until_the_user_leaves(waiting: str, project: Path) -> None:
    with Terminal("watch", folder=project) as terminal:
        terminal.until(f"{waiting}  ")
        terminal.until("paused")
        terminal.control_c()
        assert terminal.end() == 130


def test_lines_that_were_kept_are_printed(cli: Run, monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    (project / "speaking.py").write_text(
        "from layover import SyncNodeContext\n\n\ndef speak(context: SyncNodeContext) -> None:\n"
        "    context.log.info('hello\\nworld')\n"
    )
    (project / "speaking.yaml").write_text("name: speaking\nnodes: [{id: a, type: speak}]\n")
    run = ("run", "speaking.yaml", "--nodes", "speaking.py", "--json")
    silent = cli(*run)
    monkeypatch.setenv("LAYOVER_NODE_LOGS", "true")
    kept = cli(*run)
    assert "No lines of it are kept" in cli("logs", silent.id).err
    assert "No lines of its node `b` are kept" in cli("logs", silent.id, "--node", "b").err
    first, second = cli("logs", kept.id, "--node", "a").out.splitlines()
    assert first.endswith("  info     a  hello")
    assert second == "    world"
    [line] = [msgspec.json.decode(text) for text in cli("logs", kept.id, "--json", "--follow").out.splitlines()]
    assert (line["context_id"], line["text"]) == ("a", "hello\nworld")
    assert "hello" not in kept.err
