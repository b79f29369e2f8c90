"""A diagram as an SVG that stands alone: no script, no font, no reference, and colours for light and for dark.

Bodies of containers are laid out first, and are boxes in the graph around them. Every text goes through `_text`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from layover.cli.layered_layout import Arrangement, BoxSize, Link, arrange
from layover.cli.screen import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.cli.diagram import Diagram, DiagramBody, DiagramNode
    from layover.cli.layered_layout import EdgeRoute

_MARGIN = 16.0
_PADDING = 14.0
_HEADING = 26.0
_LINE = 16.0
_CHARACTER = 7.3  # at 12 px, in a font whose characters are equally wide
_START = BoxSize(14.0, 14.0)
_STYLE = """
  .paper{fill:#ffffff}
  .box{fill:#f1f5f9;stroke:#64748b;stroke-width:1.2}
  .decision{fill:#eff6ff;stroke:#2563eb}
  .pause{fill:#fffbeb;stroke:#d97706;stroke-width:2.4}
  .end{fill:#f1f5f9;stroke:#334155;stroke-width:2.4}
  .container{fill:none;stroke:#94a3b8;stroke-dasharray:5 4}
  .branch{fill:none;stroke:#cbd5e1}
  .edge{fill:none;stroke:#64748b;stroke-width:1.2}
  .tip,.start{fill:#64748b}
  text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#334155}
  .title{font-weight:bold;fill:#0f172a}
  .minor{fill:#64748b}
  @media (prefers-color-scheme:dark){
    .paper{fill:#0f172a}
    .box{fill:#1e293b;stroke:#94a3b8}
    .decision{fill:#172554;stroke:#60a5fa}
    .pause{fill:#422006;stroke:#f59e0b}
    .end{fill:#1e293b;stroke:#e2e8f0}
    .container{fill:none;stroke:#64748b}
    .branch{fill:none;stroke:#475569}
    .edge{stroke:#94a3b8}
    .tip,.start{fill:#94a3b8}
    text{fill:#cbd5e1}
    .title{fill:#f8fafc}
    .minor{fill:#94a3b8}
  }
"""


class _Drawn(NamedTuple):
    """A body with everything inside laid out; `is_whole` is that of the workflow, which shows where it starts."""

    body: DiagramBody
    insides: list[list[_Drawn]]
    arrangement: Arrangement
    is_whole: bool


def svg_lines(diagram: Diagram) -> Iterator[str]:
    """Return the lines of the picture; TooLarge if it would take too long to lay out."""
    drawn = _lay_out(diagram.body, is_whole=True)
    width = drawn.arrangement.width + 2 * _MARGIN
    height = drawn.arrangement.height + 2 * _MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield f"<title>{_escaped(diagram.title)}</title>"
    yield f"<style>{_STYLE}</style>"
    yield f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>'
    yield from _body_lines(drawn, _MARGIN, _MARGIN)
    yield "</svg>"


def _lay_out(body: DiagramBody, *, is_whole: bool = False) -> _Drawn:
    insides = [[_lay_out(one) for one in node.bodies] for node in body.nodes]
    sizes = [_size(node, inside) for node, inside in zip(body.nodes, insides, strict=True)]
    before = 1 if is_whole else 0  # the mark of the start is the first box
    links = [Link(0, place + 1) for place in body.starts] if is_whole else []
    links += [Link(one.source + before, one.target + before, _width(one.label)) for one in body.edges]
    arrangement = arrange([_START, *sizes] if is_whole else sizes, links)
    return _Drawn(body, insides, arrangement, is_whole)


def _size(node: DiagramNode, inside: list[_Drawn]) -> BoxSize:
    if not inside:
        sides = {"decision": 2.6, "pause": 2.6, "child": 2.4}.get(node.shape, 2.0) * _PADDING
        return BoxSize(max(map(_width, node.lines)) + sides, len(node.lines) * _LINE + _PADDING)
    bodies = sum(_lane_width(one) for one in inside) + (len(inside) + 1) * _PADDING
    height = _HEADING + max(one.arrangement.height + _lane_heading(one) for one in inside) + 2 * _PADDING
    return BoxSize(max(bodies, _width(_heading(node)) + 2 * _PADDING), height)


def _lane_width(drawn: _Drawn) -> float:
    inner = max(drawn.arrangement.width, _width(drawn.body.label))
    return inner + (2 * _PADDING if drawn.body.label else 0.0)


def _lane_heading(drawn: _Drawn) -> float:
    return _HEADING + _PADDING if drawn.body.label else 0.0


def _body_lines(drawn: _Drawn, left: float, top: float) -> Iterator[str]:
    body, arrangement = drawn.body, drawn.arrangement
    corners, routes = arrangement.corners, arrangement.routes
    labels = [edge.label for edge in body.edges]
    if drawn.is_whole:
        x, y = corners[0]
        radius = _START.width / 2
        yield f'<circle class="start" cx="{left + x + radius:.1f}" cy="{top + y + radius:.1f}" r="{radius:.1f}"/>'
        corners, labels = corners[1:], [""] * len(body.starts) + labels
    for route, label in zip(routes, labels, strict=True):
        yield from _edge_lines(route, label, left, top)
    for node, inside, (x, y) in zip(body.nodes, drawn.insides, corners, strict=True):
        size = _size(node, inside)
        if inside:
            yield from _container_lines(node, inside, size, left + x, top + y)
        else:
            yield from _box_lines(node, size, left + x, top + y)


def _box_lines(node: DiagramNode, size: BoxSize, x: float, y: float) -> Iterator[str]:
    width, height = size
    match node.shape:
        case "decision":
            side, middle = _PADDING * 0.9, y + height / 2
            points = [
                (x, middle),
                (x + side, y),
                (x + width - side, y),
                (x + width, middle),
                (x + width - side, y + height),
                (x + side, y + height),
            ]
            yield f'<polygon class="box decision" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>'
        case "child":
            yield _rectangle("box", x, y, size, 2)
            for at in (x + 6, x + width - 6):
                yield f'<path class="edge" d="M{at:.1f} {y:.1f}v{height:.1f}"/>'
        case "pause":
            yield _rectangle("box pause", x, y, size, height / 2)
        case "end":
            yield _rectangle("box end", x, y, size, 10)
        case _:
            yield _rectangle("box", x, y, size, 3)
    for number, line in enumerate(node.lines):
        kind = ("title", "minor", "")[number]
        yield _text(line, x + width / 2, y + _PADDING / 2 + (number + 0.75) * _LINE, kind)


def _container_lines(node: DiagramNode, inside: list[_Drawn], size: BoxSize, x: float, y: float) -> Iterator[str]:
    yield _rectangle("box container", x, y, size, 8)
    yield _text(_heading(node), x + _PADDING, y + _HEADING * 0.7, "title", anchor="start")
    lanes = sum(map(_lane_width, inside)) + (len(inside) - 1) * _PADDING
    at, top = x + (size.width - lanes) / 2, y + _HEADING + _PADDING
    for one in inside:
        width, inner_top = _lane_width(one), top
        if one.body.label:
            height = size.height - _HEADING - 2 * _PADDING
            yield _rectangle("branch", at, top, BoxSize(width, height), 4)
            yield _text(one.body.label, at + _PADDING, top + _HEADING * 0.7, "minor", anchor="start")
            inner_top += _HEADING
        yield from _body_lines(one, at + (width - one.arrangement.width) / 2, inner_top)
        at += width + _PADDING


def _edge_lines(route: EdgeRoute, label: str, left: float, top: float) -> Iterator[str]:
    straight = [((ax + left, ay + top), (bx + left, by + top)) for (ax, ay), (bx, by) in route.points]
    (x, y), (_, low) = straight[0]
    way = f"M{x:.1f} {y:.1f}V{low:.1f}"
    for number, ((_, before), (now, after)) in enumerate(pairwise(straight)):
        (from_x, from_y), (to_x, to_y), bottom = before, now, after[1]
        middle = (from_y + to_y) / 2
        way += f"C{from_x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
        way += f"M{to_x:.1f} {bottom:.1f}" if route.label and number == 0 else f"V{bottom:.1f}"
    x, y = straight[-1][1]
    yield f'<path class="edge" d="{way}"/>'
    yield f'<path class="tip" d="M{x:.1f} {y:.1f}l-4 -7h8z"/>'
    if route.label:
        yield _text(label, route.label[0] + left, route.label[1] + top + 4, "minor")


def _rectangle(kind: str, x: float, y: float, size: BoxSize, corner: float) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{size.width:.1f}" height="{size.height:.1f}"'
    return f'<rect class="{kind}" {place} rx="{corner:.1f}"/>'


def _text(text: str, x: float, y: float, kind: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escaped(text)}</text>'


def _heading(node: DiagramNode) -> str:
    return f"{node.title}: {', '.join(node.lines[1:])}"


def _escaped(text: str) -> str:
    """Return a text with everything that XML would take for markup, or not take at all, made visible."""
    return escape(harmless(text))


def _width(text: str) -> float:
    wide = sum(2 if east_asian_width(one) in "WF" else 1 for one in harmless(text))
    return wide * _CHARACTER
