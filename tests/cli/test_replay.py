"""`layover replay`: what changed with each event, the whole state after one, and by keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.conftest import go_on

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_each_event_is_printed_with_what_it_changed(cli: Run, waiting: str) -> None:
    code, out, err = cli("replay", waiting)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    events = [line for line in lines if not line.startswith("      ")]
    assert len(events) == len(cli("history", waiting).out.splitlines())
    assert lines[1].strip() == "status: pending"
    assert any("status: paused" in line for line in lines)
    later = cli("replay", waiting, "--since", "2").out.splitlines()
    assert later == lines[lines.index(events[2]) :]


def test_the_state_after_one_event_is_shown_whole(cli: Run, waiting: str) -> None:
    steps = cli("replay", waiting, "--json").json["items"]
    assert cli("replay", waiting, "--event", "1", "--json").json == steps[1]
    shown = cli("replay", waiting, "--event", str(len(steps) - 1)).out
    assert "status: paused" in shown
    assert "waits:" in shown
    for beyond in ("-1", str(len(steps))):
        code, _, err = cli("replay", waiting, f"--event={beyond}")
        assert code == 2
        assert f"the last event has the number {len(steps) - 1}" in err


def test_keys_go_forward_and_back(cli: Run, waiting: str) -> None:
    last = len(cli("history", waiting).out.splitlines()) - 1
    code, out, _ = cli("replay", waiting, "--step", stdin=f"\n\nb\n{last}\n\nwhat\nq\n".encode())
    shown = [int(found) for found in re.findall(r"^(?:> )* *(\d+)  \d{4}-", out, re.MULTILINE)]
    assert code == 0
    assert "That is behind the last event." in out
    assert out.count("Enter: next") == 2  # at first, and after what was not understood
    assert shown == [0, 1, 2, 1, last, last]


def test_the_end_of_the_input_is_the_end(cli: Run, waiting: str) -> None:
    assert cli("replay", waiting, "--step").code == 0


def test_the_resume_queue_is_listed(cli: Run, waiting: str) -> None:
    assert cli("resume-queue", waiting).out.strip() == "Nothing was answered yet."
    (point,) = cli("show", waiting, "--json").json["pause_points"]
    assert cli("answer", waiting, '{"size": 1}').code == 0
    (entry,) = cli("resume-queue", waiting, "--json").json["items"]
    assert (entry["point_id"], entry["status"], entry["position"]) == (point["id"], "pending", 1)
    assert "pending (position 1)" in cli("resume-queue", waiting).out
    go_on(cli, waiting)
    assert "completed" in cli("resume-queue", waiting).out


def test_the_log_is_read_by_node_and_type_and_from_its_end(cli: Run, waiting: str) -> None:
    log = cli("history", waiting, "--json").json["items"]
    newest = cli("history", waiting, "--newest", "--limit", "2", "--json").json["items"]
    assert newest == log[:-3:-1]
    opened = cli("history", waiting, "--type", "PausePointOpened", "--until", str(len(log)), "--json").json["items"]
    assert opened == [one for one in log if one["type"] == "PausePointOpened"]
    of_node = cli("history", waiting, "--context-id", opened[0]["context_id"], "--json").json["items"]
    assert opened[0] in of_node
    assert all(one["context_id"] == opened[0]["context_id"] for one in of_node)
    assert cli("history", waiting, "--type", "Nothing").code == 2
