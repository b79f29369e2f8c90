"""`layover monitoring`: the files for Prometheus and Grafana are written, and never over anything unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("project")

FILES = {"layover-dashboard.json", "layover-alerts.yaml", "prometheus.yml"}


def test_the_files_are_written(cli: Run) -> None:
    code, out, err = cli("monitoring", "mine/monitoring")

    assert (code, err) == (0, "")
    folder = Path("mine/monitoring")
    assert {path.name for path in folder.iterdir()} == FILES
    assert all(f"wrote {folder / name}" in out for name in FILES)
    assert json.loads((folder / "layover-dashboard.json").read_text())["title"] == "Layover"
    config = yaml.safe_load((folder / "prometheus.yml").read_text())
    assert all((folder / name).is_file() for name in config["rule_files"])


def test_no_file_is_written_over_unless_that_is_wanted(cli: Run) -> None:
    Path("mine").mkdir()
    rules = Path("mine/layover-alerts.yaml")
    rules.write_text("groups: []")

    refused = cli("monitoring", "mine")
    assert (refused.code, rules.read_text()) == (2, "groups: []")
    assert "layover-alerts.yaml" in refused.err
    assert {path.name for path in Path("mine").iterdir()} == {"layover-alerts.yaml"}

    assert cli("monitoring", "mine", "--force").code == 0
    assert "LayoverQueueStuck" in rules.read_text()


def test_a_folder_that_cannot_be_written_is_named_in_the_error(cli: Run) -> None:
    Path("mine").write_text("a file")

    refused = cli("monitoring", "mine")

    assert refused.code == 2
    assert "mine" in refused.err
