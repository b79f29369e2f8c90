"""Commands run in this process, each test in a folder of its own with a small project in it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

from layover.cli.main import run_command

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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with workflows and functions, in which commands are run."""
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "asking.yaml").write_text(ASKING)
    (tmp_path / "breaking.yaml").write_text(BREAKING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAYOVER_DB", raising=False)
    monkeypatch.delenv("LAYOVER_DEBUG", raising=False)
    modules, path = dict(sys.modules), list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in sys.modules.keys() - modules.keys():
        if name.startswith(("nodes", "other")):
            del sys.modules[name]


@pytest.fixture
def cli(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command and return how it ended."""

    def run(*words: str, stdin: bytes = b"") -> Ran:
        assert Path.cwd() == project
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run_command(list(words))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(code, out, err)

    return run


@pytest.fixture
def waiting(cli: Run) -> str:
    """The id of an execution that waits for a form."""
    ran = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}', "--json")
    assert ran.code == 10
    return ran.id


def go_on(cli: Run, id_: str, file: str = "asking.yaml") -> Ran:
    """Drive an execution on to its next rest."""
    return cli("run", file, "--nodes", "nodes.py", "--id", id_)
