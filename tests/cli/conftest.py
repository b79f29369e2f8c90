"""Commands run in this process, each test in a folder of its own with a small project in it.

What commands show and do is the same on a database and on a server: the tests of both run twice.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

from layover.cli.main import run_command
from layover.logs.configuration import reset_logging
from tests.cli import serving
from tests.cli.over_http import DATABASE_ONLY, Served

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES = '''
"""Functions for the workflows of the tests."""

calls = []


def greet(name: str) -> str:
    calls.append(name)
    return f"hello {name}"


async def break_down(message: str = "it broke") -> None:
    raise RuntimeError(message)


def _hidden() -> None: ...
'''

ASKING = """
name: asking
nodes:
  - {id: hello, type: greet, input: {name: "${input.name}"}, next: size}
  - id: size
    type: form
    title: Which size for ${input.name}?
    schema:
      type: object
      required: [size]
      properties: {size: {type: integer, minimum: 1}, colour: {enum: [red, blue], default: red}}
    next: review
  - {id: review, type: approval, title: May it go out?, approvers: {roles: [boss]}, next: {approved: out, rejected: no}}
  - {id: out, type: end, output: {greeting: "${nodes.hello}", size: "${nodes.size.size}"}}
  - {id: no, type: end, outcome: refused, reason: "${nodes.review.comment}"}
"""

BREAKING = """
name: breaking
nodes:
  - {id: work, type: break_down, input: {message: "${input.message}"}}
"""


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.out)
        return found

    @property
    def id(self) -> str:
        return str(self.json["id"])


Run = Callable[..., Ran]


_ON_BOTH = (
    "test_access",
    "test_acting",
    "test_destinations",
    "test_looking",
    "test_top",
    "test_triggers",
    "test_where",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what concerns executions with `--db`, and with `--url`."""
    if "place" in metafunc.fixturenames:
        is_both = metafunc.module.__name__.rpartition(".")[2] in _ON_BOTH
        is_both = is_both and metafunc.function.__name__ not in DATABASE_ONLY
        metafunc.parametrize("place", ["db", "url"] if is_both else ["db"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with workflows and functions, in which commands are run."""
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "asking.yaml").write_text(ASKING)
    (tmp_path / "breaking.yaml").write_text(BREAKING)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("LAYOVER_")]:
        monkeypatch.delenv(name)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    forget_modules_in(tmp_path)


def forget_modules_in(folder: Path) -> None:
    """Have modules imported anew, as a process does for each command."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def cli(
    project: Path, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """Run a command and return how it ended."""
    served = Served()

    def run(*words: str, stdin: bytes = b"") -> Ran:
        assert Path.cwd() == project
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        command = served.translated(words) if place == "url" else list(words)
        capsys.readouterr()
        forget_modules_in(project)
        code = run_command(command)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(code, out, err)

    yield run
    served.stop()
    reset_logging()  # as the end of a process does


@pytest.fixture
def waiting(cli: Run) -> str:
    """The id of an execution that waits for a form."""
    ran = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}', "--json")
    assert ran.code == 10
    return ran.id


def go_on(cli: Run, id_: str, file: str = "asking.yaml") -> Ran:
    """Drive an execution on to its next rest."""
    return cli("run", file, "--nodes", "nodes.py", "--id", id_)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with workflows and functions for a server."""
    (tmp_path / "nodes.py").write_text(serving.NODES)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "ask.yaml").write_text(serving.ASK)
    (tmp_path / "flows" / "slow.yml").write_text(serving.SLOW)
    (tmp_path / "flows" / "notes.txt").write_text("no workflow")
    return tmp_path
