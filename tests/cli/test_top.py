"""`layover top`: one picture on a database and on a server, a live one in a terminal, and how fast work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.cli.top import Overview, since
from layover.core.moments import Moment
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_one_picture_tells_what_waits_and_for_what(cli: Run, waiting: str, place: str) -> None:
    code, out, err = cli("top", "--once")
    assert (code, err) == (0, "")
    assert "1 paused" in out
    assert "waits for   1 form" in out
    assert f"longest     asking {waiting} paused for " in out
    assert "nothing runs" in out
    assert ("0 due" in out) == ("instances   0: none is alive" in out) == (place == "db")


def test_machines_get_the_same(cli: Run, waiting: str, place: str) -> None:
    found = cli("top", "--json").json
    assert found["executions"]["paused"] == 1
    assert (found["waits"], found["more"], found["rates"]) == ({"form": 1}, False, None)
    assert found["longest_pause"]["id"] == waiting
    assert (found["queue"] == {"due": 0, "oldest_due": None, "commands": 0, "instances": []}) == (place == "db")


@pytest.mark.parametrize("every", ["soon", "0s"])
def test_a_length_of_time_that_is_none_is_refused(cli: Run, every: str) -> None:
    code, _, err = cli("top", "--every", every)
    assert code == 2
    assert "--every: " in err


def test_in_a_terminal_it_is_drawn_until_it_is_left(project: Path, waiting: str) -> None:
    assert waiting
    with Terminal("top", "--every", "20ms", folder=project) as terminal:
        terminal.until("1 paused")
        terminal.until("0.0 started/s")
        terminal.control_c()
        assert terminal.end() == 0


def test_rates_are_what_came_and_what_ended_in_between() -> None:
    before = Overview(at=Moment.of(1_000), executions={"paused": 3, "completed": 10}, waits={}, more=False, running=())
    now = msgspec.structs.replace(before, at=Moment.of(3_000), executions={"paused": 5, "completed": 13, "failed": 1})
    rates = since(before, now).rates
    assert rates is not None
    assert (rates.started, rates.ended) == (3.0, 2.0)
    purged = since(now, msgspec.structs.replace(now, executions={}, at=Moment.of(4_000))).rates
    assert purged is not None
    assert (purged.started, purged.ended) == (0.0, 0.0)
