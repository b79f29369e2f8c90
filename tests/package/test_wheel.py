"""The wheel has all that is needed: installed alone, its commands and its plugin work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which the wheel, and nothing else, was installed."""
    wheels, place = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(_ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own package
    (wheel,) = wheels.glob("layover-*.whl")
    install = [*pip, "install", "--no-deps", "--target", str(place), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=120)  # noqa: S603 - as above
    return place


def _run(installed: Path, folder: Path, *words: str) -> str:
    """Run a program that finds the installed package before ours; what it depends on is where it is."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(  # noqa: S603 - our own programs
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done
    return done.stdout


def test_it_is_the_one_that_is_used(installed: Path, tmp_path: Path) -> None:
    said = _run(installed, tmp_path, sys.executable, "-c", "import layover; print(layover.__file__)")
    assert Path(said.strip()).is_relative_to(installed)


def test_its_commands_and_its_plugin_work(installed: Path, tmp_path: Path) -> None:
    command = str(installed / "bin" / "layover")
    assert "worker" in _run(installed, tmp_path, command, "--help")
    _run(installed, tmp_path, command, "init", "project")
    folder = tmp_path / "project"
    given = '{"item": "cup", "amount": 5}'
    said = _run(installed, folder, command, "run", "workflow.yaml", "--nodes", "nodes.py", "--input", given)
    assert "completed" in said
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_workflow.py"]
    assert "3 passed" in _run(installed, folder, *tests)


def test_it_has_the_page_that_shows_the_document(installed: Path) -> None:
    folder = installed / "layover" / "api" / "docs_page"
    assert {one.name for one in folder.iterdir()} == {"page.html", "app.js", "style.css"}


_CONSOLE = """
import re
from layover.console.assets import console_page, find_asset
page, headers = console_page("/tools")
names = re.findall(r"/assets/([^\\"]+)", page.decode())
print(headers["cache-control"], len(names) > 0, all(find_asset(name) is not None for name in names))
"""


def test_it_serves_the_console(installed: Path, tmp_path: Path) -> None:
    assert _run(installed, tmp_path, sys.executable, "-c", _CONSOLE) == "no-cache True True\n"


def test_it_has_every_statement_and_every_migration(installed: Path) -> None:
    ours, theirs = _ROOT / "src" / "layover", installed / "layover"
    statements = sorted(file.relative_to(ours) for file in ours.rglob("*.sql"))
    assert sorted(file.relative_to(theirs) for file in theirs.rglob("*.sql")) == statements
    assert Path("stores/postgres/sql/parts/group_commit.sql") in statements
