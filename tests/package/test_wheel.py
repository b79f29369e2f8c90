"""The wheel has all that is needed: installed alone, its commands and its plugin work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.api.browser import plain_browser
from tests.load.serving import ADMIN_KEY, serving

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


async def test_it_serves_the_console(installed: Path, tmp_path: Path) -> None:
    database, ours = f"sqlite:///{tmp_path}/served.db", {"PYTHONPATH": str(installed)}
    async with serving(database, tmp_path, {}, environment=ours) as server, plain_browser() as browser:
        visitor = await browser.get(f"{server.url}/console")
        await browser.api("POST", f"{server.url}/api/v1/session", b'{"key":"%s"}' % ADMIN_KEY.encode())
        page = await browser.get(f"{server.url}/console/executions")
        assets = re.findall(r"/assets/([^\"]+)", page.body.decode())
        found = [await browser.get(f"{server.url}/console/assets/{name}") for name in assets]
    assert (visitor.status, visitor.headers["location"]) == (303, "/sign-in?next=%2Fconsole")
    assert (page.status, len(assets) > 0) == (200, True)
    assert {one.status for one in found} == {200}


def test_the_source_package_has_the_built_console_and_not_its_sources(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=_ROOT, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own package
    (made,) = tmp_path.glob("layover-*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert "src/layover/console/static/index.html" in names
    assert not [name for name in names if name.startswith("console/") or "node_modules" in name]


def test_it_has_every_statement_and_every_migration(installed: Path) -> None:
    ours, theirs = _ROOT / "src" / "layover", installed / "layover"
    statements = sorted(file.relative_to(ours) for file in ours.rglob("*.sql"))
    assert sorted(file.relative_to(theirs) for file in theirs.rglob("*.sql")) == statements
    assert Path("stores/postgres/sql/parts/group_commit.sql") in statements
