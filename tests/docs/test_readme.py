"""The README says what is true: its programs run and print what it shows, and its two spellings are one workflow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from layover import check, load
from tests.docs.pages import blocks

_README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_its_program_runs_and_prints_what_it_shows(tmp_path: Path) -> None:
    (program,), (shown,) = blocks(_README, "python"), blocks(_README, "")
    words = [sys.executable, "-c", program]
    done = subprocess.run(  # noqa: S603 - our own page
        words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == shown


def test_python_and_yaml_are_the_same_workflow() -> None:
    (program,), (definition,) = blocks(_README, "python"), blocks(_README, "yaml")
    names: dict[str, object] = {"__name__": "readme"}
    exec(compile(program, "README.md", "exec", dont_inherit=True), names)  # noqa: S102 - as `layover run refund:flow` does
    assert names["flow"].plan().hash == load(definition).hash  # type: ignore[attr-defined]  # it is a Workflow


def test_it_shows_what_check_says() -> None:
    (definition,) = blocks(_README, "yaml")
    faulty = definition.replace("{approved:", "{aproved:").replace("    on_deadline: reject\n", "")
    said = [
        f"refund.yaml:{one.line}:{one.column}: {one.severity}: {one.message} [{one.code}]"
        for one in check(faulty, syntax="yaml").problems
    ]
    shown = [line for block in blocks(_README, "console") for line in block.splitlines()]
    assert [line for line in shown if line.startswith("refund.yaml:")] == said


def test_its_examples_are_short() -> None:
    (program,), (definition,) = blocks(_README, "python"), blocks(_README, "yaml")
    assert len([line for line in program.splitlines() if line.strip()]) <= 30
    assert len(definition.splitlines()) <= 25
