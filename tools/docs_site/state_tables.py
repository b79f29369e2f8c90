"""State diagrams as tables: a browser would need three megabytes of Mermaid to draw thirty arrows across each other."""

from __future__ import annotations

import re

_DIAGRAM = re.compile(r"^```mermaid\nstateDiagram-v2\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ARROW = re.compile(r"^ *(\S+) --> (\S+)(?:: (.*))?$", re.MULTILINE)


def tables(text: str) -> str:
    """Return a page with a table for each of its state diagrams."""
    return _DIAGRAM.sub(lambda found: _table(_ARROW.findall(found[1])), text)


def _table(arrows: list[tuple[str, str, str]]) -> str:
    begins = [f"Begins as `{after}`." for before, after, _ in arrows if before == "[*]"]
    ends = [f"`{before}`" for before, after, _ in arrows if after == "[*]"]
    if ends:
        begins.append(f"Ends as {', '.join(ends)}.")
    rows = [
        f"| `{before}` | `{after}` | {', '.join(_cause(one) for one in by.split(', '))} |"
        for before, after, by in arrows
        if "[*]" not in (before, after)
    ]
    return "\n".join([" ".join(begins), "", "| from | to | by |", "| --- | --- | --- |", *rows])


def _cause(text: str) -> str:
    return f"`{text}`" if text.isidentifier() else text
