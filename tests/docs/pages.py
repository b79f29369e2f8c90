"""The pages of the documentation, and the code in them."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    """Return the text of a page, by its path within the documentation."""
    return (_DOCS / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a page that are in a language (none: what programs print)."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [code for name, code in found if name == language]
