"""`layover graph --format …`: the pictures say what the definition says, and no text in it gets out of its label."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover import load
from layover.cli.diagram import diagram_of
from layover.cli.layered_layout import BoxSize, Link, TooLarge, arrange
from layover.cli.mermaid import mermaid_lines
from layover.cli.screen import harmless
from layover.cli.svg import svg_lines
from tests.core.definitions.strategies import definitions, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.cli.diagram import DiagramBody, DiagramNode
    from layover.cli.layered_layout import Arrangement, Point
    from tests.cli.conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
ORDER = str(EXAMPLES / "order.yaml")
HOSTILE = [
    '"] --> evil; click a href "javascript:alert(1)"',
    "%%{init: {'theme': 'dark'}}%%",
    "</text></svg><script>alert(1)</script>",
    "]]> &amp; #quot; #35; `x` $$x$$ fa:fa-ban",
    "a\nend\nsubgraph evil\r\n---\u2028",
    "\u202eabc\ud800\ufffe\x00\x1b[2J",
]

_LABEL = r'"(?:[A-Za-z0-9_ ,.=()/-]|\#\d+;|<br/>)*"'
_NODE = r"n\d+(?:_\d+)?"
_MERMAID = re.compile(
    rf"""flowchart\ TD
    | \ \ accTitle:\ [A-Za-z0-9_.\ -]*
    | \ \ start\(\(\ \)\):::start
    | \ \ start\ -->\ {_NODE}
    | \ \ classDef\ [a-z]+\ [a-z0-9:,\#-]+
    | \ +{_NODE}(?:\[{_LABEL}\]|\[\[{_LABEL}\]\]|\{{{_LABEL}\}}|\({_LABEL}\)|\(\[{_LABEL}\]\))(?::::[a-z]+)?
    | \ +{_NODE}\ -->(?:\|{_LABEL}\|)?\ {_NODE}
    | \ +subgraph\ {_NODE}\[{_LABEL}\]
    | \ +end""",
    re.VERBOSE,
)
_SVG = "{http://www.w3.org/2000/svg}"


def test_json_is_the_graph_as_it_is_over_http(cli: Run) -> None:
    ran = cli("graph", ORDER, "--format", "json")
    assert ran.json == cli("graph", ORDER, "--json").json
    assert ran.json["workflow"] == "order"
    nodes = {node["id"]: node for node in ran.json["nodes"]}
    assert (nodes["charge:checks.payment"]["parent"], nodes["charge:checks.payment"]["branch"]) == ("checks", "payment")
    assert {"source": "big", "target": "review", "port": "true", "taken": 0} in ran.json["edges"]


def test_mermaid_shows_containers_conditions_and_pauses(cli: Run) -> None:
    lines = [line.strip() for line in cli("graph", ORDER, "--format", "mermaid").out.splitlines()]
    assert lines[0] == "flowchart TD"
    assert 'n1{"big<br/>condition<br/>input.total #62; 1000"}' in lines
    assert 'n1 -->|"true"| n2' in lines
    assert 'n3 -->|"slow#58; input.total #60; 50"| n5' in lines
    assert 'n5(["cool_off<br/>delay<br/>#49;h30m"]):::pause' in lines
    opened = lines.index('subgraph n8["checks#58; parallel, 2 branches"]')
    assert lines[opened + 1] == 'subgraph n8_0["payment"]'
    assert sum(line.startswith("subgraph") for line in lines) == lines.count("end") == 4


def test_svg_shows_every_node_and_label(cli: Run) -> None:
    root = ET.fromstring(cli("graph", ORDER, "--format", "svg").out)  # noqa: S314 - our own
    texts = [one.text for one in root.iter(f"{_SVG}text")]
    assert {"big", "input.total > 1000", "true", "rejected", "slow: input.total < 50", "payment", "goods"} <= {*texts}
    assert len([one for one in root.iter() if one.get("class") == "box pause"]) == 6
    assert "prefers-color-scheme:dark" in (root.findtext(f"{_SVG}style") or "")


@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", "<svg "), ("a.mmd", "flowchart"), ("a.json", "{"), ("a", "ord")]
)
def test_a_file_is_written_in_the_format_of_its_name(cli: Run, name: str, begins: str) -> None:
    ran = cli("graph", ORDER, "-o", name)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith(f"wrote {name} as ")
    assert Path(name).read_text().startswith(begins)
    assert cli("graph", ORDER, "-o", name, "--format", "svg").code == 0
    assert Path(name).read_text().startswith("<svg ")


def test_a_file_that_cannot_be_written_is_named_in_the_error(cli: Run) -> None:
    code, _, err = cli("graph", ORDER, "-o", "nowhere/a.svg")
    assert (code, err) == (2, "layover: nowhere/a.svg: No such file or directory\n")
    assert cli("graph", ORDER, "--format", "png").code == 2


def test_nothing_is_written_for_a_faulty_definition(cli: Run) -> None:
    code, out, _ = cli("graph", "-", "-o", "a.svg", stdin=b"name: w\nnodes: []\n")
    assert code == 2
    assert "[empty_graph]" in out
    assert not Path("a.svg").exists()


def _hostile(document: dict[str, Any], texts: Iterator[str]) -> dict[str, Any]:
    """Give every node a label."""
    for node in document["nodes"]:
        node["label"] = next(texts)
        insides = [one["body"] for one in node.get("branches", ()) if node["type"] == "parallel"]
        for body in [node.get("body"), *insides] if node["type"] in ("loop", "parallel") else ():
            if body is not None:
                _hostile(body, texts)
    return document


@given(definitions(), st.data())
@examples(60)
def test_any_definition_gives_pictures_that_are_well_formed(document: dict[str, Any], data: st.DataObject) -> None:
    texts = st.sampled_from(HOSTILE) | st.text(max_size=60)
    plan = load(_hostile(document, iter(lambda: data.draw(texts).encode("utf-8", "replace").decode(), None)))
    diagram = diagram_of(plan)
    for line in mermaid_lines(diagram):
        assert _MERMAID.fullmatch(line), line
    root = ET.fromstring("\n".join(svg_lines(diagram)))  # noqa: S314 - our own
    assert {one.tag.removeprefix(_SVG) for one in root.iter()} <= {
        "svg", "title", "style", "rect", "circle", "polygon", "path", "text"
    }  # fmt: skip
    drawn = sorted(one.text or "" for one in root.iter(f"{_SVG}text"))
    assert drawn == sorted(_texts_of(diagram.body))


def _texts_of(body: DiagramBody) -> Iterator[str]:
    yield from (harmless(edge.label) for edge in body.edges if edge.label)
    for node in body.nodes:
        yield from (harmless(text) for text in _texts_on(node))
        for inner in node.bodies:
            yield from [harmless(inner.label)] if inner.label else []
            yield from _texts_of(inner)


def _texts_on(node: DiagramNode) -> Iterator[str]:
    if node.bodies:
        yield f"{node.title}: {', '.join(node.lines[1:])}"
    else:
        yield from node.lines


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[BoxSize], list[Link]]:
    sizes = draw(st.lists(st.builds(BoxSize, st.integers(10, 300), st.integers(10, 200)), min_size=1, max_size=14))
    places = st.integers(0, len(sizes) - 1)
    ends = draw(st.lists(st.tuples(places, places, st.sampled_from([0.0, 40.0, 200.0])), max_size=30))
    return sizes, [Link(min(a, b), max(a, b), label) for a, b, label in ends if a != b]


@given(graphs())
@examples(150)
def test_no_line_crosses_a_box_and_no_boxes_overlap(graph: tuple[list[BoxSize], list[Link]]) -> None:
    sizes, links = graph
    laid_out = arrange(sizes, links)
    boxes = list(_boxes(sizes, links, laid_out))
    for number, one in enumerate(boxes):
        assert -0.01 < one[0] <= one[2] < laid_out.width + 0.01
        assert -0.01 < one[1] <= one[3] < laid_out.height + 0.01
        for other in boxes[:number]:
            assert _are_apart(one[0::2], other[0::2]) or _are_apart(one[1::2], other[1::2])
    for route in laid_out.routes:
        for x, y in _points_of(route.points, is_broken=route.label is not None):
            for left, top, right, bottom in boxes:
                assert not (left + 0.01 < x < right - 0.01 and top + 0.01 < y < bottom - 0.01)


def _are_apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] > other[1] - 0.01 or other[0] > one[1] - 0.01


def _boxes(sizes: list[BoxSize], links: list[Link], laid_out: Arrangement) -> Iterator[tuple[float, ...]]:
    for (width, height), (x, y) in zip(sizes, laid_out.corners, strict=True):
        yield x, y, x + width, y + height
    for link, route in zip(links, laid_out.routes, strict=True):
        if route.label is not None:
            x, y = route.label
            yield x - link.label_width / 2, y - 6, x + link.label_width / 2, y + 6


def _points_of(straight: list[tuple[Point, Point]], *, is_broken: bool) -> Iterator[Point]:
    """Return points of a line as it is drawn: down, with bends between, and a break at its label."""
    for number, ((x, top), (_, bottom)) in enumerate(straight):
        if not (is_broken and number == 1):
            yield from ((x, top + (bottom - top) * step / 8) for step in range(9))
    for (_, (x0, y0)), ((x1, y1), _) in pairwise(straight):
        for step in range(9):
            t = step / 8
            across = 3 * t**2 - 2 * t**3
            yield x0 + (x1 - x0) * across, y0 + (y1 - y0) * (1.5 * t * (1 - t) + t**3)


def test_layouts_are_bounded() -> None:
    sizes = [BoxSize(10, 10)] * 3_000
    chain = [Link(one, one + 1) for one in range(len(sizes) - 1)]
    assert arrange(sizes, chain).width == 10
    with pytest.raises(TooLarge):
        arrange(sizes, [*chain, *(Link(0, one) for one in range(2, len(sizes)))])


def test_a_graph_that_is_too_large_for_a_picture_is_refused(cli: Run) -> None:
    ids = [f"n{number}" for number in range(300)]
    document = {
        "name": "wide",
        "nodes": [{"id": one, "type": "compute", "output": 1} for one in ids],
        "edges": [
            *({"source": a, "target": b, "port": "done"} for a, b in pairwise(ids)),
            *({"source": ids[0], "target": one, "port": "done"} for one in ids[2:]),
        ],
    }
    Path("wide.json").write_text(json.dumps(document))
    code, out, err = cli("graph", "wide.json", "--format", "svg")
    assert (code, out) == (2, "")
    assert "too large for a picture" in err
    assert cli("graph", "wide.json", "--format", "mermaid").code == 0
