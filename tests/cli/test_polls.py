"""Sources of a module on the command line, and the polls of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

BOXES = '''
"""A source, and a function beside it that is no node."""

from layover import Batch, source


@source
def mailbox(cursor: str | None, folder: str) -> Batch:
    return Batch()


def greet(name: str) -> str:
    return name
'''
POST = """
name: post
triggers:
  - {name: mail, type: poll, source: mailbox, with: {folder: INBOX}, every: 1h}
nodes: [{id: a, type: greet, input: {name: x}}]
"""


@pytest.fixture
def boxes(cli: Run) -> Path:  # noqa: ARG001 - the folder is made for it
    Path("post.yaml").write_text(POST)
    path = Path("boxes.py")
    path.write_text(BOXES)
    return path


def test_a_source_is_found_beside_the_functions_of_a_module(cli: Run, boxes: Path) -> None:
    assert "is sound" in cli("check", "post.yaml", "--nodes", str(boxes)).out
    assert cli("check", "post.yaml").out.count("warning: ") == 2
    Path("post.yaml").write_text(POST.replace("folder: INBOX", "fold: INBOX"))
    assert "takes no argument `fold`" in cli("check", "post.yaml", "--nodes", str(boxes)).out
    Path("post.yaml").write_text(POST.replace("source: mailbox", "source: mailbx"))
    assert "Did you mean `mailbox`?" in cli("check", "post.yaml", "--nodes", str(boxes)).out


def test_a_poll_is_shown_explained_and_rewound(cli: Run, boxes: Path) -> None:
    assert cli("run", "post.yaml", "--nodes", str(boxes)).code == 0
    assert cli("triggers", "rewind", "post/mail", "m-17").out.startswith("post/mail is active; it is due at ")
    assert "At    m-17" in cli("triggers", "show", "post/mail").out
    assert "It is polled at" in cli("triggers", "why", "post/mail").out
    assert cli("triggers", "rewind", "post/mail", "--to-beginning", "--json").json["cursor"] is None
