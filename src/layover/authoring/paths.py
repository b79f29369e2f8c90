"""The path of a problem for authors who write Python: with the ids of nodes instead of their numbers."""

from __future__ import annotations

import re

from layover.core.definitions.problems import one_line

_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]|\['(.*?)'\]")
_UNSAID = frozenset({"nodes", "edges", "body", "branches"})


def path_for_people(path: str, source: dict[str, object]) -> str:
    """Return `$.nodes[4].body.nodes[0].title` as `lines.count.title`, and an edge as `charge.error >> by_hand`."""
    words: list[str] = []
    at: object = source
    for name, index, quoted in _STEP.findall(path):
        if index:
            at = at[int(index)] if isinstance(at, list | tuple) and int(index) < len(at) else None
            words.append(_named(at) or f"[{index}]")
        else:
            at = at.get(name or quoted) if isinstance(at, dict) else None
            if name not in _UNSAID or not isinstance(at, list | dict):
                words.append(name or quoted)
    said = ".".join(words).replace(".[", "[")
    return one_line(said or str(source.get("name")))


def _named(part: object) -> str | None:
    """Return the name of a node, a branch or an edge."""
    if not isinstance(part, dict):
        return None
    if "source" in part and "target" in part:
        return f"{part['source']}.{part.get('port')} >> {part['target']}"
    return part["id"] if isinstance(part.get("id"), str) else None
