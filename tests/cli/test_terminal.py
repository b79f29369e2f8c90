"""`layover` in a real terminal: the live tree, questions, Ctrl-C, a window of another size; workers and signals."""

from __future__ import annotations

import json
import re
import signal
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

RUN = ("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}')
ID = "00000000-0000-4000-8000-000000000001"


def test_a_person_is_asked_field_by_field_and_decides(project: Path) -> None:
    with Terminal(*RUN, "--role", "boss", "--by", "ada", folder=project) as terminal:
        terminal.until("Which size for Ada?")
        terminal.until("size (integer):")
        terminal.type("many\n")
        terminal.until("is not of type")
        terminal.until("size (integer):")
        terminal.type("0\n")
        terminal.until("less than the minimum")
        terminal.until("size (integer):")
        terminal.type("\n")
        terminal.until("size is needed")
        terminal.type("3\n")
        terminal.until("colour (red, blue) [red]:")
        terminal.type("green\n")
        terminal.until("is not one of")
        terminal.until("colour (red, blue) [red]:")
        terminal.type("\n")
        terminal.until("May it go out?")
        terminal.until("Approve? [y/n]")
        terminal.type("perhaps\n")
        terminal.until("yes or no?")
        terminal.type("y\n")
        terminal.until("Comment")
        terminal.type("go\n")
        terminal.until('output: {"greeting":"hello Ada","size":3}')
        assert terminal.end() == 0
        last = terminal.text.rpartition("  completed\r\n")[2]
    assert re.search(r"✓ review +approval  completed  → approved", last)


def test_control_c_leaves_a_question_open(project: Path, cli: Run) -> None:
    with Terminal(*RUN, "--id", ID, folder=project) as terminal:
        terminal.until("size (integer):")
        terminal.control_c()
        terminal.until(f"{ID} paused: `size` waits for an answer by anybody.")
        terminal.until("nothing of it is lost")
        assert terminal.end() == 10
    assert "size" in cli("inbox").out
    with Terminal(
        "run", "asking.yaml", "--nodes", "nodes.py", "--id", ID, "--role", "boss", folder=project
    ) as terminal:
        terminal.until("size (integer):")
        terminal.type("4\n")
        terminal.until("colour")
        terminal.type("blue\n")
        terminal.until("Approve?")
        terminal.control_c()
        assert terminal.end() == 10
    found = cli("show", ID, "--json").json
    assert found["nodes"][1]["output"] == {"size": 4, "colour": "blue"}


def test_the_end_of_input_leaves_a_question_open(project: Path) -> None:
    with Terminal(*RUN, folder=project) as terminal:
        terminal.until("size (integer):")
        terminal.type("\x04")
        assert terminal.end() == 10


def test_a_question_that_is_not_ours_is_left_to_others(project: Path) -> None:
    with Terminal(*RUN, "--by", "ada", folder=project) as terminal:
        terminal.until("size (integer):")
        terminal.type("1\n")
        terminal.until("colour")
        terminal.type("\n")
        terminal.until("paused: `review` waits for a decision by role boss.")
        terminal.until("--role boss")
        assert terminal.end() == 10
        assert "Approve?" not in terminal.text


def test_a_question_that_another_user_answers_goes_away(project: Path, cli: Run) -> None:
    with Terminal(*RUN, "--id", ID, "--role", "boss", folder=project) as terminal:
        terminal.until("size (integer):")
        terminal.type("yes")
        terminal.until("yes")
        assert cli("answer", ID, '{"size": 7}').code == 0
        terminal.until("`size` no longer waits for an answer.")
        terminal.until("Approve?")
        terminal.type("\n")
        terminal.until("yes or no?")  # what was typed for one question is no answer to the next
        terminal.until("Approve?")
        assert cli("approve", ID, "--role", "boss").code == 0
        terminal.until('output: {"greeting":"hello Ada","size":7}')
        assert terminal.end() == 0


def test_control_c_leaves_an_execution_that_only_waits(project: Path) -> None:
    (project / "long.yaml").write_text("name: long\nnodes: [{id: rest, type: delay, duration: 3d}]\n")
    with Terminal("run", "long.yaml", "--id", ID, folder=project) as terminal:
        terminal.until("‖ rest")
        terminal.control_c()
        terminal.until(f"{ID} waiting: `rest` waits for time to pass.")
        assert terminal.end() == 10


def test_control_c_waits_for_a_call_and_pressed_again_leaves_it(project: Path, cli: Run) -> None:
    (project / "other_hangs.py").write_text("import asyncio\nasync def hang(): await asyncio.Event().wait()\n")
    (project / "hangs.yaml").write_text("name: hangs\nnodes: [{id: work, type: hang}]\n")
    with Terminal("run", "hangs.yaml", "--nodes", "other_hangs.py", "--id", ID, folder=project) as terminal:
        terminal.until("▶ work")
        terminal.control_c()
        terminal.until("Waiting for 1 call to end")
        terminal.control_c()
        terminal.until(f"{ID} running: `work` is running on")
        assert terminal.end() == 10
    assert cli("verify").code == 0


def test_without_watching_a_terminal_gets_plain_lines(project: Path) -> None:
    with Terminal(*RUN, "--no-watch", folder=project) as terminal:
        terminal.until("hello: completed")
        assert terminal.end() == 10
        assert "Approve" not in terminal.text
        assert "\x1b[?25l" not in terminal.printed


def test_the_tree_follows_the_size_of_the_window(project: Path) -> None:
    (project / "wide.yaml").write_text(
        "name: wide\nnodes:\n  - {id: " + "w" * 60 + ", type: delay, duration: 3d, label: x}\n"
    )
    with Terminal("run", "wide.yaml", "--id", ID, folder=project, columns=120) as terminal:
        terminal.until("w" * 60)
        terminal.until("waiting")
        terminal.resize(20, 40)
        terminal.until("www…")
        after = terminal.text
        terminal.until("www…")
        terminal.until("www…")
        drawn = terminal.text[len(after) :].replace("\r", "\n")
        assert max(len(line) for line in drawn.split("\n")) <= 40
        terminal.control_c()
        assert terminal.end() == 10
    assert terminal.printed.count("\x1b[?25l") == terminal.printed.count("\x1b[?25h")  # the cursor is back


def test_a_tree_that_is_higher_than_the_window_is_cut_until_the_end(project: Path) -> None:
    nodes = [f"{{id: n{n}, type: set, values: {{v: {n}}}, next: n{n + 1}}}" for n in range(30)]
    (project / "high.yaml").write_text(
        f"name: high\nnodes: [{', '.join(nodes)}, {{id: n30, type: form, title: Done, schema: {{type: string}}}}]\n"
    )
    with Terminal("run", "high.yaml", folder=project, rows=12) as terminal:
        drawn = terminal.until("Answer:")
        assert "  … 22 lines" in drawn
        assert "✓ n21 " not in drawn
        assert "✓ n22 " in drawn
        terminal.type("yes\n")
        terminal.until('output: "yes"')
        assert terminal.end() == 0
        assert "✓ n0 " in terminal.text


def test_hostile_titles_do_nothing_to_the_terminal(project: Path) -> None:
    (project / "hostile.yaml").write_text(
        'name: hostile\nnodes: [{id: ask, type: form, title: "\\e[2J${input}", schema: {type: string}}]\n'
    )
    with Terminal(
        "run", "hostile.yaml", "--input", '"\\u001b]0;owned\\u0007\\u202e[bold]"', folder=project
    ) as terminal:
        terminal.until(r"\x1b[2J\x1b]0;owned\x07\u202e[bold]")
        terminal.until("Answer:")
        terminal.type("fine\n")
        terminal.until('output: "fine"')
        assert terminal.end() == 0
    assert "\x1b[2J" not in terminal.printed
    assert "\x1b]0;" not in terminal.printed
    assert "\u202e" not in terminal.printed


FETCH = """
name: fetch
nodes:
  - {id: ask, type: form, title: May I?}
  - {id: get, type: http, url: "${input.url}"}
edges: [{from: ask, to: get}]
"""


@pytest.mark.parametrize(("words", "status"), [((), "failed"), (("--http-private",), "completed")])
def test_a_worker_reaches_what_is_not_public_only_if_it_is_asked_for(
    project: Path, cli: Run, words: tuple[str, ...], status: str
) -> None:
    (project / "fetch.yaml").write_text(FETCH)
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{site.server_port}/nodes.py"
        id_ = cli("run", "fetch.yaml", "--nodes", "nodes.py", "--input", json.dumps({"url": url}), "--json").id
        with Terminal("worker", "--nodes", "nodes.py", *words, folder=project) as terminal:
            terminal.until("Working on ")
            assert cli("answer", id_, "{}").code == 0
            while (found := cli("show", id_, "--json").json["status"]) not in ("completed", "failed"):
                pass
            terminal.signal(signal.SIGTERM)
            assert terminal.end() == 0
        site.shutdown()
    assert found == status


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_works_until_a_signal_stops_it(project: Path, cli: Run, stop: signal.Signals) -> None:
    id_ = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}', "--json").id
    with Terminal("worker", "--nodes", "nodes.py", folder=project) as terminal:
        terminal.until("Working on sqlite:///layover.db as ")
        terminal.until("node types: break_down, greet, http")
        answered = cli("answer", id_, '{"size": 1}')
        assert "A running instance applies it" in answered.err
        assert any(cli("why", id_).out.startswith("`review` waits") for _ in range(200))
        terminal.signal(stop)
        terminal.until("Stopped.")
        assert terminal.end() == 0
    assert not (project / "layover.db-instances").exists()


def test_a_worker_without_functions_is_refused(cli: Run) -> None:
    code, _, err = cli("worker")
    assert code == 2
    assert "--nodes" in err


def test_an_execution_survives_a_process_that_is_killed(project: Path, cli: Run) -> None:
    with Terminal(*RUN, "--id", ID, folder=project) as terminal:
        terminal.until("size (integer):")
        terminal.signal(signal.SIGKILL)
        assert terminal.end() == -signal.SIGKILL
    assert cli("answer", ID, '{"size": 2}').code == 0
    assert cli("run", "asking.yaml", "--nodes", "nodes.py", "--id", ID).code == 10
    assert cli("verify").code == 0
