"""Definitions made to hang a reader, to crash it or to fill its memory, each with its expected problem."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Fields = dict[str, Any]
Case = tuple[str, "Callable[[], str | bytes]", str | None]


def compute(index: int, **more: object) -> Fields:
    return {"id": f"n{index}", "type": "compute", "output": 1, **more}


def chain(count: int) -> list[Fields]:
    return [compute(index, next=f"n{index + 1}") for index in range(count - 1)] + [compute(count - 1)]


def edges(pairs: list[tuple[int, int]], **more: object) -> list[Fields]:
    return [{"source": f"n{source}", "target": f"n{target}", **more} for source, target in pairs]


def workflow(nodes: object, **more: object) -> str:
    return json.dumps({"name": "w", "nodes": nodes, **more})


def one_node(**fields: object) -> str:
    return workflow([{"id": "a", **fields}])


def band(count: int, width: int) -> list[tuple[int, int]]:
    """Return edges from every node to the next few ones."""
    return [(at, to) for at in range(count) for to in range(at + 1, min(at + 1 + width, count))]


def nested_bodies_text(depth: int) -> str:
    """Write loops within each other; as text, because the json module itself cannot write such depth."""
    opened = "".join(f'[{{"id": "l{level}", "type": "loop", "times": 1, "body": ' for level in range(depth))
    return f'{{"name": "w", "nodes": {opened}{json.dumps([compute(0)])}{"}]" * depth}}}'


def deep_json(depth: int) -> str:
    return '{"name": "w", "nodes": ' + "[" * depth + "]" * depth + "}"


def deep_yaml(depth: int) -> str:
    return "name: w\nnodes:\n" + "".join("  " * level + "- x:\n" for level in range(depth))


def aliases(levels: int) -> str:
    first = "x-a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    return (
        "name: w\n" + first + "".join(f"x-a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(levels))
    )


SIZES: list[Case] = [
    ("a text of 10 MB", lambda: "name: " + "a" * 10_000_000, "too_large"),
    ("10,000 nodes", lambda: workflow(chain(10_000)), "too_large"),
    (
        "5,001 nodes in bodies",
        lambda: workflow([{"id": "l", "type": "loop", "times": 1, "body": chain(5_000)}]),
        "too_large",
    ),
    (
        "20,001 edges",
        lambda: workflow([compute(n) for n in range(210)], edges=edges(band(210, 209)[:20_001])),
        "too_large",
    ),
    ("250,000 values", lambda: one_node(type="compute", output=[0] * 250_000), "too_large"),
    ("1,000 bodies within each other", lambda: nested_bodies_text(1_000), "too_deep"),
    ("data that is 1,000 deep in JSON", lambda: deep_json(1_000), "too_deep"),
    ("data that is 1,000 deep in YAML", lambda: deep_yaml(1_000), "too_deep"),
    ("data that is 100,000 deep in JSON", lambda: deep_json(100_000), "too_deep"),
    ("data that is 100,000 deep in a line of YAML", lambda: "name: " + "[" * 100_000, "too_deep"),
    ("aliases that grow to 10^10 values", lambda: aliases(9), "too_large"),
    (
        "one node with 100,000 unknown fields",
        lambda: one_node(type="compute", **_fields("f", 100_000)),
        "too_many_problems",
    ),
    ("one node with 100,000 own fields", lambda: one_node(type="compute", output=1, **_fields("x-", 100_000)), None),
    ("a single text of nearly 4 MB", lambda: one_node(type="compute", output="x" * 4_100_000), None),
    ("32 bodies within each other", lambda: nested_bodies_text(32), None),
]

NAMES: list[Case] = [
    ("an id of 1 MB", lambda: workflow([{"id": "a" * 1_000_000, "type": "compute", "output": 1}]), "too_long"),
    ("a type of 1 MB", lambda: one_node(type="a" * 1_000_000), "too_long"),
    ("a name of 1 MB", lambda: json.dumps({"name": "a" * 1_000_000, "nodes": [compute(0)]}), "too_long"),
    ("a field of 1 MB", lambda: one_node(type="compute", output=1, **{"f" * 1_000_000: 1}), "unknown_field"),
    (
        "an unknown port of 1 MB",
        lambda: workflow([compute(0, next={"p" * 1_000_000: "n1"}), compute(1)]),
        "unknown_port",
    ),
    (
        "150 edges to names of 20 kB",
        lambda: one_node(type="compute", output=1, next=_names(150, 20_000)),
        "dangling_edge",
    ),
    ("an expression of 1 MB", lambda: one_node(type="condition", **{"if": "a" * 1_000_000}), "expression_too_large"),
    (
        "an expression of 8,000 brackets",
        lambda: one_node(type="condition", **{"if": "(" * 8_000}),
        "expression_too_large",
    ),
    (
        "a template with 100,000 openings",
        lambda: one_node(type="compute", output="${" * 100_000),
        "expression_too_large",
    ),
    (
        "a template with 100,000 values",
        lambda: one_node(type="compute", output="${1}" * 100_000),
        "expression_too_large",
    ),
    ("a template with 1,000,000 escapes", lambda: one_node(type="compute", output="$${" * 1_000_000), None),
    ("a duration of 1 MB", lambda: one_node(type="delay", duration="1s" * 500_000), "bad_duration"),
    ("a number of 1 MB", lambda: '{"name": ' + "9" * 1_000_000 + "}", "number_too_large"),
]

GRAPHS: list[Case] = [
    ("a chain of 4,900 nodes", lambda: workflow(chain(4_900)), None),
    (
        "a cycle of 4,900 nodes",
        lambda: workflow([compute(n, next=f"n{(n + 1) % 4_900}") for n in range(4_900)]),
        "cycle",
    ),
    (
        "4,900 nodes with 19,590 edges",
        lambda: workflow([compute(n) for n in range(4_900)], edges=edges(band(4_900, 4))),
        None,
    ),
    (
        "199 nodes, each leading to all later ones",
        lambda: workflow([compute(n) for n in range(199)], edges=edges(band(199, 199))),
        None,
    ),
    (
        "4,899 nodes below one",
        lambda: workflow([compute(n) for n in range(4_900)], edges=edges([(0, n) for n in range(1, 4_900)])),
        None,
    ),
    ("2,000 containers with two nodes each", lambda: workflow(containers(2_000)), "too_large"),
    ("1,600 containers with two nodes each", lambda: workflow(containers(1_600)), None),
    ("4,900 nodes with nothing between them", lambda: workflow([compute(n) for n in range(4_900)]), "several_starts"),
    ("4,900 nodes of the same name", lambda: workflow([compute(0)] * 4_900), "too_many_problems"),
    (
        "19,999 times the same edge",
        lambda: workflow([compute(0), compute(1)], edges=edges([(0, 1)] * 19_999)),
        "too_many_problems",
    ),
    (
        "5,000 nodes, each with a problem",
        lambda: workflow([{"id": f"n{n}", "type": "compute"} for n in range(5_000)]),
        "too_many_problems",
    ),
    (
        "4,000 misspelt targets",
        lambda: workflow([compute(n, next=f"n{n}x") for n in range(4_000)]),
        "too_many_problems",
    ),
    ("4,000 misspelt names in expressions", lambda: workflow(_misspelt(4_000)), "too_many_problems"),
    ("4,900 functions that nobody has registered", lambda: workflow(_functions(4_900)), None),
]

FIELDS: list[Case] = [
    (
        "a switch with 10,000 cases",
        lambda: one_node(type="switch", cases=[{"if": "true", "port": f"p{n}"} for n in range(10_000)]),
        None,
    ),
    ("a merge of 100,000 branches", lambda: one_node(type="merge", branches=["b"] * 100_000), "too_many_problems"),
    ("100,000 reminders", lambda: one_node(type="form", remind=["1s"] * 100_000), None),
    ("100,000 approvers", lambda: one_node(type="approval", approvers={"users": _names(100_000, 1)}), None),
    ("a start that names 100,000 nodes", lambda: workflow([compute(0)], start=_names(100_000, 1)), "too_many_problems"),
    (
        "a schema with 40,000 faults",
        lambda: one_node(type="form", schema={"properties": {f"p{n}": {"type": "no"} for n in range(40_000)}}),
        "bad_schema",
    ),
    ("a schema of references that double 40 times", lambda: one_node(type="form", schema=_doubling(40)), None),
    ("a schema that refers to itself", lambda: one_node(type="form", schema={"$ref": "#"}), None),
    (
        "a schema with a pattern that repeats too much",
        lambda: one_node(type="form", schema={"pattern": "((a{1000}){1000}){1000}"}),
        "bad_schema",
    ),
    (
        "a schema on another server",
        lambda: one_node(type="form", schema={"$ref": "http://127.0.0.1:9/x"}),
        "bad_schema",
    ),
    ("a schema in a file", lambda: one_node(type="form", schema={"$ref": "file:///etc/passwd"}), "bad_schema"),
]

TEXTS: list[Case] = [
    ("no number in JSON", lambda: '{"name": "w", "nodes": NaN}', "bad_number"),
    ("no number in YAML", lambda: "name: w\nnodes: .nan\n", "bad_number"),
    ("infinity in YAML", lambda: "name: w\nx-far: -.inf\nnodes: []\n", "bad_number"),
    ("a number that overflows", lambda: '{"name": "w", "x-far": 1e999, "nodes": []}', "number_too_large"),
    ("the same key twice in JSON", lambda: '{"name": "w", "name": "v", "nodes": []}', "duplicate_key"),
    ("the same key twice in YAML", lambda: "name: w\nname: v\nnodes: []\n", "duplicate_key"),
    ("UTF-16", lambda: "name: w".encode("utf-16"), "bad_encoding"),
    ("UTF-32", lambda: "name: w".encode("utf-32"), "bad_encoding"),
    ("Latin-1", lambda: "name: é".encode("latin-1"), "bad_encoding"),
    ("half a character", lambda: b'{"name": "\xed\xa0\x80"}', "bad_encoding"),
    ("nothing", lambda: "", "empty_document"),
]


def _fields(prefix: str, count: int) -> Fields:
    return {f"{prefix}{index}": 1 for index in range(count)}


def _names(count: int, length: int) -> list[str]:
    return ["b" * length + str(index) for index in range(count)]


def containers(count: int) -> list[Fields]:
    body = [compute(0, next="n1"), compute(1)]
    found: list[Fields] = [
        {"id": f"c{n}", "type": "loop", "times": 2, "body": body, "next": f"c{n + 1}"} for n in range(count)
    ]
    return [*found, {"id": f"c{count}", "type": "merge"}]


def _misspelt(count: int) -> list[Fields]:
    nodes = chain(count)
    for index, node in enumerate(nodes):
        node["output"] = f"${{nodes.n{index - 1}x}}"
    return nodes


def _functions(count: int) -> list[Fields]:
    return [{"id": f"n{n}", "type": f"work{n}", "next": f"n{n + 1}"} for n in range(count)] + [compute(count)]


def _doubling(depth: int) -> Fields:
    definitions: Fields = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$defs": {**definitions, f"d{depth}": {}}, "$ref": "#/$defs/d0"}


CASES = [*SIZES, *NAMES, *GRAPHS, *FIELDS, *TEXTS]
