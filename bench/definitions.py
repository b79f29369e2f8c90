"""What reading, checking and compiling a definition costs beside bare parsers: `bench/definitions.py [--small]`."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import yaml

from layover.core.definitions import DEFAULT_LIMITS, check
from layover.core.definitions.problems import Problems
from layover.core.definitions.read_text import read_text
from layover.core.definitions.yaml_write import write_yaml
from layover.core.plan import compile_plan, load
from measure import compare, size_of, table

if TYPE_CHECKING:
    from collections.abc import Callable

Node = dict[str, Any]

SIZES = (20, 200, 2_000)
FUNCTIONS = ("charge_card", "notify", "start_picking")
ROUNDS = 5
SECTION = 20


def section(number: int) -> list[Node]:
    """Return twenty nodes of all kinds, those in bodies included; the last hands on to the next section."""

    def name(word: str) -> str:
        return f"{word}_{number}"

    return [
        {"id": name("big"), "type": "condition", "if": "input.total > 1000 && input.region != 'test'"}
        | {"next": {"true": name("review"), "false": name("route")}},
        {
            "id": name("review"),
            "type": "approval",
            "label": "Review",
            "title": "Order ${input.id} costs ${input.total}",
            "approvers": {"roles": ["manager"]},
            "need": 2,
            "deadline": "2d",
            "on_deadline": "reject",
            "response": {"message": "Order ${input.id} is under review"},
            "position": {"x": 120, "y": 80 * number},
            "next": {"approved": name("route"), "rejected": name("refused")},
        },
        {"id": name("refused"), "type": "end", "outcome": "blocked"}
        | {"reason": f"${{nodes.{name('review')}.comment}}"},
        {
            "id": name("route"),
            "type": "switch",
            "value": "input.tier",
            "cases": [{"equals": "gold", "port": "express"}, {"if": "size(input.lines) < 5", "port": "slow"}],
            "next": {"express": name("lines"), "slow": name("cool_off"), "default": name("lines")},
        },
        {"id": name("cool_off"), "type": "delay", "duration": "1h30m", "next": name("lines")},
        {
            "id": name("lines"),
            "type": "loop",
            "for_each": "input.lines",
            "as": "line",
            "max_iterations": 500,
            "break_if": f"nodes.{name('count')}.stop",
            "collect": f"${{nodes.{name('count')}.quantity}}",
            "body": [
                {"id": name("weigh"), "type": "compute", "output": {"grams": "${line.weight * 1000}"}}
                | {"next": name("count")},
                {"id": name("count"), "type": "form", "title": "Count ${line.sku}", "schema": SCHEMA},
            ],
            "next": name("checks"),
        },
        {
            "id": name("checks"),
            "type": "parallel",
            "on_failure": "wait",
            "branches": [
                {"id": "payment", "body": payment(name)},
                {"id": "goods", "body": goods(name)},
            ],
            "next": {"done": name("mark"), "error": name("broken")},
        },
        {"id": name("broken"), "type": "end", "outcome": "failed"}
        | {"reason": f"${{errors.{name('checks')}.message}}"},
        {"id": name("mark"), "type": "set", "values": {"paid": True, "tries": "${vars.tries + 1}"}}
        | {"next": [name("tell"), name("log")]},
        {"id": name("tell"), "type": "notify", "input": {"to": "${input.email}"}, "next": name("joined")},
        {
            "id": name("log"),
            "type": "http",
            "method": "POST",
            "url": "https://log.example/orders/${input.id}",
            "headers": {"Authorization": "Bearer ${vars.log_token}"},
            "body": {"order": "${input.id}", "counts": f"${{nodes.{name('lines')}}}"},
            "timeout": "10s",
            "retry": {"max_attempts": 4, "delay": "500ms"},
            "next": {"done": name("joined"), "error": name("joined")},
        },
        {"id": name("joined"), "type": "merge", "strategy": "first", "next": f"big_{number + 1}"},
    ]


SCHEMA = {"type": "object", "required": ["quantity", "stop"], "properties": {"quantity": {"type": "integer"}}}


def payment(name: Callable[[str], str]) -> list[Node]:
    return [
        {
            "id": name("charge"),
            "type": "charge_card",
            "input": {"order": "${input.id}", "amount": "${input.total}"},
            "timeout": "30s",
            "retry": {"max_attempts": 5, "delay": "1s", "max_delay": "1m", "retry_on": ["5xx", "429"]},
            "next": {"done": name("settled"), "error": name("by_hand")},
        },
        {"id": name("settled"), "type": "wait_signal", "signal": "payment.settled", "key": "${input.id}"}
        | {"filter": "signal.data.amount >= input.total", "deadline": "3d", "on_deadline": "fail"},
        {"id": name("by_hand"), "type": "form", "title": f"Charge by hand: ${{errors.{name('charge')}.message}}"},
    ]


def goods(name: Callable[[str], str]) -> list[Node]:
    return [
        {"id": name("pick"), "type": "callback", "call": "start_picking", "input": {"reply_to": "${callback.url}"}}
        | {"deadline": "1d", "on_deadline": "fail", "next": name("pack")},
        {"id": name("pack"), "type": "compute", "output": f"${{nodes.{name('pick')}.pallet}}", "next": name("ship")},
        {"id": name("ship"), "type": "workflow", "workflow": "shipping", "input": {"pallet": "${vars.tries}"}},
    ]


def definition(size: int) -> dict[str, Any]:
    """Return a definition with about so many nodes."""
    sections = max(1, size // SECTION)
    nodes = [node for number in range(sections) for node in section(number)]
    return {
        "name": "order",
        "input": {"type": "object", "required": ["id", "total", "tier", "lines"]},
        "variables": {"paid": False, "tries": 0, "log_token": "t"},
        "nodes": [*nodes, {"id": f"big_{sections}", "type": "end", "output": {"paid": "${vars.paid}"}}],
    }


def stages(text: str) -> dict[str, Callable[[], object]]:
    """Return the stages one by one, and all of them as they are used."""
    checked = check(text, functions=FUNCTIONS)
    return {
        "text": lambda: read_text(text, Problems(), DEFAULT_LIMITS),
        "text, read and check": lambda: check(text, functions=FUNCTIONS),
        "compile": lambda: compile_plan(checked),
        "all": lambda: load(text, functions=FUNCTIONS),
    }


def main(words: list[str]) -> None:
    chosen = size_of(words)
    rounds, min_time = chosen.of((ROUNDS, 0.05), quick=(3, 0.05), small=(1, 0.0))
    for size in chosen.of(SIZES, quick=SIZES, small=SIZES[:1]):
        document = definition(size)
        nodes = max(1, size // SECTION) * SECTION + 1
        as_yaml, as_json = write_yaml(document), json.dumps(document)
        floors: dict[str, Callable[[], object]] = {
            "YAML": partial(yaml.load, as_yaml, Loader=yaml.CSafeLoader),
            "JSON": partial(json.loads, as_json),
        }
        rows: list[tuple[str, ...]] = [
            ("", "all", "per node", "text", "read+check", "compile", "bare parser", "times the parser")
        ]
        for syntax, text in (("YAML", as_yaml), ("JSON", as_json)):
            taken = compare({**stages(text), "floor": floors[syntax]}, rounds=rounds, min_time=min_time)
            rows.append((f"{syntax}, {len(text) // 1000} kB", *_cells(taken, nodes)))
        print(table(f"A definition of {nodes} nodes", rows), end="\n\n")


def _cells(taken: dict[str, float], nodes: int) -> tuple[str, ...]:
    whole, text, compiled = taken["all"], taken["text"], taken["compile"]
    checked = taken["text, read and check"] - text
    parts = [f"{part * 1e3:.2f} ms {part / (text + checked + compiled):4.0%}" for part in (text, checked, compiled)]
    floor = taken["floor"]
    return (
        f"{whole * 1e3:.2f} ms",
        f"{whole / nodes * 1e6:.0f} µs",
        *parts,
        f"{floor * 1e3:.2f} ms",
        f"{whole / floor:.1f}",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
