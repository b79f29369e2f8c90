"""`layover monitoring`: a dashboard, alert rules and a configuration, for Grafana and Prometheus."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from layover.cli.exits import DONE, Stop
from layover.cli.screen import say

_FILES = ("layover-dashboard.json", "layover-alerts.yaml", "prometheus.yml")

Folder = Annotated[Path, Parameter(name="DIR", help="The folder to write into; it is made if it is not there.")]
Force = Annotated[bool, Parameter(name="--force", negative="", help="Write over files that are there.")]


def write_monitoring(folder: Folder = Path(), /, *, force: Force = False) -> int:
    """Write a Grafana dashboard, Prometheus alert rules, and a configuration of Prometheus that uses them.

    No file that is there is written over, unless `--force` says so.
    """
    taken = [name for name in _FILES if (folder / name).exists()]
    if taken and not force:
        hint = "Name another folder, or give --force."
        raise Stop(f"{folder} has {', '.join(taken)} already; nothing was written.", hint=hint)
    source = files("layover.cli") / "monitoring_files"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            (folder / name).write_text((source / name).read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise Stop(f"{folder}: {error.strerror or error}") from error
    for name in _FILES:
        say(f"wrote {folder / name}")
    say("")
    say("Now:")
    say(f"  prometheus --config.file {folder / 'prometheus.yml'}")
    say(f"  Grafana: Dashboards, New, Import, {folder / 'layover-dashboard.json'}")
    return DONE
