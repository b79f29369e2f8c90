"""Where a command prints: closed, full, or gone; and the sentences about what it was given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Ran

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FULL = Path("/dev/full")


def in_shell(folder: Path, words: str) -> Ran:
    """Run a command as a process of its own, whose streams a shell has opened or closed."""
    ran = subprocess.run(  # noqa: S603 - this program
        ["/bin/sh", "-c", f'"$0" -c "from layover.cli.entry import main; main()" {words}', sys.executable],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_error(project: Path, closed: str) -> None:
    given = 'run breaking.yaml --nodes nodes.py --input \'{"message": "no"}\' --no-watch'
    code, _, err = in_shell(project, f"{given} {closed}")
    assert code == 1
    assert "Traceback" not in err
    code, out, _ = in_shell(project, "ls --json")
    assert code == 0
    assert '"breaking"' in out


def test_a_closed_stream_is_never_the_file_of_the_database(project: Path) -> None:
    in_shell(project, "migrate <&- >&- 2>&-")
    in_shell(project, "run nothing.yaml <&- >&- 2>&-")
    assert "no violations" in in_shell(project, "verify layover.db").out


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", ["ls", "schema", "--help"])
def test_an_output_that_cannot_be_written_is_no_fault_of_the_command(project: Path, words: str) -> None:
    in_shell(project, "migrate")
    code, _, err = in_shell(project, f"{words} > {FULL}")
    assert (code, err) == (1, "layover: The output could not be written: No space left on device.\n")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
def test_an_error_that_cannot_be_printed_still_has_its_exit_code(project: Path) -> None:
    assert in_shell(project, f"show nothing 2> {FULL}") == Ran(2, "", "")


def test_words_too_many_are_named(cli: Run) -> None:
    code, _, err = cli("show", "424242", "extra", "words")
    assert code == 2
    assert err.startswith("layover: `extra` and `words` are more than the command takes.\n")
    assert "`layover show --help`" in err


def test_a_drawing_of_an_unknown_ending_says_what_it_holds(cli: Run) -> None:
    assert cli("graph", "asking.yaml", "-o", "asking.pdf").err == "wrote asking.pdf as text\n"
    assert cli("graph", "asking.yaml", "-o", "asking.svg").err == "wrote asking.svg as svg\n"


def test_an_invalid_input_is_reported_once(cli: Run, project: Path) -> None:
    (project / "strict.yaml").write_text("name: strict\ninput: {type: object}\nnodes: [{id: done, type: end}]\n")
    code, _, err = cli("run", "strict.yaml", "--input", "5")
    assert code == 2
    assert err.count("is not of type") == 1


def test_an_error_without_a_message_is_shown_by_its_type(cli: Run, project: Path) -> None:
    (project / "silent.py").write_text("def silent() -> None:\n    raise LookupError\n")
    (project / "silent.yaml").write_text("name: silent\nnodes: [{id: work, type: silent}]\n")
    ran = cli("run", "silent.yaml", "--nodes", "silent.py")
    assert "work: failed: LookupError\n" in ran.out


@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("nowhere/app.db", "nowhere/app.db cannot be opened: there is no folder nowhere.\n"),
        (".", ". cannot be opened: it is a folder.\n"),
    ],
)
def test_a_database_that_cannot_be_opened_says_why(cli: Run, database: str, said: str) -> None:
    code, _, err = cli("run", "breaking.yaml", "--nodes", "nodes.py", "--input", '{"message": ""}', "--db", database)
    assert code == 2
    assert said in err


def test_an_address_of_no_database_names_those_that_there_are(cli: Run) -> None:
    code, _, err = cli("ls", "--db", "mysql://nowhere")
    assert code == 2
    assert "`sqlite:///layover.db`" in err
    assert "`postgresql://user@host/name`" in err
