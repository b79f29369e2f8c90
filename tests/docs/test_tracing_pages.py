"""The pages about traces say what is true: the program prints what it shows, and every name of the code is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.runtime.execution.pause_cause import PAUSE_CAUSES
from layover.tracing import names
from tests.docs.pages import blocks, page

PAGE, REFERENCE = page("how-to/trace.md"), page("reference/tracing.md")


def rows(title: str) -> list[str]:
    """Return the first column of the tables of a section."""
    section = REFERENCE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def values(*wanted: str) -> set[str]:
    return {getattr(names, name) for name in wanted}


def test_the_program_prints_what_the_page_says(tmp_path: Path) -> None:
    (program,), (printed,) = blocks(PAGE, "python"), blocks(PAGE, "")
    # The provider belongs to its process: one of its own.
    words = [sys.executable, "-c", program]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - our page
    assert found.stdout == printed


def test_every_name_has_a_row() -> None:
    texts = [value for name, value in vars(names).items() if name.isupper()]
    attributes = {text for text in texts if "." in text}
    assert set(rows("Attributes")) == attributes
    assert [row.split()[0] for row in rows("Spans")] == [names.LEG, names.ATTEMPT]
    events_and_links = values("PAUSED", "RESUMED", "STARTED_BY", "PREVIOUS_LEG", "RESUMED_BY")
    assert set(rows("Events and links")) == events_and_links


def test_every_cause_of_a_pause_is_named() -> None:
    section = REFERENCE.split("## Causes of a pause\n", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"`(\w+)`", section) == list(PAUSE_CAUSES)
