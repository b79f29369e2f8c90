"""The app as a whole: help, version, completion, its page in the docs, what it loads, and how it fails."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from layover.cli.main import app

if TYPE_CHECKING:
    from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
COMMANDS = [name for name in app if not name.startswith("-")]
ASKED_FOR = {
    *("init", "check", "run", "worker", "ls", "show", "history", "why", "inbox", "answer", "approve", "reject"),
    *("pause", "resume", "cancel", "retry", "rewind", "signal", "migrate", "verify", "purge", "doctor", "schema"),
    "completion",
}


def test_every_command_that_was_asked_for_is_there() -> None:
    assert set(COMMANDS) >= ASKED_FOR


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_what_it_takes(cli: Run, command: str) -> None:
    code, out, err = cli(command, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: layover {command}" in out


def test_the_help_lists_all_and_the_version_is_the_packages(cli: Run) -> None:
    out = cli("--help").out
    assert all(f" {command} " in out for command in COMMANDS)
    assert cli("--version") == (0, f"layover {version('layover')}\n", "")
    assert cli().out == out


def test_the_page_in_the_docs_is_what_the_commands_say() -> None:
    spec = importlib.util.spec_from_file_location("cli_reference", ROOT / "tools" / "cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.page(), "run python tools/cli_reference.py"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(cli: Run, shell: str) -> None:
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    assert all(command in out for command in COMMANDS)
    assert "older-than" in out


def test_check_loads_no_engine_and_no_database(tmp_path: Path) -> None:
    (tmp_path / "refund.yaml").write_text("{name: refund, nodes: [{id: done, type: end}]}")
    command = "run_command(['check', 'refund.yaml'])"
    words = f"import sys; from layover.cli.main import run_command; {command}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, capture_output=True, check=True)  # noqa: S603 - ourselves
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert "layover.cli.definitions" in loaded
    unwanted = ("layover.admin", "layover.engine", "layover.runtime.runtime", "layover.stores", "apsw", "sqlite3")
    assert not [name for name in loaded if name.startswith(unwanted)]


def test_bash_completes_what_was_begun(cli: Run) -> None:
    Path("layover.bash").write_text(cli("completion", "bash").out)
    script = (
        "source layover.bash; COMP_WORDS=(layover app); COMP_CWORD=1; COMP_LINE='layover app'; COMP_POINT=11;"
        " _layover layover app layover; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)  # noqa: S603, S607 - our own script
    assert (done.stdout.split(), done.stderr) == ([b"approve"], b"")


def test_help_loads_no_engine_no_database_and_no_command() -> None:
    words = "import sys; from layover.cli.main import run_command; run_command(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, check=True)  # noqa: S603 - ourselves
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert "layover.cli.main" in loaded
    unwanted = ("layover.runtime", "layover.stores", "layover.bootstrap", "apsw", "sqlite3", "aiohttp", "asyncio")
    assert not [name for name in loaded if name.startswith(unwanted)]
    assert {name for name in loaded if name.startswith("layover.cli.")} <= {"layover.cli.main", "layover.cli.exits"}


def test_an_error_shows_where_it_comes_from_only_when_asked(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Traceback" not in cli("ls").err
    done = subprocess.run(
        [sys.executable, "-c", "from layover.cli.main import main; main()", "ls"],
        capture_output=True,
        check=False,
        env={**os.environ, "LAYOVER_DEBUG": "1"},
    )
    assert done.returncode == 2
    assert b"Traceback" in done.stderr
    assert b"There is no database" in done.stderr
    monkeypatch.setenv("LAYOVER_DEBUG", "0")
    assert "Traceback" not in cli("ls").err


def test_ctrl_c_while_the_commands_are_loaded_leaves_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "cyclopts.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-c", "from layover.cli.entry import main; main()", "ls"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_the_command_begins_there() -> None:
    (script,) = entry_points(group="console_scripts", name="layover")
    assert script.value == "layover.cli.entry:main"


def test_a_fault_of_layover_is_named_as_one_without_a_traceback() -> None:
    broken = "import sys; sys.modules['layover.cli.lists'] = None; from layover.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", broken, "ls"], capture_output=True, check=False)  # noqa: S603 - ourselves
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"This is a fault of Layover" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("settings",), ("run", "--no-jitter", "there-is-none.yaml"), ("worker",)])
def test_commands_read_their_flags_where_pydantic_is_loaded(words: tuple[str, ...]) -> None:
    program = "import pydantic; from layover.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, check=False)  # noqa: S603 - ourselves
    assert b"validation error" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("history $ID", 0),
        ("ls --json", 0),
        ("run asking.yaml --nodes nodes.py --id $ID", 10),
        ("run asking.yaml --nodes nodes.py --id $ID --json", 10),
    ],
)
def test_a_reader_that_has_seen_enough_is_no_error(waiting: str, project: Path, words: str, code: int) -> None:
    command = f"{sys.executable} -c 'from layover.cli.main import main; main()' {words} | true"
    done = subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", f"set -o pipefail; {command}"],  # noqa: S607 - the shell that there is
        capture_output=True,
        check=False,
        cwd=project,
        env={**os.environ, "ID": waiting},
    )
    assert (done.returncode, done.stdout) == (code, b"")
    assert b"Error" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_stream_without_our_characters_is_no_error(cli: Run, waiting: str, project: Path) -> None:
    assert cli("show", waiting).code == 0
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", "from layover.cli.main import main; main()", "show", waiting],
        capture_output=True,
        check=False,
        cwd=project,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2713 hello" in done.stdout
