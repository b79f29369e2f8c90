"""A diagram as a Mermaid flowchart, as GitHub and others render it in Markdown.

Ids are made up here and every text is quoted, with each character that could mean anything to Mermaid, Markdown or
HTML written as its number: no text of a definition can end its label.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.cli.screen import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.cli.diagram import Diagram, DiagramBody, DiagramNode, Shape

_AROUND: dict[Shape, tuple[str, str]] = {
    "work": ("[", "]"),
    "decision": ("{", "}"),
    "pause": ("([", "])"),
    "child": ("[[", "]]"),
    "end": ("(", ")"),
    "container": ("[", "]"),
}
_CLASSES = (
    "classDef pause stroke:#d97706,stroke-width:3px",
    "classDef finish stroke-width:3px",
    "classDef start fill:#6b7280,stroke:#6b7280",
)
_CLASS: dict[Shape, str] = {"pause": ":::pause", "end": ":::finish"}
_MEANINGFUL = re.compile(r"[^\w ,.=()/-]|^[^A-Za-z]|__+|--+|//+", re.ASCII)
_FOUND_LATER = re.compile(r"(?<=\$)(?=\$)|(?<=:)(?=fa-)")  # formulas and icons, after numbers are characters again


def mermaid_lines(diagram: Diagram) -> Iterator[str]:
    """Return the lines of the flowchart."""
    yield "flowchart TD"
    yield f"  accTitle: {_title(diagram.title)}"
    yield "  start(( )):::start"
    yield from _body_lines(diagram.body, "  ")
    for place in diagram.body.starts:
        yield f"  start --> {_name(diagram.body.nodes[place])}"
    for line in _CLASSES:
        yield f"  {line}"


def _body_lines(body: DiagramBody, margin: str) -> Iterator[str]:
    for node in body.nodes:
        if node.bodies:
            yield from _container_lines(node, margin)
        else:
            opening, closing = _AROUND[node.shape]
            yield f"{margin}{_name(node)}{opening}{_label(*node.lines)}{closing}{_CLASS.get(node.shape, '')}"
    for edge in body.edges:
        label = f"|{_label(edge.label)}|" if edge.label else ""
        yield f"{margin}{_name(body.nodes[edge.source])} -->{label} {_name(body.nodes[edge.target])}"


def _container_lines(node: DiagramNode, margin: str) -> Iterator[str]:
    heading = ", ".join(node.lines[1:])
    yield f"{margin}subgraph {_name(node)}[{_label(f'{node.title}: {heading}')}]"
    for number, body in enumerate(node.bodies):
        if body.label:
            yield f"{margin}  subgraph {_name(node)}_{number}[{_label(body.label)}]"
            yield from _body_lines(body, f"{margin}    ")
            yield f"{margin}  end"
        else:
            yield from _body_lines(body, f"{margin}  ")
    yield f"{margin}end"


def _name(node: DiagramNode) -> str:
    return f"n{node.number}"


def _label(*lines: str) -> str:
    return f'"{"<br/>".join(_escaped(line) for line in lines)}"'


def _title(text: str) -> str:
    """Return a text for a line of its own, where Mermaid knows no escapes."""
    return re.sub(r"[^A-Za-z0-9_.-]", " ", text)


def _escaped(text: str) -> str:
    apart = _FOUND_LATER.sub("\u200b", harmless(text))
    return _MEANINGFUL.sub(lambda found: "".join(f"#{ord(one)};" for one in found[0]), apart)
