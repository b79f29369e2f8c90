"""No page leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGES = [*sorted(_ROOT.glob("*.md")), *sorted((_ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ANCHOR = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)

pages = pytest.mark.parametrize("path", _PAGES, ids=[str(path.relative_to(_ROOT)) for path in _PAGES])


@pages
def test_every_link_leads_to_something(path: Path) -> None:
    links = [link for link in _LINK.findall(path.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


@pages
def test_every_anchor_is_a_heading(path: Path) -> None:
    links = [(page, anchor) for page, anchor in _ANCHOR.findall(path.read_text(encoding="utf-8")) if "://" not in page]
    targets = [(path.parent / page if page else path, anchor) for page, anchor in links]
    assert [(page.name, anchor) for page, anchor in targets if anchor not in _anchors(page)] == []


def _anchors(page: Path) -> set[str]:
    """Return what can be linked to in a page, named as code hosts and the site do."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in _HEADING.findall(text)}
