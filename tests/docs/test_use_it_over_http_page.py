"""The page about using a server says what happens."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from layover.client import AsyncClient
from tests.api.harness import ADMIN_KEY
from tests.client.in_a_thread import served_in_a_thread
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = page("how-to/use-it-over-http.md")


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LAYOVER_KEY", ADMIN_KEY)
    with served_in_a_thread(tmp_path) as url:
        program = "\n".join(blocks(PAGE, "python")).replace("http://127.0.0.1:8080", url)
        exec(compile(program, "the page", "exec"), {"__name__": "page"})  # noqa: S102 - our own page
    first, *events, output, listed, refused = capsys.readouterr().out.splitlines()
    assert first == "paused - `who` waits for an answer by anybody."
    assert events[0] == "0 ExecutionCreated"
    assert events[-1].endswith("ExecutionCompleted")
    assert (output, listed, refused) == ("Hello Ann", "greeting completed", "wrong_state 409 completed")


def test_it_lists_every_call() -> None:
    client = AsyncClient("http://nowhere.invalid")
    for name, group in vars(client).items():
        if name.startswith("_"):
            continue
        (row,) = [line for line in PAGE.splitlines() if line.startswith("|") and f"`client.{name}`" in line]
        told = set(re.findall(r"`(\w+)`", row))
        calls = {call for call, _ in inspect.getmembers(group, inspect.isroutine) if not call.startswith("_")}
        assert calls <= told
