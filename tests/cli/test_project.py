"""`layover init`: what it writes runs, is tested, and is never written over anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FILES = {"workflow.yaml", "nodes.py", "test_workflow.py", "README.md"}


def test_a_project_runs_and_its_test_passes(cli: Run, project: Path) -> None:
    code, out, err = cli("init", "mine")
    assert (code, err) == (0, "")
    assert {path.name for path in Path("mine").iterdir()} == FILES
    assert "layover run workflow.yaml --nodes nodes.py" in out
    assert cli("check", "mine/workflow.yaml", "--nodes", "mine/nodes.py").out.endswith("is sound\n")
    given = '{"item": "lamp", "amount": 80}'
    ran = cli("run", "mine/workflow.yaml", "--nodes", "mine/nodes.py", "--input", given, "--json")
    assert ran.code == 10
    assert cli("approve", ran.id, "--by", "grace").code == 0
    ended = cli("run", "mine/workflow.yaml", "--nodes", "mine/nodes.py", "--id", ran.id)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, 'output: {"receipt":"80.00 paid to Ada"}')
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"],
        cwd=project / "mine",
        capture_output=True,
        check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"3 passed" in done.stdout


def test_every_command_of_the_readme_is_one(cli: Run) -> None:
    cli("init", "mine")
    commands = [line.split() for line in Path("mine/README.md").read_text().splitlines() if line.startswith("    lay")]
    assert len(commands) > 3
    for _, command, *_ in commands:
        assert cli(command, "--help").code == 0


def test_nothing_is_written_over(cli: Run) -> None:
    Path("mine").mkdir()
    Path("mine/README.md").write_text("mine")
    code, out, err = cli("init", "mine")
    assert (code, out) == (2, "")
    assert "has README.md already; nothing was written" in err
    assert {path.name for path in Path("mine").iterdir()} == {"README.md"}
    assert Path("mine/README.md").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_an_error(cli: Run) -> None:
    code, _, err = cli("init", "nodes.py/mine")
    assert code == 2
    assert "Not a directory" in err or "exists" in err.lower()


def test_a_project_may_be_made_where_one_stands(cli: Run) -> None:
    for name in ("nodes.py", "asking.yaml", "breaking.yaml"):
        Path(name).unlink()
    assert cli("init").code == 0
    assert {path.name for path in Path().iterdir()} == FILES
