"""`layover workflows source`: the text that a workflow was registered with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run

YAML = "# What this is for: nothing\nnodes: [{id: a, type: end}]  # one is enough\nname: noted\n"
JSON = '{"name": "noted", "description": "\\ud83d\\ude00", "nodes": [{"id": "a", "type": "end"}]}\n'


def test_a_file_that_was_run_is_printed_as_it_was_written(cli: Run) -> None:
    Path("noted.yaml").write_text(YAML)
    assert cli("run", "noted.yaml").code == 0
    assert cli("workflows", "source", "noted").out == YAML
    found = cli("workflows", "source", "noted", "--version", "1", "--json").json
    assert (found["text"], found["media_type"], found["as_written"]) == (YAML, "application/yaml", True)
    assert cli("workflows", "source", "noted", "--version", "2").code != 0
    assert cli("workflows", "source", "nothing").code != 0


def test_json_that_is_no_yaml_runs_and_is_written_as_yaml(cli: Run) -> None:
    Path("noted.json").write_text(JSON)
    assert cli("run", "noted.json").code == 0
    found = cli("workflows", "source", "noted", "--json").json
    assert (found["media_type"], found["as_written"]) == ("application/yaml", False)
    assert found["text"].startswith("name: noted\n")
