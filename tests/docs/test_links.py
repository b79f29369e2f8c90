"""No page leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGES = [*sorted(_ROOT.glob("*.md")), *sorted((_ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("path", _PAGES, ids=[str(path.relative_to(_ROOT)) for path in _PAGES])
def test_every_link_leads_to_something(path: Path) -> None:
    links = [link for link in _LINK.findall(path.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []
