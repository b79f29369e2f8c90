"""The navigation of the site is the landing page: a section of `docs/index.md` is a part, its list is the order.

A page that is not listed there is an error of the build. On a code host, the landing page is the navigation.
"""

from __future__ import annotations

import re

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\.md\)", re.MULTILINE)


def toctrees(index: str) -> str:
    """Return what Sphinx needs to be told, for the text of the landing page."""
    _, *parts = _SECTION.split(index)
    trees = [(caption, _ENTRY.findall(text)) for caption, text in zip(parts[::2], parts[1::2], strict=True)]
    return "\n".join(_toctree(caption, entries) for caption, entries in trees if entries)


def _toctree(caption: str, entries: list[tuple[str, str]]) -> str:
    lines = "\n".join(f"{title.replace('`', '')} <{page}>" for title, page in entries)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
