"""The tutorial can be followed: every command in it runs, and prints what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import blocks, page

_BIN = Path(sys.executable).parent


def test_it_can_be_followed(tmp_path: Path) -> None:
    folder = tmp_path
    for console in blocks(page("tutorial.md"), "console"):
        for part in console.removeprefix("$ ").split("\n$ "):
            command, _, shown = part.partition("\n")
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
                continue
            said = _run(command, folder)
            if shown.strip():
                assert re.fullmatch(_pattern(shown.strip()), said.strip(), re.DOTALL), (command, said)


def _pattern(shown: str) -> str:
    """Return what a shown text looks like, if `…` stands for anything."""
    return ".*".join(re.escape(part) for part in shown.split("…"))


def _run(command: str, folder: Path) -> str:
    path = f"{_BIN}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "-c", command]
    done = subprocess.run(  # noqa: S603 - a command of our own page
        words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (0, 10), (command, done)
    return done.stdout
