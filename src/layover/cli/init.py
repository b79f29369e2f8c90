"""`layover init`: a small project that runs at once, to be changed into one's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from layover.cli.exits import DONE, Stop
from layover.cli.screen import say

_FILES = {
    "workflow.yaml": "workflow.yaml.txt",
    "nodes.py": "nodes.py.txt",
    "test_workflow.py": "test_workflow.py.txt",
    "README.md": "README.md.txt",
}

Folder = Annotated[Path, Parameter(name="DIR", help="The folder of the project; it is made if it is not there.")]


def init_project(folder: Folder = Path(), /) -> int:
    """Write a small project that runs: a workflow, its functions, a test, and how to run them.

    No file that is there is written over.
    """
    taken = [name for name in _FILES if (folder / name).exists()]
    if taken:
        raise Stop(f"{folder} has {', '.join(taken)} already; nothing was written.", hint="Name another folder.")
    source = files("layover.cli") / "project"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, kept_as in _FILES.items():
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write((source / kept_as).read_text(encoding="utf-8"))
    except OSError as error:
        raise Stop(f"{folder}: {error.strerror or error}") from error
    for name in _FILES:
        say(f"wrote {folder / name}")
    say("")
    say("Now:")
    if folder != Path():
        say(f"  cd {folder}")
    say('  layover run workflow.yaml --nodes nodes.py --input \'{"item": "lamp", "amount": 80}\'')
    return DONE
