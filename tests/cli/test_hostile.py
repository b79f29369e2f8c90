"""Definitions that were made to hang a reader or to crash it, through the command line: problems, no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.core.definitions.hostile_cases import CASES

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from tests.core.definitions.hostile_cases import Case


def _written(case: Case) -> str:
    content = case[1]()
    Path("hostile.txt").write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
    return "hostile.txt"


def test_there_is_a_corpus() -> None:
    assert len(CASES) > 30


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_hostile_definition_is_a_problem_for_every_command_that_reads_one(cli: Run, case: Case) -> None:
    file, is_sound = _written(case), case[2] is None
    checked = cli("check", file)
    assert checked.code == (0 if is_sound else 2)
    assert is_sound or "error: " in checked.out
    assert checked.err == ""
    assert all(line.isprintable() for line in checked.out.splitlines())
    if not is_sound:
        assert cli("run", file).code == 2
        assert not list(Path().glob("*.db"))


@pytest.mark.parametrize("name", ["", "\0", "a\x1b[31m", "x" * 5_000, ".", "/"])
def test_a_hostile_name_of_a_file_is_printed_escaped_and_bounded(cli: Run, name: str) -> None:
    for words in (("check", name), ("graph", name), ("run", name)):
        code, out, err = cli(*words)
        assert (code, out) == (2, "")
        assert all(line.isprintable() for line in err.splitlines())
        assert max(map(len, err.splitlines())) < 500
