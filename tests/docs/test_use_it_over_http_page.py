"""The page about using a server says what happens."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from layover import Client, Engine
from tests.api.harness import ADMIN_KEY
from tests.docs.pages import blocks, page
from tests.interface.in_a_thread import served_in_a_thread

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = page("how-to/use-it-over-http.md")
_LIFECYCLE = {"hook_addresses", "notifier", "as_user", "serve"}  # what only an engine in this process can do


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LAYOVER_KEY", ADMIN_KEY)
    with served_in_a_thread(tmp_path) as served:
        program = "\n".join(blocks(PAGE, "python")).replace("http://127.0.0.1:8080", served.url)
        exec(compile(program, "the page", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - our own page
    first, *events, output, listed, refused = capsys.readouterr().out.splitlines()
    assert first == "paused - `who` waits for an answer by anybody."
    assert events[0] == "0 ExecutionCreated"
    assert events[-1].endswith("ExecutionCompleted")
    assert (output, listed, refused) == ("Hello Ann", "greeting completed", "wrong_state completed")


def test_a_client_has_the_methods_of_an_engine_with_the_same_parameters() -> None:
    theirs, ours = _methods(Client), _methods(Engine)
    assert theirs == {name: parameters for name, parameters in ours.items() if name not in _LIFECYCLE}


def _methods(class_: type) -> dict[str, list[str]]:
    methods = inspect.getmembers(class_, inspect.isfunction)
    return {name: list(inspect.signature(one).parameters) for name, one in methods if not name.startswith("_")}
